"""Comparisons, scores and answers, as they are submitted and shown.

Plain pydantic models: a Schema of Ninja looks every field up as a template would, which was a quarter of what
a batch costs.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal

from ninja import Field
from pydantic import AfterValidator, BaseModel, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from arena.api.schemas import CallIn, ErrorOut, Name, Seconds, Text, first_wrong
from arena.data.formats.records import MOST_QUESTIONS, Reason
from arena.models import Answer, Comparison, Score
from arena.models.comparisons import Opinion
from arena.rating.opinions import Check, Checks, Rating, Said, TextScore

Value = Literal["yes", "no", "unknown"]
OneOfTwo = Annotated[Decimal, Field(max_digits=8, decimal_places=3, allow_inf_nan=False)]
Whole = Annotated[int, Field(strict=True, ge=-(2**31), le=2**31 - 1)]
Number = Annotated[float, Field(strict=True, ge=-1e9, le=1e9)]
"""Of any scale that somebody uses; the difference of the greatest floats is infinite."""
MOST_AT_ONCE = 100
MOST_REASONS = 100


class OpinionOut(BaseModel):
    """What is stored of one assignment."""

    assignment: str


class ComparisonOut(OpinionOut):
    """A stored comparison."""

    status: Literal["scored", "unscored", "identical"] = Field(
        description="identical: the two answers are the same text, so a judge's rating is a control, no game."
    )
    rating: int | None
    reason: Reason | None
    points: int


class ScoreOut(OpinionOut):
    """A stored score."""

    status: Literal["scored", "unscored"]
    value: float | None
    reason: Reason | None
    lowest: float
    highest: float


class AnswerOut(BaseModel):
    """A stored answer to one question."""

    position: int
    status: Literal["scored", "unscored"]
    value: Value | None
    reason: Reason | None


class AnswersOut(OpinionOut):
    """The stored answers, in the order of the questions."""

    answers: list[AnswerOut]


class ConflictOut(ErrorOut):
    """The assignment has this other rating already."""

    comparison: ComparisonOut


class ScoreConflictOut(ErrorOut):
    """The assignment has this other score already."""

    score: ScoreOut


class AnswersConflictOut(ErrorOut):
    """The assignment has these other answers already."""

    answers: list[AnswerOut]


def _columns(schema: type[BaseModel], row: Opinion) -> dict[str, Any]:
    """The columns of a stored row that a schema shows."""
    shown = schema.model_fields.keys() - {"assignment", "position"}
    return {**{name: getattr(row, name) for name in shown}, "reason": row.reason or None}


class OpinionIn(BaseModel):
    """What a rater says about one of its assignments."""

    model_config = {"extra": "forbid"}

    assignment: Name = Field(max_length=24, description="Id of the assignment that is answered.")
    seconds: Seconds | None = Field(None, description="Time taken.")
    call: CallIn | None = Field(None, description="The model call that gave the answer, for the record.")

    @property
    def said(self) -> Said:
        """As the services take it."""
        raise NotImplementedError

    def shown(self, stored: Any) -> OpinionOut:
        """What is stored, in the reply to this request."""
        raise NotImplementedError

    def conflict(self, detail: str, stored: Any) -> ErrorOut:
        """The reply if something else is stored."""
        raise NotImplementedError

    @property
    def common(self) -> dict[str, Any]:
        """The fields of every Said."""
        call = self.call.model_dump(mode="json", exclude_none=True) if self.call else None
        return {"seconds": self.seconds, "call": call, "source": Comparison.Source.API}

    def field_of(self, name: str) -> str:
        """Where in this request a field of ``said`` came from."""
        return name


class ReplyIn(BaseModel):
    """How a verdict was found, or why there is none."""

    reason: Reason | None = Field(
        None, description="Why there is no verdict; required exactly where it is null."
    )
    raw_reply: Text = Field("", description="The reply as the model sent it.")
    rationale: Text = ""

    @property
    def reply(self) -> dict[str, Any]:
        return {"reason": self.reason or "", "raw_reply": self.raw_reply, "rationale": self.rationale}


class ComparisonIn(ReplyIn, OpinionIn):
    """A rating of a pair, in presentation order."""

    model_config = {
        "json_schema_extra": {
            "examples": [
                {"assignment": "Tf0vEjYz3sOeVQwK", "rating": 6, "raw_reply": "6", "seconds": 2.4},
                {"assignment": "Tf0vEjYz3sOeVQwK", "rating": 2, "reasons": ["More accurate", "Clearer"]},
                {"assignment": "Tf0vEjYz3sOeVQwK", "rating": None, "reason": "refused", "raw_reply": "No."},
            ]
        },
    }

    rating: Whole | None = Field(
        None, description="1 (first much better) to points (second much better); null if unscored."
    )
    points: Literal[2, 3, 5, 8] = Field(8, description="Points of the scale the rating is given on.")
    expected: float | None = Field(
        None,
        allow_inf_nan=False,
        description="Expected rating over the answer tokens, 1 to points, where they are known.",
    )
    scores: tuple[OneOfTwo, OneOfTwo] | None = Field(None, description="Both scores of a two-score judge.")
    criteria: dict[str, Whole | Reason] = Field(
        default_factory=dict,
        description="By criterion of the study its rating on the same scale, or why there is none.",
    )
    reasons: list[Name] = Field(
        default_factory=list,
        max_length=MOST_REASONS,
        description="Why it was rated so: some of the reasons that the study offers, each in its words.",
    )

    @property
    def said(self) -> Rating:
        return Rating(
            points=self.points,
            rating=self.rating,
            expected=self.expected,
            scores=self.scores,
            criteria=self.criteria,
            reasons=tuple(self.reasons),
            **self.reply,
            **self.common,
        )

    def shown(self, stored: Comparison) -> ComparisonOut:
        return ComparisonOut(assignment=self.assignment, **_columns(ComparisonOut, stored))

    def conflict(self, detail: str, stored: Comparison) -> ConflictOut:
        return ConflictOut(detail=detail, field="rating", comparison=self.shown(stored))


class ScoreIn(ReplyIn, OpinionIn):
    """A score of one answer."""

    model_config = {
        "json_schema_extra": {
            "examples": [
                {"assignment": "b7Qm0eYt4LsWcR2N", "value": 4, "lowest": 1, "highest": 5, "seconds": 3.1},
                {
                    "assignment": "b7Qm0eYt4LsWcR2N",
                    "value": None,
                    "reason": "unparsable",
                    "lowest": 1,
                    "highest": 10,
                    "raw_reply": "Good.",
                },
            ]
        },
    }

    value: Number | None = Field(None, description="lowest to highest; null if unscored.")
    lowest: Number = Field(description="Lowest score of the scale the score is given on.")
    highest: Number = Field(description="Highest score of this scale.")
    expected: Number | None = Field(
        None, description="Expected score over the answer tokens, lowest to highest, where they are known."
    )

    @property
    def said(self) -> TextScore:
        return TextScore(
            lowest=self.lowest,
            highest=self.highest,
            value=self.value,
            expected=self.expected,
            **self.reply,
            **self.common,
        )

    def shown(self, stored: Score) -> ScoreOut:
        return ScoreOut(assignment=self.assignment, **_columns(ScoreOut, stored))

    def conflict(self, detail: str, stored: Score) -> ScoreConflictOut:
        return ScoreConflictOut(detail=detail, field="value", score=self.shown(stored))


class AnswerIn(ReplyIn):
    """Whether an answer meets one requirement of its prompt."""

    model_config = {"extra": "forbid"}

    position: Annotated[int, Field(strict=True, ge=1, le=2**15 - 1)] = Field(
        description="Which of the questions of the claim."
    )
    question: Text = Field(
        "",
        description="Its text as claimed. If another question is in its place now, nothing is stored (422).",
    )
    value: Value | None = Field(
        None, description="yes: met; no: not met; unknown: cannot tell; null if unscored."
    )
    seconds: Seconds | None = Field(
        None, description="Time taken for this question; without it, an equal share of all."
    )


def _each_once(answers: list[AnswerIn]) -> list[AnswerIn]:
    positions = [each.position for each in answers]
    if double := next((each for each in positions if positions.count(each) > 1), None):
        raise ValueError(f"requirement {double} is answered twice")
    return answers


class AnswersIn(OpinionIn):
    """Whether an answer meets each requirement of its prompt."""

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "assignment": "9xVdK1uTzAqf3JhE",
                    "answers": [
                        {
                            "position": 1,
                            "question": "Is it about the sea?",
                            "value": "yes",
                            "raw_reply": "YES",
                        },
                        {"position": 2, "value": None, "reason": "unparsable", "raw_reply": "Perhaps"},
                    ],
                    "seconds": 5.2,
                }
            ]
        },
    }

    answers: Annotated[list[AnswerIn], AfterValidator(_each_once)] = Field(
        min_length=1,
        max_length=MOST_QUESTIONS,
        description="One to each question of the claim; a judge may leave out what it did not ask.",
    )

    @property
    def said(self) -> Checks:
        checks = {
            each.position: Check(value=each.value, question=each.question, seconds=each.seconds, **each.reply)
            for each in self.answers
        }
        return Checks(answers=checks, **self.common)

    def field_of(self, name: str) -> str:
        places = {f"answers.{each.position}": index for index, each in enumerate(self.answers)}
        known = f"answers.{places[name]}" if name in places else "answers"
        return known if name.startswith("answers.") else name

    def shown(self, stored: Sequence[Answer]) -> AnswersOut:
        answers = [AnswerOut(position=each.question.position, **_columns(AnswerOut, each)) for each in stored]
        return AnswersOut(assignment=self.assignment, answers=answers)

    def conflict(self, detail: str, stored: Sequence[Answer]) -> AnswersConflictOut:
        return AnswersConflictOut(detail=detail, field="answers", answers=self.shown(stored).answers)


def _or_what_is_wrong(given: Any, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(given)
    except ValidationError as error:
        return first_wrong(error.errors())


Checked = WrapValidator(_or_what_is_wrong)


class BatchIn(BaseModel):
    """Several ratings by one rater. Each is looked at by itself, so that a wrong one refuses no other."""

    model_config = {"extra": "forbid"}

    comparisons: list[Annotated[ComparisonIn, Checked]] = Field(min_length=1, max_length=MOST_AT_ONCE)


class ScoresIn(BaseModel):
    """Several scores by one rater, each looked at by itself."""

    model_config = {"extra": "forbid"}

    scores: list[Annotated[ScoreIn, Checked]] = Field(min_length=1, max_length=MOST_AT_ONCE)


class CheckedTextsIn(BaseModel):
    """The checks of several answers by one rater, each looked at by itself."""

    model_config = {"extra": "forbid"}

    answers: list[Annotated[AnswersIn, Checked]] = Field(min_length=1, max_length=MOST_AT_ONCE)


class Outcome(BaseModel):
    """What became of one: status and body of the reply that it would have had by itself."""

    status: Literal[200, 201, 403, 409, 422, 500]


class OutcomeOut(Outcome):
    body: ComparisonOut | ConflictOut | ErrorOut


class ScoreOutcomeOut(Outcome):
    body: ScoreOut | ScoreConflictOut | ErrorOut


class AnswersOutcomeOut(Outcome):
    body: AnswersOut | AnswersConflictOut | ErrorOut


class BatchOut(BaseModel):
    """What became of the ratings, in their order."""

    results: list[OutcomeOut]


class ScoresOut(BaseModel):
    """What became of the scores, in their order."""

    results: list[ScoreOutcomeOut]


class CheckedTextsOut(BaseModel):
    """What became of the checks, in their order."""

    results: list[AnswersOutcomeOut]
