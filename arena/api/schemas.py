"""Requests and responses of API v1."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from django.db.models import TextChoices
from ninja import Field, Schema
from pydantic import (
    AfterValidator,
    AwareDatetime,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)

Reason = Literal["empty", "out_of_range", "unparsable", "truncated", "refused", "undecided"]
LONGEST_TEXT = 1_000_000
MOST_COMPARISONS = 100
MOST_MESSAGES = 100
MOST_REASONS = 100


def _storable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("the text holds a NUL character, which cannot be stored")
    return text


Name = Annotated[str, AfterValidator(_storable)]
Text = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(_storable)]
Score = Annotated[Decimal, Field(max_digits=8, decimal_places=3, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, lt=1e7, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1, strict=True)]
# Years that every database and every time zone can hold.
Moment = Annotated[
    AwareDatetime, Field(ge=datetime(2000, 1, 1, tzinfo=UTC), lt=datetime(2200, 1, 1, tzinfo=UTC))
]


def written_out(choices: type[TextChoices]) -> WithJsonSchema:
    """For Annotated: the choices where they are used; the document would mix two enums of one name up."""
    return WithJsonSchema({"type": "string", "enum": choices.values})


class MessageIn(Schema):
    """A message of the conversation that the model was sent."""

    model_config = {"extra": "forbid"}

    role: Name = Field(max_length=20)
    content: Text


class CallIn(Schema):
    """The record of the model call that gave the answer. The reply itself is the comparison's raw_reply."""

    model_config = {"extra": "forbid", "protected_namespaces": ()}

    model: Name = Field(max_length=200, description="The model that was asked.")
    model_returned: Name | None = Field(None, max_length=200, description="The model that says it replied.")
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


class ComparisonIn(Schema):
    """A rater's answer to one of its assignments, in presentation order."""

    model_config = {
        "extra": "forbid",
        "json_schema_extra": {
            "examples": [
                {"assignment": "Tf0vEjYz3sOeVQwK", "rating": 6, "raw_reply": "6", "seconds": 2.4},
                {"assignment": "Tf0vEjYz3sOeVQwK", "rating": 2, "reasons": ["More accurate", "Clearer"]},
                {"assignment": "Tf0vEjYz3sOeVQwK", "rating": None, "reason": "refused", "raw_reply": "No."},
            ]
        },
    }

    assignment: Name = Field(max_length=24, description="Id of the assignment that is answered.")
    rating: int | None = Field(
        None,
        strict=True,
        description="1 (first much better) to points (second much better); null if unscored.",
    )
    reason: Reason | None = Field(
        None, description="Why there is no rating; required exactly where rating is null."
    )
    points: Literal[2, 3, 5, 8] = Field(8, description="Points of the scale the rating is given on.")
    raw_reply: Text = Field("", description="The reply as the model sent it.")
    rationale: Text = ""
    seconds: Seconds | None = Field(None, description="Time taken.")
    expected: float | None = Field(
        None,
        allow_inf_nan=False,
        description="Expected rating over the answer tokens, 1 to points, where they are known.",
    )
    scores: tuple[Score, Score] | None = Field(None, description="Both scores of a two-score judge.")
    criteria: dict[str, Annotated[int, Field(strict=True)] | Reason] = Field(
        default_factory=dict,
        description="By criterion of the study its rating on the same scale, or why there is none.",
    )
    reasons: list[Name] = Field(
        default_factory=list,
        max_length=MOST_REASONS,
        description="Why it was rated so: some of the reasons that the study offers, each in its words.",
    )
    call: CallIn | None = Field(None, description="The model call that gave the answer, for the record.")


class ComparisonOut(Schema):
    """A stored comparison."""

    assignment: str
    status: Literal["scored", "unscored", "identical"] = Field(
        description="identical: the two answers are the same text, so a judge's rating is a control, no game."
    )
    rating: int | None
    reason: Reason | None
    points: int


class ErrorOut(Schema):
    """What went wrong, in a sentence; field names the part of the request it is about."""

    detail: str
    field: str | None = None


class ConflictOut(ErrorOut):
    """The assignment has this other answer already."""

    comparison: ComparisonOut


def first_wrong(errors: Sequence[Any]) -> ErrorOut:
    """The first error: field and reason."""
    place = [str(part) for part in errors[0]["loc"] if part not in ("body", "given", "path", "query")]
    field = ".".join(place) or None
    message = str(errors[0]["msg"]).removeprefix("Value error, ")
    return ErrorOut(detail=f"{field or 'body'}: {message}", field=field)


def _or_what_is_wrong(given: Any, read: ValidatorFunctionWrapHandler) -> Any:
    try:
        return read(given)
    except ValidationError as error:
        return first_wrong(error.errors())


class BatchIn(Schema):
    """Several answers of one rater. They are checked one by one, so that a wrong one refuses no other."""

    model_config = {"extra": "forbid"}

    comparisons: list[Annotated[ComparisonIn, WrapValidator(_or_what_is_wrong)]] = Field(
        min_length=1, max_length=MOST_COMPARISONS
    )


class OutcomeOut(Schema):
    """What became of one answer: status and body of the reply that it would have had by itself."""

    status: Literal[200, 201, 403, 409, 422, 500]
    body: ComparisonOut | ConflictOut | ErrorOut


class BatchOut(Schema):
    """What became of the answers, in their order."""

    results: list[OutcomeOut]


REFUSALS = {401: ErrorOut, 403: ErrorOut, 503: ErrorOut}  # errors of every operation
ERRORS = {400: ErrorOut, **REFUSALS, 413: ErrorOut, 415: ErrorOut, 422: ErrorOut}
"""Errors of operations with a body."""
