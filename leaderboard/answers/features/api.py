"""The API of what features of answers are worth."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema, Status

from arena.api.schemas import ErrorOut, Name
from leaderboard.answers.api import answer
from leaderboard.pages.api import COMPUTED, Slug, computed, reads

studies = Router(tags=["standings"])


class FeaturesIn(Schema):
    """Which feature, and held against whose opinions; what is left out is as on the page."""

    raters: Name | None = Field(
        None, max_length=140, description="people, judge:SLUG or group:NAME; scores:SLUG for text scores."
    )
    feature: Name | None = Field(None, max_length=100, description="Such as entropy.")
    variant: Name | None = Field(None, max_length=10, description="paper, released or bounds.")
    source: Name | None = Field(None, max_length=200, description="Where its values come from.")
    turn: Name | None = Field(None, max_length=5, description="A turn; 0: whole answers; all: all turns.")
    model: Name | None = Field(
        None, max_length=200, description="Name of a model: the weakest answers are its own; without, of all."
    )


class FeaturesOut(Schema):
    """What a feature is worth; the keys are those of docs/api.md."""

    study: str
    simulated: bool
    parameters: dict[str, Any]
    label: str
    level: float
    features: list[dict[str, Any]] = Field(description="Correlation and pairs of every feature.")
    feature: dict[str, Any] = Field(description="The one that the rest is about.")
    opinions: int = Field(description="Of the answers that have this feature.")
    correlation: dict[str, Any] = Field(description="Over all answers.")
    contestants: list[dict[str, Any]] = Field(description="Correlation among the answers of each model.")
    pairs: dict[str, Any] | None = Field(description="How often the feature, or length, picks the better.")
    standings: list[dict[str, Any]] = Field(description="Means of models, the expected best first.")
    order: dict[str, Any] | None = Field(description="How far that is the order of pairs.")
    deciles: list[dict[str, Any]] = Field(description="Quality by value; none until the study closes.")
    weakest: list[dict[str, Any]] = Field(
        description="The answers expected to be weakest; none until the study closes."
    )


@reads(
    studies,
    "/{slug}/features/",
    "Read what features of answers are worth",
    {200: FeaturesOut, **COMPUTED},
)
def show_features(
    request: HttpRequest, response: HttpResponse, slug: Slug, wanted: Query[FeaturesIn]
) -> FeaturesOut | Status[ErrorOut]:
    """The figures of the page of features."""
    return computed(
        response, lambda: FeaturesOut(**answer(request, slug, wanted, "features.page.FeaturesPage"))
    )
