"""The API of standings and snapshots."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema, Status
from ninja.pagination import paginate
from pydantic import create_model

from arena.api.auth import BearerAuth, Scope
from arena.api.schemas import ERRORS, ErrorOut, Name, written_out
from arena.models import Contestant, Study
from arena.studies.api import SetUpOut, create_study
from leaderboard.models import Snapshot
from leaderboard.pages.api import (
    COMPUTED,
    MISSING,
    Pages,
    Slug,
    computed,
    readable,
    reads,
    setting_field,
    snapshot_of,
    study_of,
)
from leaderboard.pages.cards import Card, cards
from leaderboard.snapshots.settings import DECLARED
from leaderboard.standings.page import Board

studies = Router(tags=["standings"])
snapshots = Router(tags=["standings"])


class StudyOut(Schema):
    """A study whose board this caller may read."""

    slug: str
    name: str
    description: str = Field(description="Markdown.")
    visibility: Annotated[Study.Visibility, written_out(Study.Visibility)]
    closed: bool
    simulated: bool = Field(description="Votes of this study may be made up by a program.")
    points: int
    snapshot: int | None = Field(description="Id of the newest snapshot.")


_parameters: Mapping[str, Any] = {name: (Name | None, setting_field(name)) for name in DECLARED}

SettingIn = create_model(
    "SettingIn",
    __base__=Schema,
    __doc__="The switches of the board; what is left out is as on the board.",
    **_parameters,
)


class StandingOut(Schema):
    """One contestant. What does not apply is null."""

    contestant: str
    kind: Annotated[Contestant.Kind, written_out(Contestant.Kind)]
    rating: float | None
    low: float | None = Field(description="Lower end of the interval.")
    high: float | None = Field(description="Upper end of the interval.")
    rank: int | None = Field(description="Within its component.")
    rank_ub: int | None = Field(
        None,
        description="Best rank the intervals leave possible: 1 + those whose whole interval is above.",
    )
    p_first: float | None = Field(None, description="Share of rounds in which it is first.")
    group: str | None = Field(None, description="Letters; those that share one cannot be told apart.")
    games: int
    wins: int
    losses: int
    ties: int
    component: int | None = Field(description="Group of contestants connected by games.")
    unbounded: str | None = Field(None, description="above or below: no limit to the rating on that side.")
    quantiles: dict[str, float] | None = Field(description="Ends of its intervals, by percentile.")
    groups_at: dict[str, str] | None = Field(None, description="group, by the level in percent.")
    rank_ub_at: dict[str, int] | None = Field(None, description="rank_ub, by the level in percent.")


class FlagOut(Schema):
    """One thing to know about a judge."""

    kind: Annotated[
        str,
        Field(
            description="competes, family, unscored or self-preference. The family is guessed from names.",
            max_length=20,
        ),
    ]
    sentence: str
    sure: bool = Field(description="Neither a guess from names nor what may be chance.")


class WithoutOut(Schema):
    """A contestant in the same standings without one switch."""

    contestant: str
    rank: int
    rating: float
    low: float | None
    high: float | None
    rating_difference: float = Field(description="How much higher it is rated with the switch.")
    places: int = Field(description="How many places higher it stands with the switch.")


class StandingsOut(Schema):
    """Standings with everything that made them."""

    study: str
    created_at: datetime
    watermark: str = Field(description="State of the data: revision, comparisons, last comparison.")
    simulated: bool
    raters: str
    category: str | None
    criterion: str | None = Field(description="What is rated; null: the completion overall.")
    turn: int | None = Field(
        description="Of conversations: the turn that is rated, 0 for whole ones; null: all of them."
    )
    contestants: str | None = Field(description="models: without people; null: everyone.")
    adjust: str | None = Field(description="What the ordinal model is adjusted for.")
    method: str
    parameters: dict[str, Any] = Field(description="Of the method: K, rounds, seed, ties, methodology ...")
    games: int
    left_out: int = Field(description="Comparisons that took no side.")
    unscored: int = Field(description="Comparisons without a rating.")
    not_ranked: int = Field(description="Comparisons with a contestant that is not ranked.")
    not_used: dict[str, int] = Field(
        {},
        description="Opinions that became no game, beside left_out, by reason: identical, unscored, "
        "no_model, retired, other_kind, same_model. Together with games and left_out they are all.",
    )
    standings: list[StandingOut]
    components: list[list[str]]
    groups: list[list[str]] | None = Field(None, description="Contestants that cannot be told apart.")
    robustness: dict[str, Any] | None = Field(
        None, description="bradley-terry, all categories: how few games, removed, would change who is first."
    )
    davidson: dict[str, Any] | None = Field(None, description="davidson: nu, how common ties are.")
    position: dict[str, Any] | None = Field(None, description="ordinal: the worth of standing first.")
    effects: dict[str, Any] | None = Field(None, description="ordinal: covariates adjusted for.")
    thresholds: dict[str, list[float]] | None = Field(
        None, description="ordinal: by the points of the scale, in log-odds."
    )
    rater_lean_sd: float | None = Field(None, description="ordinal: spread of the raters' leans.")
    probability_above: list[list[float | None]] | None = Field(
        None, description="pairwise: of the row's contestant above the column's, in the order of standings."
    )
    warnings: list[str] = Field(description="Sentences that must stand beside these numbers.")
    pairs: str | None = Field(None, description="random: those alone that were drawn at random.")
    control: dict[str, Any] | None = Field(
        None,
        description="pairs: whether those drawn at random rank as all do: tau and changes, with intervals.",
    )
    ratings: str | None = Field(None, description="expected: by judges' expected ratings.")
    expected: dict[str, Any] | None = Field(
        None, description="ratings: correlation with people of expected ratings and of those given."
    )
    prompts: str | None = Field(
        None, description="In a study with live prompts: curated, live or both, whichever is counted."
    )
    visitors: str | None = Field(
        None, description="without: ratings by visitors without an account left out."
    )
    without: dict[str, list[WithoutOut]] = Field(
        {},
        description="Standings without contestants, adjust, pairs and ratings, where these are set.",
    )
    leading: str = Field("", description="Who is first, and from whom it cannot be told apart.")
    notes: list[str] = Field([], description="Sentences about ratings that wait to count, as on the page.")
    flags: list[FlagOut] = Field([], description="What must be said of the judge whose ranking this is.")


class SnapshotOut(Schema):
    """A published, immutable set of standings."""

    id: int
    study: str
    created_at: datetime
    watermark: str
    comparisons: int
    methodology: str
    seed: int
    seconds: float

    @staticmethod
    def resolve_study(snapshot: Snapshot) -> str:
        return snapshot.study.slug


class SliceOut(Schema):
    """One table of a snapshot: what it shows, and for which setting. Empty: does not depend on it."""

    kind: str
    raters: str
    ties: str
    category: str
    method: str


class SnapshotDetailOut(SnapshotOut):
    """A snapshot with its parameters, its counts, and a list of its tables."""

    parameters: dict[str, Any]
    counts: dict[str, Any]
    slices: list[SliceOut]

    @staticmethod
    def resolve_slices(snapshot: Snapshot) -> list[dict[str, Any]]:
        fields = ("kind", "raters", "ties", "category", "method")
        return list(snapshot.slices.order_by(*fields).values(*fields))


@reads(studies, "/", "List studies", {200: list[StudyOut]})
@paginate(Pages)
def list_studies(request: HttpRequest) -> Any:
    """The public studies by name; all of them for an operator."""
    return [_listed(card) for card in cards(readable(request))]


# Of one address all methods are in one router.
studies.post(
    "/",
    auth=BearerAuth(Scope.OPERATE),
    response={201: SetUpOut, **ERRORS, 409: ErrorOut},
    summary="Create a study",
    tags=["setting up studies"],
)(create_study)


# What only another method finds is left out, as on the board.
@reads(
    studies,
    "/{slug}/standings/",
    "Read standings",
    {200: StandingsOut, **COMPUTED},
    unset=False,
)
def show_standings(
    request: HttpRequest,
    response: HttpResponse,
    slug: Slug,
    wanted: Query[SettingIn],  # type: ignore[valid-type]  # made from the settings
) -> StandingsOut | Status[ErrorOut]:
    """The ranking of the newest snapshot for one setting of the switches, as on the study's board.

    What the snapshot does not hold is computed: 202 until it is ready, 503 where too much waits or it could
    not be computed; both say in Retry-After when to ask again.
    """
    study = study_of(request, slug)
    return computed(response, lambda: StandingsOut(**Board.newest(study, vars(wanted)).standings()))


@reads(studies, "/{slug}/snapshots/", "List snapshots", {200: list[SnapshotOut], **MISSING})
@paginate(Pages)
def list_snapshots(request: HttpRequest, slug: Slug) -> Any:
    """The snapshots of a study, the newest first."""
    found = Snapshot.objects.complete().filter(study=study_of(request, slug))
    return found.select_related("study").order_by("-pk")


@reads(snapshots, "/{snapshot_id}/", "Read a snapshot", {200: SnapshotDetailOut, **MISSING})
def show_snapshot(request: HttpRequest, snapshot_id: int) -> Snapshot:
    """Parameters and counts of a snapshot, and which tables it holds."""
    return snapshot_of(request, snapshot_id)


def _listed(card: Card) -> StudyOut:
    study = card.study
    return StudyOut(
        slug=study.slug,
        name=study.name,
        description=study.description,
        visibility=Study.Visibility(study.visibility),
        closed=study.is_closed,
        simulated=card.simulated,
        points=study.points,
        snapshot=card.snapshot.pk if card.snapshot else None,
    )
