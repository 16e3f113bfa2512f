"""Releases over the API."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Field, Router, Schema
from ninja.pagination import paginate

from leaderboard.models import Release
from leaderboard.releases.changes_page import Differences
from leaderboard.releases.content import boards
from leaderboard.releases.page import citation_of, numbered
from leaderboard.releases.provenance import parts
from leaderboard.standings.api import MISSING, Pages, Slug, StandingOut, reads, study_of

studies = Router(tags=["releases"])


class AuthorOut(Schema):
    """A person; empty where not told."""

    name: str
    orcid: str
    affiliation: str


class ReleaseOut(Schema):
    """A board that was kept for good."""

    number: int
    version: str
    name: str = Field(description="Of the study, as it was.")
    authors: list[AuthorOut]
    licence: str
    doi: str
    changelog: str
    simulated: bool
    created_at: datetime
    corrected_at: datetime | None = Field(description="When DOI or changelog were changed last.")
    snapshot: int = Field(description="Its id; its tables stay readable.")
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


class PartOut(Schema):
    """A count of votes and what it means."""

    key: str
    label: str
    people: int
    judges: int
    meaning: str


class BoardOut(Schema):
    """The standings by one kind of raters at the usual setting."""

    raters: str
    label: str
    method: str
    parameters: dict[str, Any]
    standings: list[StandingOut]
    warnings: list[str]


class ReleaseDetailOut(ReleaseOut):
    """A release with its standings, where its votes come from, its judges, and how to cite it."""

    boards: list[BoardOut] = Field(description="People's first.")
    provenance: list[PartOut]
    judges: list[dict[str, Any]] = Field(description="How each was set up, as judges.json in the bundle.")
    flags: list[str] = Field(description="Sentences that must stand beside the judges' standings.")
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
    """Where a contestant stood."""

    rank: int
    rating: float
    low: float | None
    high: float | None


class ContestantChangeOut(Schema):
    """A contestant in two releases; before or after is null where it had no game."""

    contestant: str
    before: PlaceOut | None
    after: PlaceOut | None
    up: int | None = Field(description="Places gained.")
    gained: float | None = Field(description="Points gained.")


class VoteChangeOut(Schema):
    """A count of votes in two releases."""

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
    """What became different from the earlier of two releases to the later one."""

    earlier: int
    later: int
    raters: str | None = Field(description="Whose standings are compared; null where none has both.")
    contestants: list[ContestantChangeOut]
    votes: list[VoteChangeOut]
    judges: list[ChangeOut]
    method: list[ChangeOut]


@reads(studies, "/{slug}/releases/", "List releases", {200: list[ReleaseOut], **MISSING})
@paginate(Pages)
def list_releases(request: HttpRequest, slug: Slug) -> Any:
    """The releases of a study, the newest first."""
    return study_of(request, slug).releases.listed()


@reads(
    studies, "/{slug}/releases/{number}/", "Read a release", {200: ReleaseDetailOut, **MISSING}, unset=False
)
def show_release(request: HttpRequest, slug: Slug, number: int) -> Release:
    """One release with its standings. Nothing of it changes but DOI and changelog."""
    return numbered(study_of(request, slug), number)


@reads(
    studies,
    "/{slug}/releases/{number}/changes/{other}/",
    "Compare two releases",
    {200: ChangesOut, **MISSING},
)
def show_release_changes(request: HttpRequest, slug: Slug, number: int, other: int) -> dict[str, Any]:
    """Contestants, votes, judges and method that differ between two releases, in whatever order given."""
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
