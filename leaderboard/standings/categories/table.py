"""The category matrix: where each contestant stands in each category, and what to see first. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from leaderboard.pages.columns import Column, inside
from leaderboard.pages.format import counted
from leaderboard.pages.standings.table import Row, ranks_shown, standing_rows
from leaderboard.pages.table import DataTable
from leaderboard.pages.wording import enumerated, verb
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.settings import MOST_LISTED

ALL: Final = "All"
MOST_NAMED: Final = 3


def differs(row: Row, overall: Row | None) -> int:
    """1 if the interval of a score lies above the overall score, -1 if below, 0 if it holds that score."""
    if overall is None or row.low is None or row.high is None or row.provisional:
        return 0
    return int(row.low > overall.rating) - int(row.high < overall.rating)


@dataclass(frozen=True)
class CategoryMatrix:
    """Standings by contestant and category; the first category is all together (an empty name).

    ``contestants`` are in the order of all together, then others by name. ``ranks`` are as
    pages write them, and ``games`` counts those of each category.
    """

    contestants: tuple[str, ...]
    categories: tuple[str, ...]
    standings: Mapping[tuple[str, str], Row]
    ranks: Mapping[tuple[str, str], str]
    games: Mapping[str, int]

    @classmethod
    def of(cls, boards: Mapping[str, Content]) -> "CategoryMatrix":
        rows = {category: standing_rows(content, None) for category, content in boards.items()}
        found = {(row.contestant, category): row for category, own in rows.items() for row in own}
        ranks = {
            (name, category): rank
            for category, own in rows.items()
            for name, rank in ranks_shown(own).items()
        }
        first = [name for name, category in found if category == ""]
        others = sorted({name for name, _ in found} - set(first))
        games = {category: content["games"] for category, content in boards.items()}
        return cls((*first, *others), tuple(boards), found, ranks, games)

    def ordered(self, category: str, *, best_first: bool = True) -> tuple[str, ...]:
        """The contestants by rank in one category; those who do not play there last."""
        there = [name for name in self.contestants if (name, category) in self.standings]
        away = [name for name in self.contestants if (name, category) not in self.standings]
        ranked = sorted(there, key=lambda name: self.standings[name, category].place, reverse=not best_first)
        return (*ranked, *away)

    def first(self, category: str) -> tuple[str, ...]:
        """The contestant of rank 1 in one category, or all that share it."""
        there = (name for name in self.contestants if (name, category) in self.standings)
        return tuple(name for name in there if self.standings[name, category].place == (0, 1))

    def table(self, level: str) -> DataTable:
        columns = chain.from_iterable(self._in(category, level) for category in self.categories)
        names = Column[str]("Contestant", str, label="Model")
        return DataTable.of("Rank and score by category", [names, *columns], self.contestants)

    def _in(self, category: str, level: str) -> Iterator[Column[str]]:
        over = category or ALL
        ends = f"{over}: low ({level})", f"{over}: high ({level})"
        for name, label, read, between in (
            ("rank", "", "rank", None),
            ("rank (UB)", "best rank by intervals", "rank_ub", None),
            ("rating", "score", "score", ends),
            ("games", "ratings", "games", None),
        ):
            own = Column[Row](f"{over}: {name}", read, label=label, over=over, ends=between)
            yield inside(own, lambda contestant: self.standings.get((contestant, category)))
        yield Column(
            f"{over}: provisional",
            lambda contestant: (
                self.standings[contestant, category].provisional
                if (contestant, category) in self.standings
                else ""
            ),
            over=over,
        )


def verdict(matrix: CategoryMatrix) -> tuple[str, str] | None:
    """Who is first and what differs; None where nobody is ranked over all or no category is named."""
    first = {category: matrix.first(category) for category in matrix.categories}
    best = first.pop("", ())
    if not best or not first:
        return None
    return _leaders(matrix, best, first), _differences(matrix)


def _leaders(matrix: CategoryMatrix, best: tuple[str, ...], first: Mapping[str, tuple[str, ...]]) -> str:
    led: dict[tuple[str, ...], list[str]] = {}
    for category, names in first.items():
        led.setdefault(names, []).append(f"{category}{_unsure(matrix, names, category)}")
    if len(first) > MOST_LISTED:
        led = {names: _number_of(found) if names != best else found for names, found in led.items()}
    own = led.pop(best, [])
    overall = _unsure(matrix, best, "")
    unsure = "" if overall else " (provisional)" * any(each.endswith(" (provisional)") for each in own)
    said = f"{enumerated(best)} {verb('score', len(best))} highest overall{overall}"
    if not led:
        return f"{said} and in every rated category{unsure}."
    where = f"and in {len(own)} of {len(first)} rated categories{unsure}, " if own else "but in no category: "
    others = [f"{enumerated(names)} in {enumerated(found)}" for names, found in led.items()]
    if len(others) > MOST_NAMED:
        others[MOST_NAMED:] = [f"{len(others) - MOST_NAMED} more elsewhere"]
    return f"{said} {where}{enumerated(others)}."


def _number_of(categories: Sequence[str]) -> list[str]:
    unsure = " (provisional)" * any(each.endswith(" (provisional)") for each in categories)
    return [counted(len(categories), "category", "categories") + unsure]


def _unsure(matrix: CategoryMatrix, names: Sequence[str], category: str) -> str:
    return " (provisional)" * any(matrix.standings[name, category].provisional for name in names)


def _differences(matrix: CategoryMatrix) -> str:
    found = {
        (name, category): differs(matrix.standings[name, category], matrix.standings.get((name, "")))
        for name in matrix.contestants
        for category in matrix.categories
        if category and (name, category) in matrix.standings
    }
    clear = [place for place, way in found.items() if way]
    if not clear:
        return "No score in a category clearly differs from the overall score."
    many = f"No correction is made for {counted(len(found), 'test')}."
    if len(clear) > MOST_NAMED:
        differ = f"{len(clear):,} of {counted(len(found), 'score')} in a category clearly differ"
        return f"{differ} from the overall score. {many}"
    said = [
        f"{name} is clearly {'better' if found[name, category] > 0 else 'worse'} in {category} than overall"
        for name, category in clear
    ]
    return f"{enumerated(said)}. {many}"
