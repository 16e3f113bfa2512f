"""The table of standings on the board: sorted, searched, with links and drawings. No database."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from django.utils.safestring import SafeString, mark_safe

from leaderboard.pages.columns import Column, Heading, SortedTable, TableQuery, inside
from leaderboard.pages.dots import Axis
from leaderboard.pages.format import NONE
from leaderboard.pages.standings import table
from leaderboard.pages.standings.table import Row, ranks_shown
from leaderboard.pages.units import COEFFICIENT, SCORE, SHARE, Unit


@dataclass(frozen=True)
class About:
    organisation: str = ""
    licence: str = ""
    address: str = ""
    benchmarks: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class OfTexts:
    """A figure of each model by opinions about its single answers.

    ``order``: how far it orders models as pairs do.
    """

    figures: Mapping[str, float] = field(default_factory=dict)
    order: str = ""


NO_TEXTS: Final = (OfTexts(), OfTexts())


@dataclass(frozen=True)
class Entry:
    """A row with everything its columns need; None where unknown.

    ``moved`` is how many places it stands higher in this category than in all; ``other_rank``,
    ``other_rating`` and ``other_moved`` (places higher) are of the standings beside. ``leads`` marks the
    first and those it cannot be told apart from. ``met`` is the share of requirements met, ``text_score``
    the mean score of its answers one by one.
    """

    row: Row
    about: About = About()
    moved: int | None = None
    other_rank: int | None = None
    other_rating: float | None = None
    other_moved: int | None = None
    leads: bool = False
    met: float | None = None
    text_score: float | None = None


def moved_text(places: float | None) -> str:
    if places is None:
        return NONE
    if places == 0:
        return "="
    return f"↑+{places:g}" if places > 0 else f"↓−{-places:g}"


MOVED: Final = Unit(moved_text, str)
AS_GIVEN: Final = Unit(lambda value: NONE if value is None else f"{value:g}", str)


def _of_row(column: Column[Row]) -> Column[Entry]:
    return inside(column, lambda entry: entry.row)


RANK: Final = _of_row(table.RANK)
CONTESTANT: Final = _of_row(table.CONTESTANT)
RATING: Final = _of_row(table.RATING)
WINS: Final = _of_row(table.WINS)
GAMES: Final = _of_row(table.GAMES)
USUAL: Final = (RANK, CONTESTANT, RATING, WINS, GAMES)
"""The columns of a board beside the drawn interval; the others are shown on demand."""


def further_columns(
    entries: Sequence[Entry], other: str, other_method: str, of_texts: Sequence[OfTexts] = NO_TEXTS
) -> Iterator[Column[Entry]]:
    """The columns on demand.

    ``other`` (empty for none) and ``other_method`` name what the numbers beside are by. ``of_texts``
    are requirements met and text scores.
    """
    met, scores = of_texts
    yield _of_row(table.TIES)
    yield Column(
        "Against all",
        lambda e: e.moved,
        MOVED,
        key="change",
        help="Places higher (+) or lower (−) than over all categories.",
    )
    # Groups are letters by best member, so they sort as the ranking does.
    yield _of_row(table.GROUP)
    yield _of_row(table.FIRST)
    if other:
        yield Column(
            f"{other}: rank",
            lambda e: e.other_rank,
            key="other-rank",
            kind="num nowrap",
            write=_other_rank,
            falling=False,
            help="The rank under the other setting, and how many places higher (+) or lower (−) that is.",
        )
        yield Column(
            f"{other}: score",
            lambda e: e.other_rating,
            SCORE,
            key="other-rating",
            help="The score under the other setting.",
        )
    yield Column(
        other_method,
        "row.beside",
        SCORE,
        key="beside",
        help="The score by another method, from the same ratings.",
    )
    yield Column(
        "Requirements met",
        lambda e: e.met,
        SHARE,
        key="requirements",
        help=" ".join((_MET, met.order)).rstrip(),
    )
    yield Column(
        "Mean text score",
        lambda e: e.text_score,
        COEFFICIENT,
        key="text-score",
        help=" ".join((_SCORED, scores.order)).rstrip(),
    )
    yield from map(_benchmark, sorted({name for entry in entries for name in entry.about.benchmarks}))
    yield Column("Licence", lambda e: e.about.licence or None, key="licence", kind="word", falling=False)


_MET: Final = "Share of requirements met (DRFR), by the same raters if they checked any."
_SCORED: Final = "Mean score of its answers one by one, by the same raters if they scored any."


def _other_rank(entry: Entry) -> str:
    if entry.other_rank is None:
        return NONE
    moved = f" {MOVED.text(entry.other_moved)}" if entry.other_moved else ""
    return f"{entry.other_rank}{moved}"


def _benchmark(name: str) -> Column[Entry]:
    return Column(
        name,
        lambda e: e.about.benchmarks.get(name),
        AS_GIVEN,
        key=f"benchmark-{name}",
        help="A score on another benchmark, given by the operators of the study.",
    )


@dataclass(frozen=True)
class Line:
    """A row as texts; those of its interval are empty without one, and ``possible`` without other ranks.

    ``dots`` is SVG, ``cells`` holds class and text of each further cell, ``found`` says whether the search
    finds it.
    """

    entry: Entry
    rank: str
    possible: str
    rating: str
    low: str
    high: str
    arms: str
    dots: str
    cells: tuple[tuple[str, str], ...]
    found: bool


class StandingsView:
    """The table asked for; ``setting`` is the setting's end of addresses.

    Intervals are shown only with ``intervals``.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        asked: TableQuery,
        setting: str,
        *,
        other: str,
        other_method: str,
        intervals: bool,
        of_texts: Sequence[OfTexts] = NO_TEXTS,
    ) -> None:
        self.entries = entries
        self.asked = asked
        self.intervals = intervals
        self.every = bool(asked.columns)
        further = further_columns(entries, other, other_method, of_texts) if self.every else ()
        # A column of dashes says nothing.
        known = [c for c in (WINS, *further, GAMES) if any(c.text(e) != NONE for e in entries)]
        self.table = SortedTable(entries, asked, setting, (RANK, CONTESTANT, RATING), known, USUAL, RANK)
        self.axis = axis_of(entries) if intervals else None

    @property
    def ends(self) -> bool:
        """Whether a column holds the ends of intervals."""
        return self.every and any(line.arms for line in self.lines)

    @property
    def first_headings(self) -> list[Heading]:
        rank, *others = self.table.first_headings
        if any(line.possible for line in self.lines):
            rank = replace(rank, column=replace(RANK, label="Rank (range)"))
        return [rank, *others]

    @property
    def axis_drawing(self) -> SafeString:
        return mark_safe(self.axis.heading()) if self.axis else mark_safe("")  # noqa: S308 - numbers alone

    @cached_property
    def _ranks(self) -> dict[str, str]:
        return ranks_shown([entry.row for entry in self.entries])

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        return tuple(map(self._line, self.table.rows))

    def _line(self, entry: Entry) -> Line:
        row, sure = entry.row, self.intervals and entry.row.plus is not None
        return Line(
            entry,
            self._ranks[row.contestant],
            row.rank_range if self.intervals and row.rank_range != str(row.rank) else "",
            SCORE.text(row.rating),
            SCORE.text(row.low) if sure else "",
            SCORE.text(row.high) if sure else "",
            f"+{SCORE.text(row.plus)} / −{SCORE.text(row.minus)}" if sure else "",
            self.axis.row(row.rating, row.low, row.high) if self.axis else "",
            tuple(_cell(column, entry) for column in self.table.columns),
            self._found(entry),
        )

    def _found(self, entry: Entry) -> bool:
        about = f"{entry.row.contestant} {entry.about.organisation}".casefold()
        return all(word in about for word in self.asked.search.casefold().split())

    @property
    def found(self) -> int:
        return sum(line.found for line in self.lines)


def _cell(column: Column[Entry], entry: Entry) -> tuple[str, str]:
    text = column.text(entry)
    if not column.kind.startswith("num"):
        return column.kind, text
    return column.kind + (" up" if "↑" in text else " down" if "↓" in text else ""), text


def axis_of(entries: Sequence[Entry]) -> Axis | None:
    """The scale that holds the rows that are not provisional, or all where all are."""
    relied = [entry.row for entry in entries if not entry.row.provisional]
    rows = relied or [entry.row for entry in entries]
    return Axis.around(
        value for row in rows for value in (row.low, row.rating, row.high) if value is not None
    )
