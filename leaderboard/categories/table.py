"""The category matrix: where each contestant stands in each category. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from leaderboard.pages.table import Cell, DataTable
from leaderboard.snapshots.canonical import Content
from leaderboard.standings.table import Row, standing_rows

ALL: Final = "All"


def differs(row: Row, overall: Row | None) -> int:
    """1 if the interval of a score lies above the overall score, -1 if below, 0 if it holds that score."""
    if overall is None or row.low is None or row.high is None or row.provisional:
        return 0
    return int(row.low > overall.rating) - int(row.high < overall.rating)


@dataclass(frozen=True)
class CategoryMatrix:
    """Standings by contestant and category; the first category is all together (an empty name).

    ``contestants`` are in the order of all together, then others by name. ``games`` counts those of each
    category.
    """

    contestants: tuple[str, ...]
    categories: tuple[str, ...]
    standings: Mapping[tuple[str, str], Row]
    games: Mapping[str, int]

    @classmethod
    def of(cls, boards: Mapping[str, Content]) -> "CategoryMatrix":
        found = {
            (row.contestant, category): row
            for category, content in boards.items()
            for row in standing_rows(content, None)
        }
        first = [name for name, category in found if category == ""]
        others = sorted({name for name, _ in found} - set(first))
        games = {category: content["games"] for category, content in boards.items()}
        return cls((*first, *others), tuple(boards), found, games)

    def ordered(self, category: str, *, best_first: bool = True) -> tuple[str, ...]:
        """The contestants by rank in one category; those who do not play there last."""
        there = [name for name in self.contestants if (name, category) in self.standings]
        away = [name for name in self.contestants if (name, category) not in self.standings]
        ranked = sorted(there, key=lambda name: self.standings[name, category].rank, reverse=not best_first)
        return (*ranked, *away)

    def table(self, level: str) -> DataTable:
        what = ("rank", "rank (UB)", "rating", f"low ({level})", f"high ({level})", "games", "provisional")
        columns = [f"{category or ALL}: {name}" for category in self.categories for name in what]
        rows = [
            (name, *(cell for category in self.categories for cell in self._cells(name, category)))
            for name in self.contestants
        ]
        return DataTable("Rank and score by category", ("Contestant", *columns), tuple(rows))

    def _cells(self, name: str, category: str) -> Sequence[Cell]:
        row = self.standings.get((name, category))
        if row is None:
            return (None,) * 6 + ("",)
        return (row.rank, row.rank_ub, row.rating, row.low, row.high, row.games, row.provisional)
