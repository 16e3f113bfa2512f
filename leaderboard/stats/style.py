"""Length and Markdown of completions, and how much more of each one side of a comparison has.

Markdown as in the style control of arena leaderboards (Li, Angelopoulos and Chiang 2024, *Does style
matter?*), outside fenced code (CommonMark 0.31).
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from splintr import Tokenizer

from leaderboard.stats.checks import FloatArray, LengthMismatchError

# A word is a run of letters, digits and marks over or under letters, with apostrophes inside it (``don't``
# is one word, ``snake_case`` two). Unique words ignore case. Tokens are those of o200k_base; names of
# special tokens are text like any other. A lone surrogate counts as the one character U+FFFD.


# Changes whenever a text would be counted otherwise: kept counts of other versions are not used.
VERSION: Final = 1
VOCABULARY: Final = "o200k_base"
_PACKAGE: Final = "splintr-rs"
# Marks beyond the Basic Multilingual Plane, of dead scripts, would make the search ten times slower.
_PLANE: Final = 0x10000
# How every special token of the vocabulary begins.
_SPECIAL: Final = "<|"


@dataclass(frozen=True)
class TextSize:
    characters: int
    words: int
    unique_words: int
    tokens: int


# In the order in which they are shown.
MEASURES: Final = ("words", "unique_words", "tokens", "characters")


def size_of(turns: Sequence[str]) -> TextSize:
    """The counts of a text given turn by turn, without anything between the turns."""
    texts = [turn.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for turn in turns]
    words = [word for text in texts for word in _words().findall(text.replace("_", " "))]
    return TextSize(
        characters=sum(len(text) for text in texts),
        words=len(words),
        unique_words=len({word.casefold() for word in set(words)}),
        tokens=sum(_tokens(text) for text in texts),
    )


@cache
def tokenizer_name() -> str:
    """The tokenizer with the version of its package."""
    return f"{VOCABULARY} ({_PACKAGE} {version(_PACKAGE)})"


def spaced_words(turns: Sequence[str]) -> int:
    """The words of a text if every space ends one, as ``text.split(" ")`` of Python finds them.

    So InFoBench (Qin et al. 2024, Table 2) counts: 17.77 words an instruction in its Easy Set. Splitting at
    any white space gives 17.78, the words of ``size_of`` 17.79.
    """
    return sum(turn.count(" ") + 1 for turn in turns)


def _tokens(text: str) -> int:
    # The same for a text without special tokens, and eight times faster.
    encode = _tokenizer().encode_ordinary if _SPECIAL in text else _tokenizer().encode
    return len(encode(text))


@cache
def _tokenizer() -> Any:
    return Tokenizer.from_pretrained(VOCABULARY)


@cache
def _words() -> re.Pattern[str]:
    marks = "".join(chr(code) for code in range(_PLANE) if unicodedata.category(chr(code))[0] == "M")
    run = f"[\\w{marks}]++"
    return re.compile(f"{run}(?:['’]{run})*+")


_LINE_END: Final = re.compile(r"\r\n?|\n")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_HEADER: Final = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_ORDERED: Final = re.compile(r"[ \t]*\d{1,9}[.)](?:[ \t]|$)")
_UNORDERED: Final = re.compile(r"[ \t]*[-*+](?:[ \t]|$)")
_BOLD: Final = re.compile(r"\*\*[^*\s][^*]*\*\*|__[^_\s][^_]*__")


@dataclass(frozen=True)
class Style:
    """Counts of one text."""

    characters: int
    words: int
    headers: int
    ordered_items: int
    unordered_items: int
    bold: int  # stretches in ** or __ that end on the line they begin on

    @property
    def marks(self) -> int:
        return self.headers + self.ordered_items + self.unordered_items + self.bold

    @property
    def density(self) -> float:
        """Marks per word; 0 for a text without words."""
        return self.marks / self.words if self.words else 0.0


def style_of(text: str) -> Style:
    """The counts of one text. Words stand between white space; code counts for length alone."""
    lines = _outside_code(_LINE_END.split(text))
    return Style(
        characters=len(text),
        words=len(text.split()),
        headers=sum(_HEADER.match(line) is not None for line in lines),
        ordered_items=sum(_ORDERED.match(line) is not None for line in lines),
        unordered_items=sum(_UNORDERED.match(line) is not None for line in lines),
        bold=sum(len(_BOLD.findall(line)) for line in lines),
    )


def style_difference(first: npt.ArrayLike, second: npt.ArrayLike) -> FloatArray:
    """(first - second) / (first + second) of amounts that are not negative, 0 where both are 0."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != other.shape:
        raise LengthMismatchError(f"the amounts differ in shape: {one.shape} and {other.shape}")
    larger = np.maximum(one, other)
    # Divided by the larger first, so that no sum of large amounts overflows.
    scale = np.where(larger > 0, larger, 1.0)
    return (one / scale - other / scale) / np.where(larger > 0, one / scale + other / scale, 1.0)


def covariates_of(texts_first: Sequence[str], texts_second: Sequence[str]) -> dict[str, FloatArray]:
    """Covariates for make_ratings: "length" (characters) and "markdown" (marks per word), from parallel
    texts.
    """
    if len(texts_first) != len(texts_second):
        raise LengthMismatchError(
            f"there are {len(texts_first)} first texts and {len(texts_second)} second ones"
        )
    styles = {text: style_of(text) for text in {*texts_first, *texts_second}}
    first, second = [styles[text] for text in texts_first], [styles[text] for text in texts_second]
    return {
        "length": style_difference([s.characters for s in first], [s.characters for s in second]),
        "markdown": style_difference([s.density for s in first], [s.density for s in second]),
    }


def _outside_code(lines: list[str]) -> list[str]:
    kept, fence = [], ""
    for line in lines:
        found = _FENCE.match(line)
        if not fence:
            # A fence of backticks has no backtick after it: ```this``` is inline code.
            if found and not (found[1][0] == "`" and "`" in found[2]):
                fence = found[1]
            else:
                kept.append(line)
        elif found and found[1].startswith(fence) and not found[2].strip():
            fence = ""
    return kept
