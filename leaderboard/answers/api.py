"""What the API's operations about single answers share."""

from typing import Any

from django.http import HttpRequest
from django.utils.module_loading import import_string
from ninja import Field, Schema

from arena.api.auth import caller_of
from arena.api.schemas import Name
from leaderboard.answers.page import AnswersPage
from leaderboard.pages.api import study_of


class TextsIn(Schema):
    """Whose opinions, and about which prompts; what is left out is as on the page."""

    raters: Name | None = Field(None, max_length=140, description="people, judge:SLUG or group:NAME.")
    subset: Name | None = Field(None, max_length=100, description="A set of prompts.")
    category: Name | None = Field(None, max_length=100, description="A category of prompts.")


def answer(request: HttpRequest, slug: str, wanted: Schema, page: str) -> dict[str, Any]:
    """The content of a page of this room, whose module is loaded for it: it needs SciPy.

    Raises HttpError, or as ``AnswersPage.newest``.
    """
    study, operator = study_of(request, slug), caller_of(request).is_operator
    kind: type[AnswersPage] = import_string(f"leaderboard.answers.{page}")
    return kind.newest(study, wanted.dict(exclude_none=True), operator=operator).answer()
