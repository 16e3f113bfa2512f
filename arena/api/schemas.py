"""What requests and responses of API v1 share."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any

from django.db.models import TextChoices
from ninja import Schema
from pydantic import PlainSerializer, WithJsonSchema

from arena.rating.opinions import Name as Name


def written_out(choices: type[TextChoices]) -> WithJsonSchema:
    """For Annotated: the choices where they are used; the document would mix two enums of one name up."""
    return WithJsonSchema({"type": "string", "enum": choices.values})


Money = Annotated[Decimal, PlainSerializer(lambda amount: f"{amount:f}", return_type=str)]
"""An amount in replies, always with its decimals: "0.00000000", never "0E-8"."""


class ErrorOut(Schema):
    """What went wrong, in a sentence; field names the part of the request it is about."""

    detail: str
    field: str | None = None


PARTS = frozenset({"body", "given", "path", "query", "header", "form", "file"})
"""Parts of a request, which readers need not know."""


def first_wrong(errors: Sequence[Any]) -> ErrorOut:
    """The first error: field and reason."""
    place = [
        str(part)
        for part in errors[0]["loc"]
        if part not in ("body", "given", "path", "query", "header", "form", "file")
    ]
    field = ".".join(place) or None
    message = str(errors[0]["msg"]).removeprefix("Value error, ")
    return ErrorOut(detail=f"{field or 'body'}: {message}", field=field)


REFUSALS = {401: ErrorOut, 403: ErrorOut, 503: ErrorOut}  # errors of every operation
ERRORS = {400: ErrorOut, **REFUSALS, 413: ErrorOut, 415: ErrorOut, 422: ErrorOut}
"""Errors of operations with a body."""
