"""The API of plans."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema, Status

from arena.api.schemas import ErrorOut, Name
from leaderboard.pages.api import COMPUTED, ComputedOut, Slug, computed, reads, setting_field, study_of
from leaderboard.planning.page import PlanPage

studies = Router(tags=["standings"])


class PlanIn(Schema):
    """Which ratings, which two models, and how sure."""

    contestant: Name = Field("", max_length=80, description="In an address; the first model by default.")
    against: Name = Field("", max_length=80, description="In an address; the next model by default.")
    power: Name = Field("", max_length=3, description="50, 80, 90 or 95, in percent; 80.")
    raters: Name | None = setting_field("raters")
    criterion: Name | None = setting_field("criterion")
    ties: Name | None = setting_field("ties")
    category: Name | None = setting_field("category")
    band: Name | None = setting_field("band")
    level: Name | None = setting_field("level")


class NeedOut(Schema):
    """With so many raters of every pair."""

    raters: int
    more: int = Field(description="More prompts than so far.")
    prompts: int = Field(description="Prompts in all.")
    half_width: float = Field(description="Of the interval of the gap, in points.")


class GapOut(Schema):
    gap: float = Field(description="In points.")
    measured: bool = Field(description="Whether it is the measured gap.")
    needs: list[NeedOut]


class PlanOut(ComputedOut):
    """How many more prompts tell two models apart."""

    sentence: str
    gap: float = Field(description="The gap to show, in points.")
    level: float
    power: float
    needed: NeedOut = Field(description="With as many raters as now.")
    needs: list[NeedOut]
    gaps: list[GapOut] = Field(description="The same for other gaps.")
    variance: dict[str, float | None] = Field(description="Of one prompt, in squared points.")
    evidence: dict[str, Any] = Field(description="The two, their gap, prompts and raters so far.")
    warnings: list[str]


@reads(studies, "/{slug}/plan/", "Plan how many more prompts", {200: PlanOut, **COMPUTED})
def show_plan(
    request: HttpRequest, response: HttpResponse, slug: Slug, wanted: Query[PlanIn]
) -> PlanOut | Status[ErrorOut]:
    """What `manage.py plan` prints for two models, and for other gaps between them."""
    study = study_of(request, slug)
    asked = wanted.dict(exclude_none=True)
    return computed(response, lambda: PlanOut(**PlanPage.newest(study, asked).answer()))
