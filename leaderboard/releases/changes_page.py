"""The page of what is different between two releases."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from django.http import Http404, HttpRequest
from django.urls import reverse

from arena.models import Study
from leaderboard.models import Release, Snapshot
from leaderboard.pages.cards import comparisons
from leaderboard.pages.format import number
from leaderboard.pages.guessed import guessed
from leaderboard.pages.page import Page, Panel
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import Cell
from leaderboard.releases import changes
from leaderboard.releases.changes import Change, ContestantChange, VoteChange
from leaderboard.releases.content import Board, boards, parameters
from leaderboard.releases.page import numbered
from leaderboard.releases.provenance import MEANINGS


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
                lambda: guessed("Changes of the leaderboard", map(self._contestant, found.contestants)),
            )
        yield self.make_panel(
            "votes",
            "Ratings",
            "Each release says what the rows mean.",
            lambda: guessed("Changes of the ratings", self._votes()),
        )
        for slug, title, note, listed in (
            ("judges", "Judges", "How they were set up when each release was made.", found.judges),
            ("method", "Method", "What the numbers were made with.", found.method),
        ):
            if listed:
                yield self.make_panel(slug, title, note, self._table(title, listed))

    def _contestant(self, change: ContestantChange) -> dict[str, Cell]:
        row: dict[str, Cell] = {"Contestant": change.contestant, "Change": change.what}
        gained = None if change.gained is None else round(change.gained, 1)
        row |= {"Places up": change.up, "Rating change": gained}
        for release, place in ((self.found.earlier, change.before), (self.found.later, change.after)):
            for name in ("rank", "rating", "low", "high"):
                row[f"{_heading(release)}: {name}"] = getattr(place, name, None)
        return row

    def _votes(self) -> Iterator[dict[str, Cell]]:
        by_place = {(change.part, change.by): change for change in self.found.votes}
        for part, (label, _) in MEANINGS.items():
            row: dict[str, Cell] = {"Votes": label}
            for by in ("people", "judges"):
                change = by_place[part, by]
                row[f"{by.capitalize()}: {_heading(self.found.earlier)}"] = change.before
                row[f"{by.capitalize()}: {_heading(self.found.later)}"] = change.after
                row[f"{by.capitalize()}: change"] = change.after - change.before
            yield row

    def _table(self, title: str, listed: list[Change]) -> DataTable:
        with_judge = any(change.of for change in listed)
        return guessed(
            f"Changes: {title.lower()}",
            (
                {
                    **({"Judge": change.of} if with_judge else {}),
                    "What": change.what,
                    _heading(self.found.earlier): changes.in_words(change.before),
                    _heading(self.found.later): changes.in_words(change.after),
                }
                for change in listed
            ),
        )


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
