"""What requests and responses of API v1 share."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from django.db.models import TextChoices
from ninja import Field, Schema
from pydantic import AfterValidator, AwareDatetime, WithJsonSchema

LONGEST_TEXT = 1_000_000
MOST_MESSAGES = 100


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


def written_out(choices: type[TextChoices]) -> WithJsonSchema:
    """For Annotated: the choices where they are used; the document would mix two enums of one name up."""
    return WithJsonSchema({"type": "string", "enum": choices.values})


class MessageIn(Schema):
    """A message of the conversation that the model was sent."""

    model_config = {"extra": "forbid"}

    role: Name = Field(max_length=20)
    content: Text


class CallIn(Schema):
    """The record of the model call that gave the answer. The reply itself is in raw_reply."""

    model_config = {"extra": "forbid", "protected_namespaces": ()}

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


class ErrorOut(Schema):
    """What went wrong, in a sentence; field names the part of the request it is about."""

    detail: str
    field: str | None = None


def first_wrong(errors: Sequence[Any]) -> ErrorOut:
    """The first error: field and reason."""
    place = [str(part) for part in errors[0]["loc"] if part not in ("body", "given", "path", "query")]
    field = ".".join(place) or None
    message = str(errors[0]["msg"]).removeprefix("Value error, ")
    return ErrorOut(detail=f"{field or 'body'}: {message}", field=field)


REFUSALS = {401: ErrorOut, 403: ErrorOut, 503: ErrorOut}  # errors of every operation
ERRORS = {400: ErrorOut, **REFUSALS, 413: ErrorOut, 415: ErrorOut, 422: ErrorOut}
"""Errors of operations with a body."""
