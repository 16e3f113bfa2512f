"""The API of which requirements each model meets."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema, Status

from arena.api.schemas import ErrorOut, Name
from leaderboard.answers.api import TextsIn, answer
from leaderboard.pages.api import COMPUTED, Slug, computed, reads

studies = Router(tags=["standings"])


class RequirementsIn(TextsIn):
    """Whose answers, and how they count; what is left out is as on the page."""

    missing: Name | None = Field(None, max_length=20, description="exclude, no or script.")
    contested: Name | None = Field(None, max_length=20, description="out: without contested requirements.")
    beside: Name | None = Field(None, max_length=140, description="Raters that others are held against.")


class RequirementsOut(Schema):
    """Shares of requirements met; the keys are those of docs/api.md."""

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
    text_scores: dict[str, Any] | None = Field(description="Mean text scores, and the correlation with them.")


@reads(
    studies,
    "/{slug}/requirements/",
    "Read which requirements each model meets",
    {200: RequirementsOut, **COMPUTED},
)
def show_requirements(
    request: HttpRequest, response: HttpResponse, slug: Slug, wanted: Query[RequirementsIn]
) -> RequirementsOut | Status[ErrorOut]:
    """The figures of the page of requirements."""
    return computed(
        response,
        lambda: RequirementsOut(**answer(request, slug, wanted, "requirements.page.RequirementsPage")),
    )
