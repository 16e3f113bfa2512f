"""Names that people read, and must be able to tell apart. Pure."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from arena.texts.visible import BLANK_LETTERS, SELECTORS, contains

_HIDDEN: Final = ("Cc", "Cf", "Cs", "Zl", "Zp")
_SCRIPTS: Final = ("LATIN", "CYRILLIC")  # they share shapes, and no word has letters of both


def why_not(name: str) -> str:
    """What is wrong with a name, as the end of a sentence about it; "" if nothing is."""
    if found := next((sign for sign in name if _is_hidden(sign)), ""):
        return contains(found)
    if not folded(name):
        return "is blank"
    mixed = next((word for word in re.findall(r"\w+", name) if len(_scripts(word)) > 1), "")
    return f"mixes Latin and Cyrillic letters in “{mixed}”" if mixed else ""


def folded(name: str) -> str:
    """The same for names that readers take for one another: they differ in case, spaces or forms of signs."""
    shown = "".join(sign for sign in name if sign not in SELECTORS and not _is_hidden(sign))
    return " ".join(unicodedata.normalize("NFKC", shown).casefold().split())


def is_taken(name: str, others: Iterable[str]) -> bool:
    """Whether readers take it for one of the others."""
    return folded(name) in map(folded, others)


def _is_hidden(sign: str) -> bool:
    return sign in BLANK_LETTERS or unicodedata.category(sign) in _HIDDEN


def _scripts(word: str) -> set[str]:
    if word.isascii():
        return set()
    starts = {unicodedata.name(sign, "").partition(" ")[0] for sign in word}
    return starts & set(_SCRIPTS)
