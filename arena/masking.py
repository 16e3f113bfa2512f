"""Hiding the words of a completion that tell who wrote it. Pure: a completion and its study are only read.

Which words those are was found when the completion was imported (arena.self_naming). What people and judges
are shown goes through ``shown_turns``, before it is rendered, so that both rate the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
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


class Mention(NamedTuple):
    """A phrase where it stands, with what is around it."""

    before: str
    phrase: str
    after: str


def in_context(text: str, phrases: Iterable[str], *, around: int = 70, most: int = 3) -> list[Mention]:
    """The first places where a phrase stands in a text as a whole word, each with ``around`` characters."""
    pattern = _pattern(phrases)
    return [
        Mention(
            ("…" if found.start() > around else "") + text[max(0, found.start() - around) : found.start()],
            found[0],
            text[found.end() : found.end() + around] + ("…" if found.end() + around < len(text) else ""),
        )
        for found in islice(pattern.finditer(text) if pattern else (), most)
    ]


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
