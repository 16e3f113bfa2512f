"""The API of two models head to head."""

from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema, Status

from arena.api.schemas import ErrorOut, Name
from leaderboard.head_to_head.page import HeadToHead
from leaderboard.pages.api import COMPUTED, ComputedOut, Slug, computed, reads, setting_field, study_of

studies = Router(tags=["standings"])


class HeadToHeadIn(Schema):
    """Which ratings count, and what to decide."""

    margin: Name = Field("", max_length=20, description="Points that the first may be worse; 0.")
    looks: Literal["", "every"] = Field("", description="every: intervals hold at every look.")
    raters: Name | None = setting_field("raters")
    criterion: Name | None = setting_field("criterion")
    ties: Name | None = setting_field("ties")
    category: Name | None = setting_field("category")
    method: Name = Field("", max_length=20, description="elo, bradley-terry or davidson; elo.")
    band: Name | None = setting_field("band")
    level: Name | None = setting_field("level")


class DecisionOut(Schema):
    """What ``manage.py decide`` prints."""

    first: str
    second: str
    verdict: Literal["better", "not worse", "worse", "undecided"]
    sentence: str
    difference: float = Field(description="First minus second, in points.")
    standard_error: float | None
    low: float | None
    high: float | None
    level: float
    every_look: bool
    margin: float
    games: int = Field(description="Ratings behind the difference, also against others.")
    units: int = Field(description="Prompts, or ratings if no prompt is named.")
    more_prompts: int | None = Field(description="That decide with a chance of 80%.")
    more_ratings: int | None


class HeadToHeadOut(ComputedOut):
    """Two models against each other."""

    method: str
    first: str
    second: str
    level: float
    decision: DecisionOut | None = Field(description="By the chosen raters; null if no ratings connect them.")
    by_raters: list[dict[str, Any]] = Field(description="The same by each kind of raters.")
    anchored: list[dict[str, Any]] = Field(description="By people with a judge's help.")
    categories: list[dict[str, Any]]
    drivers: list[dict[str, Any]] = Field(description="Shares won in two parts of their ratings.")
    preferring: dict[str, int] = Field(description="How many raters favour each.")
    pairs: list[dict[str, Any]] = Field(description="The clearest pairs; empty while the study is open.")


@reads(studies, "/{slug}/compare/{first}/{second}/", "Compare two models", {200: HeadToHeadOut, **COMPUTED})
def show_head_to_head(
    request: HttpRequest,
    response: HttpResponse,
    slug: Slug,
    first: Slug,
    second: Slug,
    wanted: Query[HeadToHeadIn],
) -> HeadToHeadOut | Status[ErrorOut]:
    """Whether the first is better than the second, by models' names in addresses."""
    study = study_of(request, slug)
    asked = wanted.dict(exclude_none=True) | {"contestant": first, "against": second}
    return computed(response, lambda: HeadToHeadOut(**HeadToHead.newest(study, asked).answer()))
