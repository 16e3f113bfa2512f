"""The page of what is different between two releases."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

from django.http import Http404, HttpRequest
from django.urls import reverse

from arena.models import Study
from leaderboard.models import Release, Snapshot
from leaderboard.pages.cards import comparisons
from leaderboard.pages.columns import Column, bare, ends_of
from leaderboard.pages.format import number
from leaderboard.pages.page import Page, Panel
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import TENTHS
from leaderboard.releases import changes
from leaderboard.releases.changes import Change, ContestantChange, VoteChange
from leaderboard.releases.content import Board, boards, parameters
from leaderboard.releases.page import numbered
from leaderboard.releases.provenance import MEANINGS
from leaderboard.snapshots.canonical import Content


@dataclass(frozen=True, kw_only=True)
class Differences:
    """What became different from the release with the lower number to the one with the higher."""

    earlier: Release
    later: Release

    @classmethod
    def between(cls, study: Study, one: int, other: int) -> "Differences":
        """Raises Http404."""
        if one == other:
            raise Http404("Choose two different releases.")
        return cls(earlier=numbered(study, min(one, other)), later=numbered(study, max(one, other)))

    @cached_property
    def boards(self) -> tuple[Board, Board] | None:
        """By the first kind of raters that both have."""
        return changes.shared_boards(boards(self.earlier), boards(self.later))

    @cached_property
    def contestants(self) -> list[ContestantChange]:
        return changes.contestants(*self.boards) if self.boards else []

    @cached_property
    def votes(self) -> list[VoteChange]:
        return changes.votes(self.earlier.provenance, self.later.provenance)

    @cached_property
    def judges(self) -> list[Change]:
        return changes.judges(self.earlier.judges, self.later.judges)

    @cached_property
    def method(self) -> list[Change]:
        return list(changes.values(parameters(self.earlier), parameters(self.later)))


@dataclass(frozen=True, kw_only=True)
class ChangesPage(Page):
    found: Differences

    template: ClassVar[str] = "leaderboard/release_changes.html"
    tab: ClassVar[str] = "study-release-changes"

    @property
    def simulated(self) -> bool:
        return self.found.earlier.simulated or self.found.later.simulated

    @property
    def sentences(self) -> list[str]:
        """What changed, in short."""
        found, said = self.found, []
        for kind, who in (("people", "people"), ("judge", "judges"), ("panel", "panels")):
            after, before = (comparisons(each.snapshot, kind) for each in (found.later, found.earlier))
            if kind == "panel" and not after and not before:
                continue
            change = number(after - before, "+,") if after != before else "unchanged"
            said.append(f"Ratings by {who}: {after:,} ({change}).")
        for what in ("added", "removed"):
            names = [each.contestant for each in found.contestants if each.what == what]
            if names:
                said.append(f"Models {what}: {', '.join(names)}.")
        if found.boards:
            moved = sum(bool(each.up) for each in found.contestants)
            said.append(f"Models with another rank: {moved or 'none'}.")
        else:
            said.append("No raters have a leaderboard in both releases, so ranks cannot be compared.")
        same = "is the same, but not its parameters" if found.method else "is the same"
        said.append(f"The method {'changed' if self.methodology_changed else same}.")
        return said

    @property
    def methodology_changed(self) -> bool:
        return any(change.what == "methodology" for change in self.found.method)

    def _panels(self) -> Iterator[Panel]:
        found = self.found
        if found.boards:
            yield self.make_panel(
                "contestants",
                f"Leaderboard by {found.boards[1].label}",
                "Releases share ratings, so overlapping intervals do not mean that a change is chance. A "
                "renamed model is removed under its old name and added under its new one.",
                self._contestants,
            )
        yield self.make_panel(
            "votes",
            "Ratings",
            "Each release says what the rows mean.",
            self._votes,
        )
        for slug, title, note, listed in (
            ("judges", "Judges", "How they were set up when each release was made.", found.judges),
            ("method", "Method", "What the numbers were made with.", found.method),
        ):
            if listed:
                yield self.make_panel(slug, title, note, self._table(title, listed))

    def _contestants(self) -> DataTable:
        found = self.found
        columns: list[Column[ContestantChange]] = [
            Column("Contestant", "contestant", label="Model"),
            Column("Change", "what"),
            Column("Places up", "up"),
            Column("Rating change", "gained", TENTHS, label="Score change"),
            *_placed(found.earlier, "before"),
            *_placed(found.later, "after"),
        ]
        return DataTable.of("Changes of the leaderboard", columns, found.contestants)

    def _votes(self) -> DataTable:
        by_place = {(change.part, change.by): change for change in self.found.votes}
        rows = (
            {"label": label, **{by: by_place[part, by] for by in ("people", "judges")}}
            for part, (label, _) in MEANINGS.items()
        )
        columns = [Column[Content]("Votes", "label", label="Ratings")]
        for by in ("people", "judges"):
            over = by.capitalize()
            columns += [
                Column(f"{over}: {_heading(self.found.earlier)}", f"{by}.before", over=over),
                Column(f"{over}: {_heading(self.found.later)}", f"{by}.after", over=over),
                Column(f"{over}: change", partial(_more, by), over=over),
            ]
        return DataTable.of("Changes of the ratings", columns, rows)

    def _table(self, title: str, listed: list[Change]) -> DataTable:
        judge = [Column[Change]("Judge", "of")] if any(change.of for change in listed) else []
        columns: list[Column[Change]] = [
            *judge,
            Column("What", "what"),
            Column(_heading(self.found.earlier), lambda change: changes.in_words(change.before)),
            Column(_heading(self.found.later), lambda change: changes.in_words(change.after)),
        ]
        return DataTable.of(f"Changes: {title.lower()}", columns, listed)


def _placed(release: Release, when: str) -> Iterator[Column[ContestantChange]]:
    over = _heading(release)
    yield Column(f"{over}: rank", f"{when}.rank", over=over)
    ends = ends_of(f"{over}:")
    yield Column(f"{over}: rating", bare(f"{when}.rating"), label="score", over=over, ends=ends)


def _more(by: str, row: Content) -> int:
    return int(row[by].after - row[by].before)


def _heading(release: Release) -> str:
    return f"Version {release.version}"


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> ChangesPage:
    found = Differences.between(study, place["number"], place["other"])
    return ChangesPage(
        study=study,
        snapshot=snapshot,
        address=reverse("study-release-changes", args=[study.slug, place["number"], place["other"]]),
        found=found,
    )
