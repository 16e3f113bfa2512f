"""The API of how often judges are right."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema, Status

from arena.api.auth import caller_of
from arena.api.schemas import ErrorOut, Name
from leaderboard.pages.api import COMPUTED, Slug, computed, reads, setting_field, study_of
from leaderboard.trust.page import TrustPage

studies = Router(tags=["standings"])


class TrustIn(Schema):
    """How to hold judges against right answers; what is left out is as on the page."""

    gold: Name | None = Field(None, max_length=200, description="labels, people or group:NAME.")
    base: Name | None = Field(
        None, max_length=200, description="Slug of the judge that others are compared with."
    )
    without: Name | None = Field(
        None, max_length=1000, description="Subsets that are no part of averages, with commas."
    )
    unscored: Name | None = Field(None, max_length=20, description="exclude, wrong or random.")
    ties: Name | None = Field(None, max_length=20, description="half or tie.")
    published: Name | None = Field(None, max_length=20, description="llmbar: count as its tables do.")
    level: Name | None = setting_field("level")


class PartsOut(Schema):
    """Figures by subset, by group of subsets, and on the mean of all subsets; null where undefined."""

    subsets: dict[str, dict[str, Any]]
    groups: dict[str, dict[str, Any]]
    average: dict[str, Any]


class JudgedOut(PartsOut):
    judge: str = Field(description="Its slug.")
    label: str
    simulated: bool
    model: str | None
    protocol: str | None


class BaselineOut(PartsOut):
    baseline: str = Field(
        description="always first, always second, longer, shorter, constant, random or people."
    )


class TrustOut(Schema):
    """How often judges are right; the keys are those of docs/api.md."""

    study: str
    created_at: datetime
    watermark: str
    simulated: bool
    parameters: dict[str, Any]
    judges: list[JudgedOut]
    baselines: list[BaselineOut] = Field(description="None until the study closes, save for operators.")
    lead: dict[str, Any] | None = Field(description="The most accurate judge beside the next and a baseline.")
    leads: dict[str, dict[str, Any] | None] = Field(description="The same by subset and group.")
    matrix: dict[str, Any] = Field(description="Judges by model and protocol, and what is hard.")
    tags: dict[str, dict[str, int]] = Field(
        description="How often each judge has each error tag; none until the study closes."
    )
    confidence: dict[str, Any] | None = Field(
        description="What judges' own probabilities say by gold labels; none until the study closes."
    )


@reads(studies, "/{slug}/trust/", "Read how often judges are right", {200: TrustOut, **COMPUTED})
def show_trust(
    request: HttpRequest, response: HttpResponse, slug: Slug, wanted: Query[TrustIn]
) -> TrustOut | Status[ErrorOut]:
    """What `manage.py meta_evaluate --matrix` prints: judges held against right answers."""
    study, operator = study_of(request, slug), caller_of(request).is_operator
    asked = wanted.dict(exclude_none=True)
    return computed(response, lambda: TrustOut(**TrustPage.newest(study, asked, operator=operator).answer()))
