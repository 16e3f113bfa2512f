"""What a rater says about an assignment, before it is stored, and why a service refuses it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from arena.models import Answer, Comparison
from arena.models.comparisons import Opinion
from arena.rating import scales


class RatingError(Exception):
    """A service refused; the message is for the person who asked."""


class NotAllowedError(RatingError):
    """The rater may not rate here, or not now."""


class LeaseLostError(RatingError):
    """The assignment is answered, put aside, or was taken back."""


class NotStoredError(RatingError):
    """The answer is well-formed, but the database cannot hold it."""


class InvalidAnswerError(RatingError):
    """The answer cannot be stored; ``field`` names what is wrong with it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, kw_only=True)
class Said:
    """What all kinds of opinion have. call: the model call as JSON (arena.api.schemas.CallIn)."""

    raw_reply: str = ""
    rationale: str = ""
    seconds: float | None = None
    source: str = Comparison.Source.WEB
    call: Mapping[str, Any] | None = None

    def check(self) -> None:
        """Raise InvalidAnswerError naming the field that cannot be stored."""
        _check_seconds("seconds", self.seconds)


@dataclass(frozen=True, kw_only=True)
class Rating(Said):
    """Of a pair, in presentation order.

    rating: 1..points, or None with a ``reason``. criteria: such a rating or reason by criterion. expected: a
    judge's expected rating over its tokens. scores: of a two-score judge. reasons: chosen of the study's.
    """

    points: int
    rating: int | None = None
    reason: str = ""
    expected: float | None = None
    scores: tuple[Decimal, Decimal] | None = None
    criteria: Mapping[str, int | str] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()

    def check(self) -> None:
        try:
            scales.check_points(self.points)
        except scales.ScaleError as error:
            raise InvalidAnswerError("points", str(error)) from error
        _check_value_or_reason("rating", "rating", self.rating, self.reason)
        if len(set(self.reasons)) < len(self.reasons):
            raise InvalidAnswerError("reasons", "A reason is named twice.")
        super().check()
        by_criterion = {f"criteria.{name}": said for name, said in self.criteria.items()}
        values: dict[str, float | None] = {"rating": self.rating, "expected": self.expected}
        for name, said in by_criterion.items():
            if isinstance(said, str):
                _check_reason(name, said)
            else:
                values[name] = said
        _check_within(values, 1, self.points)


@dataclass(frozen=True, kw_only=True)
class TextScore(Said):
    """Of one answer: lowest..highest, or None with a ``reason``."""

    lowest: float
    highest: float
    value: float | None = None
    reason: str = ""
    expected: float | None = None

    def check(self) -> None:
        if not self.lowest < self.highest:
            raise InvalidAnswerError("highest", "The highest score must be above the lowest.")
        _check_value_or_reason("value", "score", self.value, self.reason)
        super().check()
        _check_within({"value": self.value, "expected": self.expected}, self.lowest, self.highest)


@dataclass(frozen=True, kw_only=True)
class Check:
    """Of one requirement: yes, no or unknown, or None with a ``reason``.

    question: the words it was asked in, for whoever may answer after they were changed; "" if not told.
    """

    value: str | None = None
    question: str = ""
    reason: str = ""
    raw_reply: str = ""
    rationale: str = ""
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class Checks(Said):
    """Of one answer against the requirements of its prompt, by the position of the question."""

    answers: Mapping[int, Check]

    def check(self) -> None:
        super().check()
        for position, one in self.answers.items():
            name = f"answers.{position}"
            _check_value_or_reason(name, "value", one.value, one.reason)
            if one.value is not None and one.value not in Answer.Value.values:
                raise InvalidAnswerError(name, f"{name} must be one of {', '.join(Answer.Value.values)}.")
            _check_seconds(name, one.seconds)


def _check_value_or_reason(name: str, what: str, value: object, reason: str) -> None:
    if (value is None) == (reason == ""):
        raise InvalidAnswerError(name, f"An answer needs either a {what} or the reason why it has none.")
    if reason:
        _check_reason("reason" if name in ("rating", "value") else name, reason)


def _check_reason(name: str, reason: str) -> None:
    if reason not in Opinion.Reason.values:
        listed = ", ".join(Opinion.Reason.values)
        raise InvalidAnswerError(name, f"{name.capitalize()} must be one of {listed}.")


def _check_seconds(name: str, seconds: float | None) -> None:
    if seconds is not None and not 0 <= seconds < 1e7:
        raise InvalidAnswerError(name, "Seconds must lie between 0 and 10,000,000.")


def _check_within(values: Mapping[str, float | None], lowest: float, highest: float) -> None:
    for name, value in values.items():
        if value is not None and not lowest <= value <= highest:
            raise InvalidAnswerError(
                name, f"{name} is {value:g}; it must be between {lowest:g} and {highest:g}."
            )
