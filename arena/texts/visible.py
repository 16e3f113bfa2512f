"""Texts of others shown so that no character hides or acts. Pure."""

import json
import re
import unicodedata
from typing import Final

_UNUSUAL: Final = re.compile(r"[^ -~]")
_SPACES: Final = "Zs"


def visible(text: str, kept: str = "\n\t") -> str:
    """The text with the escape of JSON for each character that nobody sees or a terminal obeys.

    So JSON stays the same JSON. ``kept`` are shown as they are.
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNUSUAL.sub(lambda found: _shown(found[0], kept), text)


def contains(character: str) -> str:
    """What is wrong with a text that has this character, as the end of a sentence about it."""
    return f"contains the invisible character U+{ord(character):04X}"


def _is_invisible(character: str) -> bool:
    """Whether it is a control character, a format character, half of a surrogate pair or none at all."""
    return not (character.isprintable() or unicodedata.category(character) == _SPACES)


def _shown(character: str, kept: str) -> str:
    if character in kept or not _is_invisible(character):
        return character
    return json.dumps(character)[1:-1]


BLANK_LETTERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters, marks and symbols without a shape."""

SELECTORS: Final = frozenset(
    map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
"""They choose how the sign before them looks, and are not seen by themselves."""


def is_blank(text: str) -> bool:
    """Return True if nobody sees anything of it: an empty answer, reply or turn."""
    return not any(map(_is_seen, text.strip()))


def _is_seen(character: str) -> bool:
    hidden = character.isspace() or character in BLANK_LETTERS or character in SELECTORS
    return not hidden and unicodedata.category(character) not in ("Cc", "Cf")
