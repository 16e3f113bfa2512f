"""Releases over the API."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Field, Router, Schema, Status
from ninja.pagination import paginate

from arena.api.auth import BearerAuth, Scope, account_of, operated_study
from arena.api.idempotency import Keeping, keeping
from arena.api.schemas import ERRORS, ErrorOut, Name
from leaderboard.models import Release
from leaderboard.pages.api import MISSING, Pages, Slug, reads, study_of
from leaderboard.releases.changes_page import Differences
from leaderboard.releases.content import boards
from leaderboard.releases.fields import Fields, FieldsError
from leaderboard.releases.page import citation_of, numbered
from leaderboard.releases.provenance import parts
from leaderboard.standings.api import StandingOut

studies = Router(tags=["releases"])


class AuthorOut(Schema):
    """A person; unknown fields are empty."""

    name: str
    orcid: str
    affiliation: str


class ReleaseOut(Schema):
    """A leaderboard that never changes."""

    number: int
    version: str
    name: str = Field(description="The study's name at that time.")
    authors: list[AuthorOut]
    licence: str
    doi: str
    changelog: str
    simulated: bool
    created_at: datetime
    corrected_at: datetime | None = Field(description="When DOI or changelog were last corrected.")
    snapshot: int = Field(description="Id of its data; the tables stay readable.")
    watermark: str
    methodology: str
    sha256: str = Field(description="Of the bundle.")
    size: int = Field(description="Of the bundle in bytes.")

    @staticmethod
    def resolve_snapshot(release: Release) -> int:
        return release.snapshot_id

    @staticmethod
    def resolve_watermark(release: Release) -> str:
        return release.snapshot.watermark

    @staticmethod
    def resolve_methodology(release: Release) -> str:
        return release.snapshot.methodology


class ReleaseIn(Schema):
    """Version, authors and more of a release. They are public, and only DOI and changelog can change."""

    model_config = {
        "extra": "forbid",
        "json_schema_extra": {"examples": [{"version": "1.0", "authors": ["Ada Lovelace"]}]},
    }

    version: Name = Field(max_length=200, description="Such as 1.0 or 2026-05.")
    authors: list[Name] = Field(max_length=1000, description='Each "Name <ORCID or affiliation>".')
    licence: Name | None = Field(None, max_length=200, description="null: that of the study.")
    doi: Name = Field("", max_length=500)
    changelog: Name = Field("", max_length=50_000, description="What is new, in plain text.")


class PartOut(Schema):
    """A count of ratings and what it means."""

    key: str
    label: str
    people: int
    judges: int
    meaning: str


class BoardOut(Schema):
    """The leaderboard by people or one judge with the usual settings."""

    raters: str
    label: str
    method: str
    parameters: dict[str, Any]
    standings: list[StandingOut]
    warnings: list[str]


class ReleaseDetailOut(ReleaseOut):
    """A release: leaderboards, origin of the ratings, judges, and how to cite it."""

    boards: list[BoardOut] = Field(description="People's first.")
    provenance: list[PartOut]
    judges: list[dict[str, Any]] = Field(description="How each was set up, as in judges.json of the bundle.")
    flags: list[str] = Field(description="Cautions that belong beside the judges' leaderboards.")
    bibtex: str
    cff: str

    @staticmethod
    def resolve_boards(release: Release) -> list[dict[str, Any]]:
        return [
            {"raters": board.selector, "label": board.label, **board.content} for board in boards(release)
        ]

    @staticmethod
    def resolve_provenance(release: Release) -> list[dict[str, Any]]:
        return [asdict(part) for part in parts(release.provenance)]

    @staticmethod
    def resolve_bibtex(release: Release, context: dict[str, Any]) -> str:
        return citation_of(release, context["request"]).bibtex

    @staticmethod
    def resolve_cff(release: Release, context: dict[str, Any]) -> str:
        return citation_of(release, context["request"]).cff


class PlaceOut(Schema):
    """Rank and score of a model."""

    rank: int
    rating: float
    low: float | None
    high: float | None


class ContestantChangeOut(Schema):
    """A model in two releases; before or after is null where it was not rated."""

    contestant: str
    before: PlaceOut | None
    after: PlaceOut | None
    up: int | None = Field(description="Places gained.")
    gained: float | None = Field(description="Points gained.")


class VoteChangeOut(Schema):
    """A count of ratings in two releases."""

    part: str = Field(description="The key of a count in provenance.")
    by: str = Field(description="people or judges.")
    before: int
    after: int


class ChangeOut(Schema):
    """A value that differs."""

    of: str = Field(description="The judge; empty for the method.")
    what: str
    before: Any
    after: Any


class ChangesOut(Schema):
    """What changed from the earlier release to the later one."""

    earlier: int
    later: int
    raters: str | None = Field(description="By whom both leaderboards are; null if no raters are in both.")
    contestants: list[ContestantChangeOut]
    votes: list[VoteChangeOut]
    judges: list[ChangeOut]
    method: list[ChangeOut]


@reads(studies, "/{slug}/releases/", "List releases", {200: list[ReleaseOut], **MISSING})
@paginate(Pages)
def list_releases(request: HttpRequest, slug: Slug) -> Any:
    """The releases of a study, the newest first."""
    return study_of(request, slug).releases.listed()


@studies.post(
    "/{slug}/releases/",
    auth=BearerAuth(Scope.OPERATE),
    response={200: ReleaseOut, 201: ReleaseOut, 404: ErrorOut, 409: ErrorOut, **ERRORS},
    summary="Make a release",
)
@keeping(Keeping.AFTER)
def create_release(request: HttpRequest, slug: Slug, given: ReleaseIn) -> Status[object]:
    """Freeze the newest leaderboard for good; 200 if it is there. 409 if there is none to freeze."""
    from leaderboard.releases import services  # which computes

    study, by = operated_study(request, slug), account_of(request)
    licence = study.licence if given.licence is None else given.licence
    try:
        fields = Fields.read(given.version, given.authors, licence, given.doi, given.changelog)
        outcome = services.release(study, fields, by)
    except FieldsError as error:
        field, why = next(iter(error.problems.items()))
        return Status(422, ErrorOut(detail=why, field=field))
    except services.ReleaseError as error:
        return Status(409, ErrorOut(detail=str(error)))
    return Status(201 if outcome.made else 200, outcome.release)


@reads(
    studies, "/{slug}/releases/{number}/", "Read a release", {200: ReleaseDetailOut, **MISSING}, unset=False
)
def show_release(request: HttpRequest, slug: Slug, number: int) -> Release:
    """One release with its leaderboards. Only DOI and changelog can change."""
    return numbered(study_of(request, slug), number)


@reads(
    studies,
    "/{slug}/releases/{number}/changes/{other}/",
    "Compare two releases",
    {200: ChangesOut, **MISSING},
)
def show_release_changes(request: HttpRequest, slug: Slug, number: int, other: int) -> dict[str, Any]:
    """Models, ratings, judges and method that differ between two releases, in either order."""
    found = Differences.between(study_of(request, slug), number, other)
    return {
        "earlier": found.earlier.number,
        "later": found.later.number,
        "raters": found.boards[1].selector if found.boards else None,
        "contestants": found.contestants,
        "votes": found.votes,
        "judges": [asdict(change) for change in found.judges],
        "method": [asdict(change) for change in found.method],
    }
