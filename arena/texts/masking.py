"""Hiding the words of a completion that tell who wrote it. Pure: a completion and its study are only read.

Which words those are was found when the completion was imported (arena.texts.names). What people and judges
are shown goes through ``shown_turns``, before it is rendered, so that both rate the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from arena.models import Completion, Study

HIDDEN: Final = "[name hidden]"
"""What stands in place of a name."""


def mask(text: str, phrases: Iterable[str]) -> str:
    """The text with each of the phrases hidden wherever it stands as a whole word; the rest stays as it is.

    A phrase that begins or ends with a letter does not count inside a longer word: hiding "Meta" leaves
    "metaphor" and "Metadata" alone.
    """
    pattern = _pattern(phrases)
    return pattern.sub(HIDDEN, text) if pattern else text


class Piece(NamedTuple):
    """A part of a text, a phrase or what is between phrases."""

    text: str
    is_phrase: bool


def in_context(text: str, phrases: Iterable[str], *, around: int = 70, most: int = 3) -> list[list[Piece]]:
    """The first passages of a text with a phrase as a whole word, and ``around`` characters on both sides.

    Up to five phrases that stand near each other are in one passage.
    """
    pattern = _pattern(phrases)
    passages: list[list[re.Match[str]]] = []
    for found in pattern.finditer(text) if pattern else ():
        near = passages and found.start() - passages[-1][-1].end() <= 2 * around
        if near and len(passages[-1]) < 5:
            passages[-1].append(found)
        elif len(passages) == most:
            break
        else:
            passages.append([found])
    return [_pieces(text, passage, around) for passage in passages]


def _pieces(text: str, passage: list[re.Match[str]], around: int) -> list[Piece]:
    start, end = max(0, passage[0].start() - around), min(len(text), passage[-1].end() + around)
    pieces = [Piece("…", False)] * (start > 0)
    for found in passage:
        pieces += [Piece(text[start : found.start()], False), Piece(found[0], True)]
        start = found.end()
    return [*pieces, Piece(text[start:end] + "…" * (end < len(text)), False)]


def _pattern(phrases: Iterable[str]) -> re.Pattern[str] | None:
    # The longest first: of "GPT-4" and "GPT" the first is found whole.
    known = sorted({phrase for phrase in phrases if phrase}, key=lambda phrase: (-len(phrase), phrase))
    return re.compile("|".join(map(_whole, known))) if known else None


def _whole(phrase: str) -> str:
    before = r"(?<!\w)" if re.match(r"\w", phrase[0]) else ""
    # A name may be followed by its version: "Llama" is hidden in "Llama2", but "GPT-4" is not "GPT-40".
    after = r"(?!\w)" if phrase[-1].isdigit() else r"(?![^\W\d_])" if re.match(r"\w", phrase[-1]) else ""
    return f"{before}{re.escape(phrase)}{after}"


def shown_turns(completion: Completion, study: Study) -> list[str]:
    """The turns of a completion as raters of the study are shown them."""
    turns: list[str] = completion.turns
    if study.naming != "mask" or not completion.telling:
        return turns
    return [mask(turn, completion.telling) for turn in turns]
