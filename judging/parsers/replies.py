"""What a parser reads, and what it makes of it."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Literal

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


@dataclass(frozen=True)
class ReplyText:
    """What a parser gets to see of a model's reply.

    text: the content, "" where there was none; finish_reason as the endpoint named it; refusal: the text of a
    separate refusal field, "" where there was none.
    """

    text: str
    finish_reason: str = ""
    refusal: str = ""

    @property
    def is_cut_off(self) -> bool:
        """Whether the limit of tokens ended it."""
        return self.finish_reason.lower() in {"length", "max_tokens"}

    @property
    def is_withheld(self) -> bool:
        """Whether the endpoint says that it refused."""
        return bool(self.refusal.strip()) or self.finish_reason == "content_filter"


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
