"""Whole leaderboards, stored tables, contestants and votes over the API."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Field, Query, Router, Schema, Status
from ninja.errors import HttpError
from ninja.pagination import paginate

from arena.api.schemas import ErrorOut, Name, written_out
from arena.models import Comparison, Contestant, Rater
from leaderboard.answers.asked import CHECKS, FEATURES, SCORES
from leaderboard.files import published, selection
from leaderboard.files.selection import rater_names
from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.pages.api import (
    COMPUTED,
    MISSING,
    Pages,
    Slug,
    computed,
    reads,
    setting_field,
    snapshot_of,
    study_of,
)
from leaderboard.pages.page import NotReadyError, numbers_of
from leaderboard.snapshots.contents import find
from leaderboard.snapshots.holding import holds_standings
from leaderboard.snapshots.settings import SEALED, Scope, Setting
from leaderboard.snapshots.visible_lengths import WITHHELD, shows, visible_lengths

studies = Router(tags=["results"])
snapshots = Router(tags=["results"])
Kind = Annotated[SnapshotSlice.Kind, written_out(SnapshotSlice.Kind)]
MOST_VOTES = 500


class WholeIn(Schema):
    """Which leaderboard. Settings left out are the usual ones."""

    raters: Name | None = setting_field("raters")
    ties: Name | None = setting_field("ties", "on or off.")
    method: Name | None = setting_field("method")


class EntryOut(Schema):
    """A model in one category."""

    rating: float | None
    rating_q025: float | None = Field(description="Lower end of the 95% interval.")
    rating_q975: float | None = Field(description="Upper end of the 95% interval.")
    n: int = Field(description="Ratings.")
    rank: int | None
    rank_ub: int | None = Field(description="Best rank that the intervals allow.")
    method: str
    ties_mode: str = Field(description="on: a tie counts half.")
    raters: str
    rater_kind: str = Field(description="people, judge or group.")
    methodology: str
    simulated: bool


class ContestantOut(Schema):
    """What is ranked."""

    name: str
    slug: str
    kind: Annotated[Contestant.Kind, written_out(Contestant.Kind)]
    family: str
    organisation: str
    licence: str
    size: str
    retired: bool
    provisional: bool = Field(description="Proposed, and no operator has confirmed it yet.")

    @staticmethod
    def resolve_retired(contestant: Contestant) -> bool:
        return contestant.retired_at is not None


class PlaceIn(Schema):
    """Which table of its kind. What a kind does not depend on is left out."""

    raters: Name | None = setting_field(
        "raters", "For all kinds but data. Default: the raters that the leaderboard shows first."
    )
    ties: Literal["on", "off"] | None = Field(None, description="For standings and matrices. Default: on.")
    category: Name = Field("", max_length=100, description="For standings, matrices, ratings, length.")
    method: Name | None = setting_field("method", "For standings. Default: elo.")


class TableOut(Schema):
    """One stored table."""

    snapshot: int
    kind: Kind
    raters: str
    ties: str
    category: str
    method: str
    content: dict[str, Any] = Field(description="Its shape depends on the kind.")


class VotesIn(Schema):
    """Which ratings: ``after`` is the ``next`` of the page before."""

    after: int = Field(0, ge=0, le=2**63 - 1)
    limit: int = Field(100, ge=1, le=MOST_VOTES)
    raters: Name | None = setting_field("raters")
    category: Name = Field("", max_length=100)


class VoteOut(Schema):
    """A rating of a closed study, in the order shown. People have pseudonyms."""

    id: int
    prompt: str
    subset: str
    category: str
    first: str | None
    second: str | None
    rater: str
    rater_kind: Annotated[Rater.Kind, written_out(Rater.Kind)]
    derived_from: list[str] | None = Field(description="Of a panel, the judges whose ratings make its own.")
    simulated: bool
    points: int
    rating: int | None
    reason: str
    first_score: float | None
    second_score: float | None
    rationale: str
    created_at: datetime


class VotesOut(Schema):
    """A page of ratings; ``next`` is null on the last one."""

    items: list[VoteOut]
    next: int | None


@reads(
    studies,
    "/{slug}/leaderboard/",
    "Read a whole leaderboard",
    {200: dict[str, dict[str, EntryOut]], **COMPUTED},
)
def show_leaderboard(request: HttpRequest, response: HttpResponse, slug: Slug, wanted: Query[WholeIn]) -> Any:
    """Every model in every category; "full" is all categories together. The same as leaderboard.json."""
    study, asked = study_of(request, slug), wanted.dict(exclude_none=True)
    try:
        return computed(response, lambda: published.leaderboard(study, asked)[1])
    except selection.ExportError as error:
        raise HttpError(404, str(error)) from error


@reads(studies, "/{slug}/contestants/", "List models", {200: list[ContestantOut], **MISSING})
@paginate(Pages)
def list_contestants(request: HttpRequest, slug: Slug) -> Any:
    """The models of a study, by name."""
    return study_of(request, slug).contestants.order_by("name", "pk")


@reads(studies, "/{slug}/tables/{kind}/", "Read a table of the newest numbers", {200: TableOut, **COMPUTED})
def show_newest_table(
    request: HttpRequest, response: HttpResponse, slug: Slug, kind: Kind, wanted: Query[PlaceIn]
) -> TableOut | Status[ErrorOut]:
    """Numbers behind the figures: matrices, ratings as given, correlation, agreement, length and data.

    Standings that the snapshot does not hold are computed: 202 until they are ready.
    """
    study = study_of(request, slug)
    return computed(response, lambda: _table(numbers_of(study), kind, wanted, compute=True))


@reads(
    snapshots, "/{snapshot_id}/tables/{kind}/", "Read a table of earlier numbers", {200: TableOut, **MISSING}
)
def show_table(request: HttpRequest, snapshot_id: int, kind: Kind, wanted: Query[PlaceIn]) -> TableOut:
    """The same of any stored snapshot. Older ones are kept for a while, see the list."""
    return _table(snapshot_of(request, snapshot_id), kind, wanted)


@reads(studies, "/{slug}/comparisons/", "Read the ratings of a closed study", {200: VotesOut, **MISSING})
def list_comparisons(request: HttpRequest, slug: Slug, wanted: Query[VotesIn]) -> VotesOut:
    """Every rating that counts, in the order given; 403 while people still rate."""
    study = study_of(request, slug)
    if not study.is_closed:
        raise HttpError(403, "Ratings can be read when rating ends, so that raters stay blind.")
    try:
        asked = {"raters": wanted.raters, "category": wanted.category}
        chosen = selection.Selection.read(study, asked, everybody=True).comparisons(study, panels=True)
    except selection.ExportError as error:
        raise HttpError(404, str(error)) from error
    rows = chosen.filter(pk__gt=wanted.after).select_related(
        "pair__prompt", "pair__first__contestant", "pair__second__contestant"
    )[: wanted.limit + 1]
    found = list(rows)
    more = len(found) > wanted.limit
    found = found[: wanted.limit]
    raters = rater_names(study) if found else {}
    items = [_vote(row, raters[row.rater_id]) for row in found]
    return VotesOut(items=items, next=found[-1].pk if more else None)


def _vote(row: Comparison, who: Any) -> VoteOut:
    first, second = row.pair.shown(row.swapped)
    prompt = row.pair.prompt
    return VoteOut(
        id=row.pk,
        prompt=prompt.external_id,
        subset=prompt.subset,
        category=prompt.category,
        first=first.contestant.name if first.contestant else None,
        second=second.contestant.name if second.contestant else None,
        rater=who.name,
        rater_kind=who.kind,
        derived_from=who.derived_from,
        simulated=who.simulated,
        points=row.points,
        rating=row.rating,
        reason=row.reason,
        first_score=row.first_score,
        second_score=row.second_score,
        rationale="" if prompt.is_private else row.rationale,
        created_at=row.created_at,
    )


DEPENDS = {
    "standings": ("raters", "ties", "category", "method"),
    "matrices": ("raters", "ties", "category"),
    "ratings": ("raters", "category"),
    "length": ("raters", "category"),
    "correlation": ("raters",),
    "agreement": ("raters",),
    "data": (),
    "trust": (),
    "requirements": ("raters",),
    "scores": ("raters",),
    "features": ("raters",),
}
"""What the tables of each kind are stored for."""


def _computed(snapshot: Snapshot, place: dict[str, str]) -> SnapshotSlice | None:
    """Standings that a snapshot does not hold. Raises NotReadyError."""
    setting = Setting(**place)
    known = [one["selector"] for one in snapshot.counts["raters"]]
    categories = snapshot.counts["categories"]
    there = setting.raters in known and setting.category in ("", *categories)
    if holds_standings(snapshot.counts, **place) or not there or not setting.is_stored(categories):
        return None
    found = find(snapshot, setting, Scope.BOARD)
    if found.pending is not None:
        raise NotReadyError(found.pending)
    own = ("standings", setting.raters, setting.category, setting.ties, setting.method)
    payload = found.stored.payloads.get(own)
    return SnapshotSlice(snapshot=snapshot, kind="standings", payload=payload, **place) if payload else None


def _table(
    snapshot: Snapshot, kind: SnapshotSlice.Kind, wanted: PlaceIn, *, compute: bool = False
) -> TableOut:
    """``compute``: standings that the snapshot lacks are asked for. Raises HttpError or NotReadyError."""
    listed = snapshot.counts["raters"]
    usual = {
        "raters": listed[0]["selector"] if listed else "",
        "ties": "on",
        "category": "",
        "method": "elo",
    }
    asked = wanted.dict(exclude_none=True)
    place = {name: asked.get(name, usual[name]) if name in DEPENDS[kind] else "" for name in usual}
    if kind == SnapshotSlice.Kind.TRUST and not snapshot.study.is_closed:
        place["method"] = SEALED
    if kind in (CHECKS, SCORES, FEATURES) and not snapshot.study.is_closed:
        raise HttpError(404, f"Until the study closes, /api/v1/studies/SLUG/{kind.value}/ has these numbers.")
    if not shows(snapshot.study, kind):
        raise HttpError(404, WITHHELD)
    row = SnapshotSlice.objects.filter(snapshot=snapshot, kind=kind, **place).first()
    if row is None and compute and kind == SnapshotSlice.Kind.STANDINGS:
        row = _computed(snapshot, place)
    if row is None:
        where = ", ".join(f"{name} {value}" for name, value in place.items() if value)
        raise HttpError(404, f"Snapshot {snapshot.pk} has no table {kind.value} of {where or 'this kind'}.")
    content = row.content
    if kind == SnapshotSlice.Kind.DATA:
        past = snapshot != Snapshot.objects.newest(snapshot.study)
        content = visible_lengths(snapshot.study, content, past=past)
    return TableOut(snapshot=snapshot.pk, kind=kind, content=dict(content), **place)
