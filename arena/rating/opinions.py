"""What raters say about assignments, before it is stored, and why a service refuses it.

Plain pydantic models: a Schema of Ninja looks every field up as a template would, which was a quarter of what
a batch costs.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from arena.models.comparisons import Opinion
from arena.rules import scales
from arena.rules.verdicts import Reason, TextReason, Value

LONGEST_TEXT: Final = 1_000_000
MOST_MESSAGES: Final = 100
MOST_REASONS: Final = 100


def _storable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("the text holds a NUL character, which cannot be stored")
    return text


Name = Annotated[str, AfterValidator(_storable)]
Text = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(_storable)]
Seconds = Annotated[float, Field(ge=0, lt=1e7, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1, strict=True)]
# Years that every database and every time zone can hold.
Moment = Annotated[
    AwareDatetime, Field(ge=datetime(2000, 1, 1, tzinfo=UTC), lt=datetime(2200, 1, 1, tzinfo=UTC))
]
OneOfTwo = Annotated[Decimal, Field(max_digits=8, decimal_places=3, allow_inf_nan=False)]
Whole = Annotated[int, Field(strict=True, ge=-(2**31), le=2**31 - 1)]
Number = Annotated[float, Field(strict=True, ge=-1e9, le=1e9)]
"""Of any scale that somebody uses; the difference of the greatest floats is infinite."""


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


class MessageIn(BaseModel):
    """A message of the conversation that the model was sent."""

    model_config = ConfigDict(extra="forbid")

    role: Name = Field(max_length=20)
    content: Text


class CallIn(BaseModel):
    """The record of the model call that gave the answer. The reply itself is in raw_reply."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    model: Name = Field(max_length=200, description="The model that was asked.")
    model_returned: Name | None = Field(None, max_length=200, description="The model that says it replied.")
    key: Name | None = Field(None, max_length=240, description="Names the question, from the same request.")
    attempt: Annotated[Count, Field(ge=1)] | None = Field(
        None, description="From the request of the claim, where there was one."
    )
    prompt_hash: Name | None = Field(None, max_length=64, description="Names the wording that was sent.")
    messages: list[MessageIn] | None = Field(None, max_length=MOST_MESSAGES, description="What was sent.")
    started_at: Moment | None = Field(None, description="When it was sent, with a time zone.")
    seconds: Seconds | None = Field(None, description="From sending to the reply.")
    finish_reason: Name | None = Field(None, max_length=50, description="As the endpoint said it.")
    refusal: Text | None = Field(None, description="Text of a separate refusal field.")
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    reasoning_tokens: Count | None = Field(
        None, description="Those of the completion that were spent thinking."
    )


class Said(BaseModel):
    """What a rater says about an assignment. ``SOURCE``: by which way, as rows store it."""

    model_config = ConfigDict(extra="forbid")
    SOURCE: ClassVar[Opinion.Source] = Opinion.Source.WEB

    assignment: Name = ""
    seconds: Seconds | None = Field(default=None, description="Time taken.")
    call: CallIn | None = Field(
        default=None, description="The model call that gave the answer, for the record."
    )

    @property
    def rows(self) -> Mapping[int, Mapping[str, Any]]:
        """Returns columns of rows to store: of checks by position, of scores by turn, else row 0 alone."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise InvalidAnswerError naming a field that contradicts others."""
        raise NotImplementedError


class Reply(BaseModel):
    """How a verdict was found, or why there is none."""

    reason: Reason | None = Field(
        default=None, description="Why there is no verdict; required exactly where it is null."
    )
    raw_reply: Text = Field(default="", description="The reply as the model sent it.")
    rationale: Text = ""

    def columns(self, *names: str) -> dict[str, Any]:
        """Returns these columns and those of the reply."""
        found = {name: getattr(self, name) for name in (*names, "raw_reply", "rationale")}
        return {**found, "reason": self.reason or ""}

    def check_verdict(self, name: str, what: str, value: object) -> None:
        if (value is None) == (self.reason is None):
            raise InvalidAnswerError(name, f"An answer needs either a {what} or the reason why it has none.")


class Rating(Reply, Said):
    """A rating of a pair, in presentation order."""

    rating: Whole | None = Field(
        default=None, description="1 (first much better) to points (second much better); null if unscored."
    )
    points: scales.Points = Field(default=8, description="Points of the scale the rating is given on.")
    expected: float | None = Field(
        default=None,
        allow_inf_nan=False,
        description="Expected rating over the answer tokens, 1 to points, where they are known.",
    )
    scores: tuple[OneOfTwo, OneOfTwo] | None = Field(
        default=None, description="Both scores of a two-score judge."
    )
    criteria: dict[str, Whole | TextReason] = Field(
        default_factory=dict,
        description="By criterion of the study its rating on the same scale, or why there is none.",
    )
    reasons: list[Name] = Field(
        default_factory=list,
        max_length=MOST_REASONS,
        description="Why it was rated so: some of the reasons that the study offers, each in its words.",
    )
    neither: bool = Field(
        default=False,
        description="True if neither answer is acceptable: beside a rating, or with the reason neither.",
    )

    @property
    def rows(self) -> Mapping[int, Mapping[str, Any]]:
        first, second = map(float, self.scores) if self.scores else (None, None)
        columns = self.columns("points", "rating", "expected", "reasons", "neither", "seconds")
        return {0: {**columns, "first_score": first, "second_score": second}}

    def check(self) -> None:
        self.check_verdict("rating", "rating", self.rating)
        if len(set(self.reasons)) < len(self.reasons):
            raise InvalidAnswerError("reasons", "A reason is named twice.")
        if self.reason == "neither" and not self.neither:
            raise InvalidAnswerError("neither", "The reason neither needs neither to be true.")
        by_criterion = {f"criteria.{name}": said for name, said in self.criteria.items()}
        numbers = {name: said for name, said in by_criterion.items() if not isinstance(said, str)}
        _check_within({"rating": self.rating, "expected": self.expected, **numbers}, 1, self.points)


class TextReply(Reply):
    """A reply about one answer."""

    reason: TextReason | None = Field(
        default=None, description="Why there is no verdict; required exactly where it is null."
    )


class TurnScore(TextReply):
    """A score of one turn of an answer, on the scale of all."""

    model_config = ConfigDict(extra="forbid")

    turn: Annotated[int, Field(strict=True, ge=1, le=2**15 - 1)] = Field(description="From 1.")
    value: Number | None = Field(default=None, description="lowest to highest; null if unscored.")
    expected: Number | None = Field(
        default=None, description="Expected score over the answer tokens, where they are known."
    )
    seconds: Seconds | None = Field(default=None, description="Time taken for this turn.")


def _each_turn_once(scores: Sequence[TurnScore]) -> Sequence[TurnScore]:
    turns = [each.turn for each in scores]
    if double := next((each for each in turns if turns.count(each) > 1), None):
        raise ValueError(f"turn {double} is scored twice")
    return scores


class TextScore(TextReply, Said):
    """A score of one answer, or of each of its turns."""

    value: Number | None = Field(default=None, description="lowest to highest; null if unscored.")
    lowest: Number = Field(description="Lowest score of the scale the score is given on.")
    highest: Number = Field(description="Highest score of this scale.")
    expected: Number | None = Field(
        default=None,
        description="Expected score over the answer tokens, lowest to highest, where they are known.",
    )
    turns: Annotated[list[TurnScore], AfterValidator(_each_turn_once)] = Field(
        default_factory=list,
        description="A judge's score of each turn of an answer with several, instead of value.",
    )

    @property
    def rows(self) -> Mapping[int, Mapping[str, Any]]:
        scale = {"lowest": self.lowest, "highest": self.highest}
        return {
            turn: {**each.columns("value", "expected", "seconds"), **scale, "turn": turn}
            for turn, each in self._scores.items()
        }

    @property
    def _scores(self) -> Mapping[int, "TextScore | TurnScore"]:
        """Returns what is said by turn; 0 is the whole answer."""
        return {each.turn: each for each in sorted(self.turns, key=lambda one: one.turn)} or {0: self}

    def check(self) -> None:
        if not self.lowest < self.highest:
            raise InvalidAnswerError("highest", "The highest score must be above the lowest.")
        if self.turns and (self.value, self.reason, self.expected) != (None, None, None):
            raise InvalidAnswerError("value", "An answer is scored as a whole or turn by turn, not both.")
        for turn, each in self._scores.items():
            name = f"turns.{turn}." if turn else ""
            each.check_verdict(f"{name}value", "score", each.value)
            values = {f"{name}value": each.value, f"{name}expected": each.expected}
            _check_within(values, self.lowest, self.highest)


class Check(TextReply):
    """Tells if an answer meets one requirement of its prompt."""

    model_config = ConfigDict(extra="forbid")

    position: Annotated[int, Field(strict=True, ge=1, le=2**15 - 1)] = Field(
        description="Which of the questions of the claim."
    )
    question: Text = Field(
        default="",
        description="Its text as claimed. If another question is in its place now, nothing is stored (422).",
    )
    value: Value | None = Field(
        default=None, description="yes: met; no: not met; unknown: cannot tell; null if unscored."
    )
    seconds: Seconds | None = Field(
        default=None, description="Time taken for this question; without it, an equal share of all."
    )


def _each_once(answers: Sequence[Check]) -> Sequence[Check]:
    positions = [each.position for each in answers]
    if double := next((each for each in positions if positions.count(each) > 1), None):
        raise ValueError(f"requirement {double} is answered twice")
    return answers


OnePerPosition = AfterValidator(_each_once)


class Checks(Said):
    """Tells for each requirement of its prompt if an answer meets it."""

    answers: Annotated[Sequence[Check], OnePerPosition]

    @property
    def rows(self) -> Mapping[int, Mapping[str, Any]]:
        share = None if self.seconds is None or not self.answers else self.seconds / len(self.answers)
        return {
            one.position: {
                **one.columns("value"),
                "seconds": share if one.seconds is None else one.seconds,
            }
            for one in sorted(self.answers, key=lambda one: one.position)
        }

    def check(self) -> None:
        for one in self.answers:
            one.check_verdict(f"answers.{one.position}", "value", one.value)


def _check_within(values: Mapping[str, float | None], lowest: float, highest: float) -> None:
    for name, value in values.items():
        if value is not None and not lowest <= value <= highest:
            raise InvalidAnswerError(
                name, f"{name} is {value:g}; it must be between {lowest:g} and {highest:g}."
            )
