"""Replies to verdicts. Pure: text in, a rating or the reason why there is none out.

A parser reads only the place where its protocol says the verdict stands. It never guesses: a reply that does
not hold exactly one number of the scale there has no rating.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from judging.answer_scales import AnswerScale

Reason = Literal["", "empty", "out_of_range", "unparsable", "truncated", "refused", "undecided"]


class Place(StrEnum):
    """Where a verdict stands in a reply, the only place that is read."""

    FIRST_LINE = "first_line"
    ONLY_LINE = "only_line"
    LAST_LINE = "last_line"
    FIELD = "field"

    @property
    def words(self) -> str:
        """The place in words, for people."""
        return {
            "first_line": "the first line that is not empty, alone",
            "only_line": "the whole reply, one line",
            "last_line": "the last line that is not empty, alone",
            "field": 'the last line, after the word "Verdict:"',
        }[self.value]


THINKING: Final = re.compile(r"\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
"""A block of reasoning before the answer, as some models send it; it is not the answer."""

OPEN_THINKING: Final = re.compile(r"\s*<(think|thinking|reasoning)>", re.IGNORECASE)

FULL_WIDTH: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""Full-width forms of ASCII, as East Asian texts use them."""

DECORATION: Final = " \t*_`#\"'[](){}>\ufeff\u200b"
"""Characters that may stand around a number without changing it."""

LONGEST_LINE: Final = 100
"""A longer line is prose, whatever stands in it."""

LABEL: Final = r"(?:(?:my|the|final|overall)\s+)*(?:rating|score|verdict|answer|preference|number)"

NUMBER_LINE: Final = re.compile(
    rf"""
    (?:{LABEL}\s*(?:\(1\s*[-–]\s*(?P<stated>\d+)\))?(?:\s*(?:[:=]|is)\s*|\s+))?   # Rating (1-8):
    [*_`"'\[(]*\s*
    (?P<number>[-+−]?\d+)(?:\.0+)?
    (?:\s*(?:/|out\s+of)\s*(?P<of>\d+))?                                          # 5/8
    [*_`"'\])]*\s*[.!]?
    """,
    re.VERBOSE | re.IGNORECASE,
)

REFUSAL: Final = re.compile(
    r"""
    \b(?:i\s*(?:'m|\s+am)\s+(?:sorry|unable|not\s+able)
      | i\s+(?:can\s*not|cannot|can't|won't|will\s+not|must\s+decline|decline|am\s+not\s+comfortable)
      | as\s+an\s+ai\b
      | (?:unable|not\s+able)\s+to\s+(?:assist|help|comply|provide|rate|compare|evaluate)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
REFUSAL_WITHIN: Final = 300
"""A refusal is recognised in this many characters from the start."""


@dataclass(frozen=True)
class ReplyText:
    """What a parser gets to see of a model's reply.

    text: the content, "" where there was none; finish_reason as the endpoint named it; refusal: the text of a
    separate refusal field, "" where there was none.
    """

    text: str
    finish_reason: str = ""
    refusal: str = ""


@dataclass(frozen=True)
class Verdict:
    """A rating on the scale asked for, or None with the reason; rationale is the explanation given.

    scores are the two scores that the rating compares, where there are any.
    """

    rating: int | None
    reason: Reason = ""
    rationale: str = ""
    scores: tuple[Decimal, Decimal] | None = None

    @property
    def status(self) -> str:
        """The outcome in one word: scored or unscored."""
        return "unscored" if self.rating is None else "scored"


def read_verdict(reply: ReplyText, scale: "AnswerScale", place: Place) -> Verdict:
    """The verdict that stands in its place, in the form of the answer scale."""
    if (scale.form, place) != ("likert", Place.FIRST_LINE):
        raise ValueError(f"no parser reads {scale.form} in {place.words}")
    return first_line_number(reply, scale.points)


def first_line_number(reply: ReplyText, points: int) -> Verdict:
    """The verdict of a protocol whose first non-empty line holds the rating alone.

    A label ("Rating: 5"), Markdown around the number and "5/8" on a scale of 8 points are accepted; a line
    with further words or numbers, a fraction of another scale or a decimal is not. A leading block of
    reasoning is skipped.
    """
    if reply.refusal.strip() or reply.finish_reason == "content_filter":
        return Verdict(None, "refused")
    cut_off = reply.finish_reason == "length"
    answer, thinking_open = without_thinking(reply.text)
    if thinking_open:
        return Verdict(None, "truncated" if cut_off else "unparsable")
    answer = answer.strip()
    if not answer:
        return Verdict(None, "truncated" if cut_off else "empty")
    line, newline, rest = answer.partition("\n")
    if cut_off and not newline:  # the first line itself may go on: "1" of "10"
        return Verdict(None, "truncated")
    verdict = read_number(line, points)
    if verdict.reason == "unparsable" and REFUSAL.search(plain(answer[:REFUSAL_WITHIN])):
        return Verdict(None, "refused")
    return Verdict(verdict.rating, verdict.reason, rest.strip() if verdict.rating else "")


def without_thinking(text: str) -> tuple[str, bool]:
    """The text after leading blocks of reasoning, and whether such a block was never closed."""
    start = 0
    while match := THINKING.match(text, start):
        start = match.end()
    return text[start:], bool(OPEN_THINKING.match(text, start))


def plain(text: str) -> str:
    """The text with full-width characters and typographic apostrophes replaced by plain ones."""
    return text.translate(FULL_WIDTH).replace("’", "'")


def read_number(line: str, points: int) -> Verdict:
    """The one number of the line, if it is a point of the scale."""
    words = " ".join(plain(line).strip(DECORATION).split())
    match = NUMBER_LINE.fullmatch(words) if len(words) <= LONGEST_LINE else None
    if match is None or any(match[scale] not in (None, str(points)) for scale in ("stated", "of")):
        return Verdict(None, "unparsable")
    digits = match["number"].lstrip("+")
    if not 1 <= int(digits.replace("−", "-")) <= points:
        return Verdict(None, "out_of_range")
    return Verdict(int(digits))


def no_text(reply: ReplyText) -> Reason:
    """Why a reply that later steps quote says nothing: refused, truncated or empty; "" where it does."""
    if reply.refusal.strip() or reply.finish_reason == "content_filter":
        return "refused"
    answer, thinking_open = without_thinking(reply.text)
    if answer.strip() and not thinking_open:
        return ""
    return "truncated" if reply.finish_reason == "length" else "empty"
