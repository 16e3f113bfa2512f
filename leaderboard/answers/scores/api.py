"""The API of how raters score the answers of each model."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema, Status

from arena.api.schemas import ErrorOut, Name
from leaderboard.answers.api import TextsIn, answer
from leaderboard.pages.api import COMPUTED, Slug, computed, reads

studies = Router(tags=["standings"])


class ScoresIn(TextsIn):
    """Whose scores, and which; what is left out is as on the page."""

    turn: Name | None = Field(None, max_length=5, description="A turn of the answers; 0: whole answers.")


class ScoresOut(Schema):
    """Text scores; the keys are those of docs/api.md."""

    study: str
    simulated: bool
    parameters: dict[str, Any]
    label: str
    contestants: list[dict[str, Any]] = Field(
        description="By the raters asked for, best first by `above_average`: points above the average model."
    )
    lowest: float = Field(description="Of the scale.")
    highest: float
    level: float
    rounds: int
    seed: int
    scores: int = Field(description="By all raters.")
    other_scales: int = Field(description="Scores that were stretched to the scale.")
    raters: list[dict[str, Any]] = Field(description="How each kind of raters scores.")
    agreement: list[dict[str, Any]] = Field(description="Of every two kinds of raters on the same answers.")
    people: dict[str, Any] | None = Field(description="How far people agree among themselves.")
    pairs: dict[str, Any] | None = Field(description="Correlation with the scores from pairs.")


@reads(
    studies,
    "/{slug}/scores/",
    "Read how raters score the answers of each model",
    {200: ScoresOut, **COMPUTED},
)
def show_scores(
    request: HttpRequest, response: HttpResponse, slug: Slug, wanted: Query[ScoresIn]
) -> ScoresOut | Status[ErrorOut]:
    """The figures of the page of text scores."""
    page = "scores.page.ScoresPage"
    return computed(response, lambda: ScoresOut(**answer(request, slug, wanted, page)))
