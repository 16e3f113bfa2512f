"""How long a text is: characters, words, unique words, and tokens of a named tokenizer.

A word is a run of letters, digits and the marks written over or under letters, with apostrophes inside it
(``don't`` is one word, ``snake_case`` is two). Unique words are counted without regard to case. Languages
without spaces, such as Chinese and Thai, have few words by this rule: there, tokens and characters say more.
Tokens are those of o200k_base as splintr counts them from a vocabulary that is part of its package; names of
special tokens inside a text are text like any other. Every count takes time linear in the length of the text,
and a lone surrogate counts as the one character U+FFFD that stands for it.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Final, Protocol

VERSION: Final = 1
"""Changes whenever a text would be counted otherwise: kept counts of other versions are not used."""

VOCABULARY: Final = "o200k_base"

_PACKAGE: Final = "splintr-rs"
_PLANE: Final = 0x10000
"""Marks beyond the Basic Multilingual Plane, of scripts long dead, would make the search ten times slower."""

_SPECIAL: Final = "<|"
"""How every special token of the vocabulary begins."""


@dataclass(frozen=True)
class TextSize:
    """Counts of one text."""

    characters: int
    words: int
    unique_words: int
    tokens: int


MEASURES: Final = ("words", "unique_words", "tokens", "characters")
"""What is counted, in the order in which it is shown."""


def size_of(turns: Sequence[str]) -> TextSize:
    """Count a text given turn by turn; nothing is counted for what lies between the turns."""
    texts = [turn.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for turn in turns]
    words = [word for text in texts for word in _words().findall(text.replace("_", " "))]
    return TextSize(
        characters=sum(len(text) for text in texts),
        words=len(words),
        unique_words=len({word.casefold() for word in set(words)}),
        tokens=sum(_tokens(text) for text in texts),
    )


def tokenizer_name() -> str:
    """The tokenizer with the version of the package that holds it."""
    return f"{VOCABULARY} ({_PACKAGE} {version(_PACKAGE)})"


def _tokens(text: str) -> int:
    # The same for a text without special tokens, and eight times faster.
    encode = _tokenizer().encode_ordinary if _SPECIAL in text else _tokenizer().encode
    return len(encode(text))


class _Tokenizer(Protocol):
    def encode(self, text: str) -> list[int]: ...

    def encode_ordinary(self, text: str) -> list[int]: ...


@cache
def _tokenizer() -> _Tokenizer:
    from splintr import Tokenizer

    found: _Tokenizer = Tokenizer.from_pretrained(VOCABULARY)
    return found


@cache
def _words() -> re.Pattern[str]:
    marks = "".join(chr(code) for code in range(_PLANE) if unicodedata.category(chr(code))[0] == "M")
    run = f"[\\w{marks}]++"
    return re.compile(f"{run}(?:['’]{run})*+")
