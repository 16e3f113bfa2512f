"""What goes over the wire of API v1."""

from decimal import Decimal
from typing import Annotated, Literal

from ninja import Field, Schema
from pydantic import AfterValidator

Reason = Literal["empty", "out_of_range", "unparsable", "truncated", "refused"]
LONGEST_TEXT = 1_000_000


def _storable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("the text holds a NUL character, which cannot be stored")
    return text


Name = Annotated[str, AfterValidator(_storable)]
Text = Annotated[str, Field(max_length=LONGEST_TEXT), AfterValidator(_storable)]
Score = Annotated[Decimal, Field(max_digits=8, decimal_places=3, allow_inf_nan=False)]


class ComparisonIn(Schema):
    """A rater's answer to one of its assignments, in presentation order."""

    model_config = {"extra": "forbid"}

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
    seconds: float | None = Field(None, ge=0, lt=1e7, allow_inf_nan=False, description="Time taken.")
    scores: tuple[Score, Score] | None = Field(None, description="Both scores of a two-score judge.")
    criteria: dict[str, Annotated[int, Field(strict=True)]] = Field(
        default_factory=dict, description="Ratings by criterion of the study, on the same scale."
    )


class ComparisonOut(Schema):
    """A stored comparison."""

    assignment: str
    status: Literal["scored", "unscored"]
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


ERRORS = {400: ErrorOut, 401: ErrorOut, 403: ErrorOut, 413: ErrorOut, 422: ErrorOut}
"""Errors every operation can answer with."""
