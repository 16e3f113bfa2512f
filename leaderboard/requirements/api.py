"""The API of which requirements each model meets."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema, Status
from ninja.errors import HttpError

from arena.api.auth import caller_of
from arena.api.schemas import ErrorOut, Name
from leaderboard.standings.api import COMPUTED, Slug, computed, reads, study_of

studies = Router(tags=["standings"])


class RequirementsIn(Schema):
    """Whose answers, and how they count; what is left out is as on the page."""

    raters: Name | None = Field(None, max_length=140, description="people, judge:SLUG or group:NAME.")
    subset: Name | None = Field(None, max_length=100, description="A set of prompts.")
    category: Name | None = Field(None, max_length=100, description="A category of prompts.")
    missing: Name | None = Field(None, max_length=20, description="exclude, no or script.")
    contested: Name | None = Field(None, max_length=20, description="out: without contested requirements.")
    beside: Name | None = Field(None, max_length=140, description="Raters that others are held against.")


class RequirementsOut(Schema):
    """Shares of requirements met; the keys are those of docs/requirements.md."""

    study: str
    simulated: bool
    parameters: dict[str, Any]
    label: str
    answers: int
    contested: int = Field(description="Requirements that people contest.")
    contestants: list[dict[str, Any]] = Field(description="Best first.")
    agreement: dict[str, Any] | None = Field(description="How far people agree.")
    sources: dict[str, Any] | None = Field(description="Each kind of raters beside one of them.")
    questions: list[dict[str, Any]] = Field(description="None until the study closes, save for operators.")
    scores: dict[str, Any] | None = Field(description="Correlation with the scores from pairs.")


@reads(
    studies,
    "/{slug}/requirements/",
    "Read which requirements each model meets",
    {200: RequirementsOut, 400: ErrorOut, **COMPUTED},
)
def show_requirements(
    request: HttpRequest, response: HttpResponse, slug: Slug, wanted: Query[RequirementsIn]
) -> RequirementsOut | Status[ErrorOut]:
    """The figures of the page of requirements, from the answers as they are now."""
    from leaderboard.requirements.page import RequirementsPage  # loads NumPy and SciPy

    known = RequirementsIn.model_fields
    for name in request.GET:
        if name not in known:
            raise HttpError(400, f'Unknown parameter "{name[:100]}". It takes: {", ".join(known)}.')
    study, operator = study_of(request, slug), caller_of(request).is_operator
    asked = wanted.dict(exclude_none=True)
    return computed(
        response,
        lambda: RequirementsOut(**RequirementsPage.newest(study, asked, operator=operator).answer()),
    )
