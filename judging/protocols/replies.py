"""Replies as parsers read them, and verdicts. Pure."""

from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Final, Literal

from arena.rules import scales

Reason = Literal["", "empty", "out_of_range", "unparsable", "truncated", "refused", "undecided"]


class Place(StrEnum):
    """Place of the verdict in a reply, the only one that is read."""

    FIRST_LINE = "first_line"
    ONLY_LINE = "only_line"
    LAST_LINE = "last_line"
    FIELD = "field"
    OPENING = "opening"
    LINES = "lines"

    @property
    def words(self) -> str:
        return {
            "first_line": "the first line that is not empty",
            "only_line": "the only line of the reply",
            "last_line": "the last line that is not empty",
            "field": 'the last line, after the word "Verdict:"',
            "opening": "yes or no at the start of the reply, else the only YES or NO in capitals",
            "lines": "a line for each requirement, after its number",
        }[self.value]


# The words of OpenAI's API, and those that servers pass on from models and libraries behind them.
COMPLETE: Final = frozenset({"", "stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete"})
CUT_OFF: Final = frozenset(
    {"length", "max_tokens", "max_length", "model_length", "token_limit", "model_context_window_exceeded"}
)
WITHHELD: Final = frozenset(
    {
        *("content_filter", "content-filter", "content_filtered", "guardrail_intervened", "error_toxic"),
        *("safety", "image_safety", "recitation", "blocklist", "blocked", "prohibited_content", "spii"),
        *("refusal", "sensitive", "unsafe", "moderation", "content_policy", "content_policy_violation"),
    }
)
KNOWN_ENDS: Final = COMPLETE | CUT_OFF | WITHHELD
"""Known reasons for the end of a reply, in small letters. After others it counts, and operators are told."""


@dataclass(frozen=True)
class ReplyText:
    """A reply as parsers see it; refusal is the text of a separate field."""

    text: str
    finish_reason: str = ""
    refusal: str = ""

    @property
    def is_cut_off(self) -> bool:
        """True if the limit of tokens ended it."""
        return self.finish_reason.lower() in CUT_OFF

    @property
    def is_withheld(self) -> bool:
        """True if the endpoint says that it refused."""
        return bool(self.refusal.strip()) or self.finish_reason.lower() in WITHHELD

    @property
    def unknown_end(self) -> str:
        """Reason that the endpoint gave for its end, if it tells nothing; else ""."""
        return "" if self.finish_reason.lower() in KNOWN_ENDS else self.finish_reason


@dataclass(frozen=True)
class Verdict:
    """A rating, or None with a reason; scores are those that the rating compares."""

    rating: int | None
    reason: Reason = ""
    rationale: str = ""
    scores: tuple[Decimal, Decimal] | None = None

    @property
    def status(self) -> str:
        return "unscored" if self.rating is None else "scored"


def mirrored(verdict: Verdict, points: int) -> Verdict:
    """Exchange the two answers of an opinion."""
    if verdict.rating is None:
        return verdict
    scores = (verdict.scores[1], verdict.scores[0]) if verdict.scores else None
    return replace(verdict, rating=scales.mirror(verdict.rating, points), scores=scores)


def side_of(verdict: Verdict, points: int) -> str:
    """The preferred answer: "first", "second", or "" for neither."""
    if verdict.rating is None:
        return ""
    preference = scales.preference(verdict.rating, points)
    return "first" if preference < 0 else "second" if preference > 0 else ""
