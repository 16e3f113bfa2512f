"""The page of the rank of every contestant in every category."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final

from django.http import HttpRequest
from django.urls import reverse

from arena.models import Study
from leaderboard.models import Snapshot
from leaderboard.pages.columns import TableQuery
from leaderboard.pages.page import Panel
from leaderboard.pages.setting_page import OF_ALL_CATEGORIES, SettingPage
from leaderboard.pages.standings.sentences import few_units, intervals_shown, ties_phrase
from leaderboard.pages.standings.table import Row
from leaderboard.pages.switches import Switch, list_of
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.contents import find
from leaderboard.snapshots.method_names import METHOD_NAMES
from leaderboard.snapshots.settings import MOST_LISTED, Scope
from leaderboard.standings.categories.table import ALL, CategoryMatrix, differs, verdict
from leaderboard.standings.page import abouts

_TINTS: Final = {1: "better", -1: "worse", 0: ""}


@dataclass(frozen=True)
class Place:
    """The class of a cell and its texts; all empty where the contestant has no games."""

    category: str
    tint: str = ""
    rank: str = ""
    score: str = ""

    @classmethod
    def of(cls, category: str, row: Row | None, overall: Row | None, rank: str) -> "Place":
        if row is None:
            return cls(category)
        tint = "provisional" if row.provisional else _TINTS[differs(row, overall)]
        possible = f" ({row.rank_range})" if row.rank_range != str(row.rank) else ""
        return cls(category, tint, f"{rank}{possible}", f"{row.rating:.0f}")


@dataclass(frozen=True)
class Heading:
    label: str
    games: int
    address: str
    sorted: str


@dataclass(frozen=True)
class Line:
    contestant: str
    address: str
    places: tuple[Place, ...]


@dataclass(frozen=True, kw_only=True)
class Categories(SettingPage):
    """The matrix of one setting. ``sort`` is a category, with a minus sign in front for worst first."""

    sort: str
    boards: Mapping[str, Content] = field(repr=False)

    template: ClassVar[str] = "leaderboard/categories.html"
    tab: ClassVar[str] = "study-categories"
    takes: ClassVar[Sequence[str]] = OF_ALL_CATEGORIES

    @cached_property
    def matrix(self) -> CategoryMatrix:
        return CategoryMatrix.of(self.boards)

    @property
    def level(self) -> str:
        return f"{float(self.setting.level):g}%"

    @property
    def caption(self) -> str:
        method = self.setting.method
        parameters = next(board["parameters"] for board in self.boards.values())
        said = (self.raters["label"], self.about_words, METHOD_NAMES[method], ties_phrase(method, parameters))
        drawn = parameters["resample"].replace("-", " ")
        sure = any(map(intervals_shown, self.boards.values()))
        return ", ".join(filter(None, said)) + f". {self.level} intervals over {drawn}" * sure

    @property
    def caution(self) -> str:
        """How few prompts or raters intervals come from; empty where every category has enough."""
        warnings = (each for name, board in self.boards.items() if name for each in board["warnings"])
        few = sorted(filter(None, map(few_units, warnings)), key=lambda units: int(units.split()[0]))
        return f"The intervals of some categories come from as few as {few[0]}." if few else ""

    @cached_property
    def verdict(self) -> tuple[str, str] | None:
        return None if self.pending else verdict(self.matrix)

    @cached_property
    def tints(self) -> set[str]:
        return {place.tint for line in self.lines for place in line.places}

    @cached_property
    def _sorting(self) -> tuple[str, bool]:
        """The category sorted by (all for an unknown one) and whether the best come first."""
        for category, best_first in ((self.sort, True), (self.sort.removeprefix("-"), False)):
            if (category if category != ALL else "") in self.boards:
                return (category if category != ALL else ""), best_first
        return "", True

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """The categories that the table shows: all, or those with the most ratings and the one sorted by."""
        every, games = self.matrix.categories, self.matrix.games
        if len(every) <= MOST_LISTED + 1:
            return every
        chosen = self._sorting[0]
        most = {"", *sorted(every, key=lambda name: (name != "", -games[name]))[: MOST_LISTED + 1]}
        return ("", *[chosen] * (chosen not in most), *(name for name in every if name and name in most))

    @property
    def left_out(self) -> str:
        """Which categories the table shows, if not all."""
        rated = len(self.matrix.categories) - 1
        if rated <= MOST_LISTED:
            return ""
        also = f", and {self.shown[1]}" * (len(self.shown) > MOST_LISTED + 1)
        return (
            f" Of {rated:,} categories, the {MOST_LISTED} with the most ratings{also}. Choose another above."
        )

    @cached_property
    def switches(self) -> Sequence[Switch]:
        """With a list to pick a category from where the table does not show all."""
        if self.pending or not self.left_out:
            return super().switches
        labels = {"": "All categories", **{name: name for name in self.matrix.categories if name}}
        kept = {**self.setting.parts(), "sort": self._sorting[0]}
        return [*super().switches, list_of("sort", "Category", labels, kept)]

    @property
    def headings(self) -> list[Heading]:
        chosen, best_first = self._sorting
        found = []
        for category in self.shown:
            here = category == chosen
            sort = ("-" if here and best_first else "") + (category or ALL)
            way = ("descending" if best_first else "ascending") if here else ""  # of the scores shown
            address = TableQuery("" if sort == ALL else sort).query(self.query)
            found.append(Heading(category or ALL, self.matrix.games[category], address, way))
        return found

    @cached_property
    def lines(self) -> list[Line]:
        chosen, best_first = self._sorting
        about, matrix = abouts(self.study), self.matrix
        return [
            Line(
                name,
                about[name].address if name in about else "",
                tuple(
                    Place.of(
                        category or ALL,
                        matrix.standings.get((name, category)),
                        matrix.standings.get((name, "")),
                        matrix.ranks.get((name, category), ""),
                    )
                    for category in self.shown
                ),
            )
            for name in matrix.ordered(chosen, best_first=best_first)
        ]

    def _panels(self) -> Iterator[Panel]:
        if self.boards:
            yield self.make_panel(
                "categories",
                "All numbers",
                "Ranks, scores, intervals and numbers of ratings.",
                lambda: self.matrix.table(f"{float(self.setting.level):g} % interval"),
                apart=True,
            )


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> Categories:
    setting = Categories.setting_for(request.GET, snapshot)
    found = find(snapshot, setting, Scope.CATEGORIES)
    standings = {
        category: found.stored.get("standings", setting.raters, category, setting.ties, setting.method)
        for category in ("", *snapshot.counts["categories"])
    }
    return Categories(
        study=study,
        snapshot=snapshot,
        address=reverse("study-categories", args=[study.slug]),
        query=setting.query(),
        setting=setting,
        sort=request.GET.get("sort", "")[:200],
        boards={category: content for category, content in standings.items() if content is not None},
        pending=found.pending,
    )
