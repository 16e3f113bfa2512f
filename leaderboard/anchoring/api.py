"""The API of rankings anchored on people."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema, Status

from arena.api.schemas import ErrorOut, Name
from leaderboard.anchoring.page import AnchoredPage
from leaderboard.pages.api import COMPUTED, ComputedOut, Slug, computed, reads, setting_field, study_of

studies = Router(tags=["standings"])


class AnchoredIn(Schema):
    """Which judge and which ratings."""

    raters: Name | None = setting_field("raters", "judge:SLUG. Left out: the first judge.")
    criterion: Name | None = setting_field("criterion")
    ties: Name | None = setting_field("ties")
    category: Name | None = setting_field("category")
    level: Name | None = setting_field("level")


class StrengthOut(Schema):
    rating: float | None
    low: float | None
    high: float | None
    standard_error: float | None


class AnchoredRowOut(StrengthOut):
    """One model: anchored, by people, by the judge, and the judge's bias."""

    contestant: str
    rank: int | None
    rank_ub: int | None
    component: int | None
    human: StrengthOut
    judge: StrengthOut
    bias: StrengthOut = Field(description="The judge minus anchored.")
    effective_votes: float | None


class AnchoredOut(ComputedOut):
    """People's ranking, made more certain by a judge's ratings."""

    method: str
    judges: list[str]
    parameters: dict[str, Any] = Field(description="ties, interval, power and methodology.")
    comparisons_left_out: int
    counts: dict[str, int] = Field(description="Pairs and prompts by people, the judge and both.")
    effective_votes: float | None = Field(
        description="Pairs people would have to rate to know as much without the judge."
    )
    votes_gained: float | None
    balance: dict[str, float] = Field(description="P values of the test that people rated a random part.")
    prior: dict[str, bool]
    standings: list[AnchoredRowOut]
    beside_the_leader: list[str] = Field(description="Models the leader cannot be told apart from.")
    warnings: list[str]


@reads(studies, "/{slug}/anchored/", "Read a ranking anchored on people", {200: AnchoredOut, **COMPUTED})
def show_anchored(
    request: HttpRequest, response: HttpResponse, slug: Slug, wanted: Query[AnchoredIn]
) -> AnchoredOut | Status[ErrorOut]:
    """What `manage.py anchor` prints: people's ranking, made more certain by a judge without its bias."""
    study = study_of(request, slug)
    asked = wanted.dict(exclude_none=True)
    return computed(response, lambda: AnchoredOut(**AnchoredPage.newest(study, asked).answer()))
