"""What a rater says about an assignment, and how a rating service refuses. See arena.rating.services."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from arena.models import Comparison
from arena.rating import scales


class RatingError(Exception):
    """A rating service refused; the message is a sentence for the person who asked."""


class NotAllowedError(RatingError):
    """The rater may not rate here, or not now."""


class LeaseLostError(RatingError):
    """The assignment is answered, put aside, or was taken back."""


class NotStoredError(RatingError):
    """The answer is well-formed, but the database cannot hold it."""


class InvalidAnswerError(RatingError):
    """The answer cannot be stored. ``field`` names what is wrong with it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class AlreadyAnsweredError(RatingError):
    """The assignment has a different answer already; ``comparison`` is that answer."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__(f"This pair is already answered with {comparison.rating or comparison.reason}.")
        self.comparison = comparison


@dataclass(frozen=True)
class Answer:
    """What a rater says about an assignment, in presentation order.

    rating is 1..points, or None with a ``reason`` of Comparison.Reason. expected is a judge's expected rating
    over the tokens that could have stood for it. scores are the two scores of a two-score judge; criteria
    maps criterion to rating on the same scale. reasons are those of the study's that were chosen. seconds is
    the time taken. call is the record of the model
    call that gave the answer, as JSON values (arena.api.schemas.CallIn).
    """

    points: int
    rating: int | None = None
    reason: str = ""
    expected: float | None = None
    scores: tuple[Decimal, Decimal] | None = None
    criteria: Mapping[str, int] = field(default_factory=dict)
    raw_reply: str = ""
    rationale: str = ""
    reasons: tuple[str, ...] = ()
    seconds: float | None = None
    source: str = Comparison.Source.WEB
    call: Mapping[str, Any] | None = None

    def check(self) -> None:
        """Raise InvalidAnswerError naming the field that cannot be stored."""
        try:
            scales.check_points(self.points)
        except scales.ScaleError as error:
            raise InvalidAnswerError("points", str(error)) from error
        if (self.rating is None) == (self.reason == ""):
            raise InvalidAnswerError(
                "rating", "An answer needs either a rating or the reason why it has none."
            )
        if self.reason and self.reason not in Comparison.Reason.values:
            raise InvalidAnswerError(
                "reason", f"Reason must be one of {', '.join(Comparison.Reason.values)}."
            )
        if self.seconds is not None and not 0 <= self.seconds < 1e7:
            raise InvalidAnswerError("seconds", "Seconds must lie between 0 and 10,000,000.")
        ratings: dict[str, float | None] = {
            "rating": self.rating,
            "expected": self.expected,
            **{f"criteria.{name}": value for name, value in self.criteria.items()},
        }
        for name, value in ratings.items():
            if value is not None and not 1 <= value <= self.points:
                raise InvalidAnswerError(name, f"{name} is {value}; it must be between 1 and {self.points}.")
