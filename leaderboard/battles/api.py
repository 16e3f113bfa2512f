"""What operators watch of battles, over the API."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Router, Schema
from ninja.decorators import decorate_view

from arena.api.auth import require_operator
from arena.api.http import conditional
from arena.api.schemas import REFUSALS, ErrorOut, Money
from leaderboard.pages.api import MISSING, Slug, study_of

if TYPE_CHECKING:
    from leaderboard.battles import watching

studies = Router(tags=["battles"])


class HourOut(Schema):
    """Battles that began in an hour, and what has become of them."""

    start: datetime
    begun: int
    voted: int
    void: int


class ModelOut(Schema):
    """How a contestant answers in battles; medians. null: it has not answered."""

    contestant: str
    answers: int
    first_words: float | None = Field(description="Seconds, with the time in the queue.")
    pace: float | None = Field(description="Characters a second after the first words.")
    redrawn: dict[str, int] = Field(description="Replaced before it was seen, by kind of failure.")
    void: dict[str, int] = Field(description="Battles that ended without a vote by its doing, by reason.")

    @staticmethod
    def resolve_contestant(model: "watching.Model") -> str:
        return model.contestant.slug


class QueueOut(Schema):
    """Battles that are open now."""

    waiting: int
    answering: int
    ready: int
    since: datetime | None = Field(description="When the first that waits began.")


class MoneyOut(Schema):
    """What battles cost today."""

    spent: Money
    reserved: Money = Field(description="The most that what is being asked can cost.")
    budget: Money | None
    currency: str


class BattleVotesOut(Schema):
    """Votes in all, and how many are of each kind."""

    all: int
    with_account: int
    without_account: int
    early: int = Field(description="Before both answers were complete.")
    fast: int = Field(description="In less time than reading takes.")
    neither: int
    chosen: int = Field(description="Between models that the visitor chose.")


class BattlesOut(Schema):
    """What operators watch of the battles of a study."""

    study: str
    queue: QueueOut
    hours: list[HourOut] = Field(description="The last 24, the newest first.")
    days: int = Field(description="How many models and void are of.")
    models: list[ModelOut]
    void: dict[str, int] = Field(description="Ended without a vote by no contestant's doing, by reason.")
    votes: BattleVotesOut
    removed: int
    money: MoneyOut | None = Field(description="null: before the first battle.")


@studies.get(
    "/{slug}/battles/",
    response={200: BattlesOut, 304: None, **MISSING, 422: ErrorOut, **REFUSALS},
    summary="Watch battles",
)
@decorate_view(conditional)
def show_battles(request: HttpRequest, slug: Slug) -> BattlesOut:
    """For operators: how many battles, how fast and how reliable the contestants are, what it costs."""
    from leaderboard.battles import watching  # which computes

    require_operator(request)
    study, now = study_of(request, slug), timezone.now()
    return BattlesOut.model_validate(
        {
            "study": study.slug,
            "queue": watching.queue(study),
            "hours": watching.hours(study, now),
            "days": watching.DAYS,
            "models": watching.models(study, now),
            "void": dict(watching.void_of_nobody(study, now)),
            "votes": watching.votes(study),
            "removed": watching.removed(study),
            "money": watching.money(study),
        }
    )
