"""Comparisons, scores and answers, as they are submitted and shown."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from ninja import Field
from pydantic import BaseModel, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from arena.api.schemas import ErrorOut, first_wrong
from arena.data.formats.records import MOST_QUESTIONS
from arena.models.comparisons import Opinion
from arena.rating.opinions import Check, Checks, Name, OnePerPosition, Rating, Said, TextScore
from arena.rules.verdicts import Reason, TextReason, Value

MOST_AT_ONCE = 100


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


class TurnScoreOut(BaseModel):
    """A stored score of one turn."""

    turn: int
    status: Literal["scored", "unscored"]
    value: float | None
    reason: TextReason | None


class ScoreOut(OpinionOut):
    """A stored score."""

    status: Literal["scored", "unscored"]
    value: float | None
    reason: TextReason | None
    lowest: float
    highest: float
    turns: list[TurnScoreOut] = Field(
        description="If turns were scored: each of them; the other fields are then those of the first."
    )


class AnswerOut(BaseModel):
    """A stored answer to one question."""

    position: int
    status: Literal["scored", "unscored"]
    value: Value | None
    reason: TextReason | None


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


class OpinionIn(Said):
    """What a rater says about one of its assignments."""

    SOURCE = Opinion.Source.API
    STORED: ClassVar[type[BaseModel]]
    CONFLICT: ClassVar[type[ErrorOut]]
    FIELD: ClassVar[str]  # that is wrong if something else is stored
    NAME: ClassVar[str]  # of what is stored, in a conflict

    assignment: Name = Field(max_length=24, description="Id of the assignment that is answered.")

    def shown(self, stored: Sequence[Any]) -> BaseModel:
        """Returns what is stored, for the reply to this request."""
        return self.STORED(assignment=self.assignment, **_columns(self.STORED, stored[0]))

    def conflict(self, detail: str, stored: Sequence[Any]) -> ErrorOut:
        """Returns the reply if something else is stored."""
        return self.CONFLICT(detail=detail, field=self.FIELD, **{self.NAME: self.shown(stored)})

    def field_of(self, name: str) -> str:
        """Returns where in this request a field stands."""
        return name


def _columns(schema: type[BaseModel], row: Opinion) -> dict[str, Any]:
    """Returns the columns of a stored row that a schema shows."""
    shown = schema.model_fields.keys() - {"assignment", "position", "turns"}
    return {**{name: getattr(row, name) for name in shown}, "reason": row.reason or None}


class ComparisonIn(OpinionIn, Rating):
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
    STORED, CONFLICT, FIELD, NAME = ComparisonOut, ConflictOut, "rating", "comparison"


class ScoreIn(OpinionIn, TextScore):
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
    STORED, CONFLICT, FIELD, NAME = ScoreOut, ScoreConflictOut, "value", "score"

    def shown(self, stored: Sequence[Any]) -> ScoreOut:
        turns = [TurnScoreOut(**_columns(TurnScoreOut, each)) for each in stored if each.turn]
        return ScoreOut(assignment=self.assignment, turns=turns, **_columns(ScoreOut, stored[0]))


class AnswerIn(Check):
    """Whether an answer meets one requirement of its prompt."""


class AnswersIn(OpinionIn, Checks):
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

    answers: Annotated[list[AnswerIn], OnePerPosition] = Field(
        min_length=1,
        max_length=MOST_QUESTIONS,
        description="One to each question of the claim; a judge may leave out what it did not ask.",
    )

    def field_of(self, name: str) -> str:
        places = {f"answers.{each.position}": index for index, each in enumerate(self.answers)}
        known = f"answers.{places[name]}" if name in places else "answers"
        return known if name.startswith("answers.") else name

    def shown(self, stored: Sequence[Any]) -> AnswersOut:
        answers = [AnswerOut(position=each.question.position, **_columns(AnswerOut, each)) for each in stored]
        return AnswersOut(assignment=self.assignment, answers=answers)

    def conflict(self, detail: str, stored: Sequence[Any]) -> AnswersConflictOut:
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
