"""The table of standings on the board: sorted, searched, with links and drawings. No database."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, floor, log10
from typing import Final
from urllib.parse import urlencode

from django.utils.safestring import SafeString, mark_safe

from leaderboard.standings.table import Row

# Small drawings of ratings and intervals in the rows. They are for the eye alone: the numbers stand in cells
# of their own. Shapes have classes in place of colours, so they follow the style sheet.


WIDTH: Final = 150
HEIGHT: Final = 20
_EDGE: Final = 14
_MOST_TICKS: Final = 4


@dataclass(frozen=True)
class Axis:
    """A shared scale of ratings from ``low`` to ``high``."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Iterable[float]) -> "Axis | None":
        """None without values."""
        held = list(values)
        if not held:
            return None
        low, high = min(held), max(held)
        room = max((high - low) * 0.03, 1.0)
        return cls(low - room, high + room)

    def place(self, rating: float) -> float:
        """Where a rating is, in units of the drawing; one beyond the axis is at its end."""
        share = (min(max(rating, self.low), self.high) - self.low) / (self.high - self.low)
        return round(_EDGE + share * (WIDTH - 2 * _EDGE), 1)

    @cached_property
    def ticks(self) -> list[int]:
        """Two to five whole numbers, evenly spaced by 1, 2 or 5 times a power of ten."""
        step = _step((self.high - self.low) / _MOST_TICKS)
        return list(range(ceil(self.low / step) * step, floor(self.high / step) * step + 1, step))

    def heading(self) -> str:
        marks = "".join(
            f'<text x="{self.place(tick)}" y="12" text-anchor="middle">{tick}</text>'
            f'<path d="M{self.place(tick)} 16V20"/>'
            for tick in self.ticks
        )
        return _svg(marks, "dots-axis")

    def row(self, rating: float, low: float | None, high: float | None) -> str:
        """A dot on the line of its interval, as SVG; an arm that leaves the axis ends in an arrow."""
        shapes = self._grid
        if low is not None and high is not None:
            shapes += self._arms(low, high)
        if self.low <= rating <= self.high:
            shapes += f'<circle cx="{self.place(rating)}" cy="10" r="4"/>'
        return _svg(shapes, "dots")

    @cached_property
    def _grid(self) -> str:
        lines = "".join(f"M{self.place(tick)} 0V{HEIGHT}" for tick in self.ticks)
        return f'<path class="dots-grid" d="{lines}"/>'

    def _arms(self, low: float, high: float) -> str:
        start, end = self.place(low), self.place(high)
        drawn = f"M{start} 10H{end}"
        drawn += f"M{start} 7V13" if low >= self.low else f"M{start} 10l5 -4M{start} 10l5 4"
        drawn += f"M{end} 7V13" if high <= self.high else f"M{end} 10l-5 -4M{end} 10l-5 4"
        return f'<path class="dots-arms" d="{drawn}"/>'


def _step(wide: float) -> int:
    """The least of 1, 2, 5, 10, 20 ... that is at least ``wide``."""
    power: int = 10 ** max(floor(log10(wide)), 0) if wide > 0 else 1
    return next((factor * power for factor in (1, 2, 5) if factor * power >= wide), 10 * power)


def _svg(shapes: str, name: str) -> str:
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg class="{name}" {size} aria-hidden="true" focusable="false">{shapes}</svg>'


NOTHING: Final = "–"


@dataclass(frozen=True)
class About:
    organisation: str = ""
    licence: str = ""
    address: str = ""
    benchmarks: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """A row with everything its columns need; None where unknown.

    ``moved`` is how many places it stands higher in this category than in all; ``other_rank``,
    ``other_rating`` and ``other_moved`` (places higher) are of the standings beside.
    """

    row: Row
    about: About = About()
    moved: int | None = None
    other_rank: int | None = None
    other_rating: float | None = None
    other_moved: int | None = None


Value = float | str | None


@dataclass(frozen=True)
class Column:
    """A column: its name in addresses, its heading, what it sorts by and the text of its cells.

    ``kind`` is the class of its cells; with ``falling`` the first click puts the largest on top.
    """

    key: str
    label: str
    value: Callable[[Entry], Value]
    text: Callable[[Entry], str]
    kind: str = "num"
    falling: bool = True
    help: str = ""


def ordered(entries: Sequence[Entry], column: Column, *, falling: bool) -> list[Entry]:
    """Equal rows stand by rank, and those without a value last either way."""
    known = [entry for entry in entries if column.value(entry) is not None]
    unknown = [entry for entry in entries if column.value(entry) is None]
    return sorted(known, key=lambda entry: _sortable(column.value(entry)), reverse=falling) + unknown


def _sortable(value: Value) -> tuple[float, str]:
    return (0.0, value.casefold()) if isinstance(value, str) else (value or 0.0, "")


RANK: Final = Column("rank", "Rank (UB)", lambda e: e.row.rank, lambda e: str(e.row.rank), falling=False)
CONTESTANT: Final = Column(
    "contestant", "Contestant", lambda e: e.row.contestant, lambda e: e.row.contestant, falling=False
)
RATING: Final = Column("rating", "Rating", lambda e: e.row.rating, lambda e: whole(e.row.rating))


def further_columns(entries: Sequence[Entry], other: str, other_method: str) -> tuple[Column, ...]:
    """The columns after the interval that have something to say.

    ``other`` (empty for none) and ``other_method`` name what the numbers beside are by.
    """
    return (
        *_change(entries),
        *_certainty(),
        *_counts(),
        *(_other(other) if other else ()),
        Column("beside", other_method, lambda e: e.row.beside, lambda e: whole(e.row.beside)),
        *_benchmarks(entries),
        *_words(entries),
    )


def _change(entries: Sequence[Entry]) -> Iterator[Column]:
    if any(entry.moved is not None for entry in entries):
        yield Column(
            "change",
            "Δ rank",
            lambda e: e.moved,
            lambda e: moved_text(e.moved),
            help="Places higher (+) or lower (−) than over all categories",
        )


def _certainty() -> Iterator[Column]:
    # Groups are letters by best member, so they sort as the ranking does.
    yield Column(
        "group",
        "Group",
        lambda e: e.row.group or None,
        lambda e: e.row.group_shown or NOTHING,
        "mono",
        falling=False,
        help="Those who share a letter cannot be told apart",
    )
    yield Column("first", "First %", lambda e: e.row.first_percent, lambda e: whole(e.row.first_percent))


def _counts() -> Iterator[Column]:
    yield Column("games", "Games", lambda e: e.row.games, lambda e: f"{e.row.games:,}")
    yield Column("wins", "Win %", lambda e: e.row.win_percent, lambda e: f"{e.row.win_percent:.1f}")
    yield Column("ties", "Tie %", lambda e: e.row.tie_percent, lambda e: f"{e.row.tie_percent:.1f}")


def _other(name: str) -> Iterator[Column]:
    yield Column(
        "other-rank", f"{name}: rank", lambda e: e.other_rank, _other_rank, "num nowrap", falling=False
    )
    yield Column("other-rating", f"{name}: rating", lambda e: e.other_rating, lambda e: whole(e.other_rating))


def _other_rank(entry: Entry) -> str:
    if entry.other_rank is None:
        return NOTHING
    return (
        f"{entry.other_rank} {moved_text(entry.other_moved)}" if entry.other_moved else str(entry.other_rank)
    )


def _benchmarks(entries: Sequence[Entry]) -> Iterator[Column]:
    names = sorted({name for entry in entries for name in entry.about.benchmarks})
    for name in names:
        yield Column(
            f"benchmark-{name}",
            name,
            lambda e, name=name: e.about.benchmarks.get(name),  # type: ignore[misc]
            lambda e, name=name: _score(e.about.benchmarks.get(name)),  # type: ignore[misc]
            help="A score on another benchmark, as the study's operators gave it",
        )


def _words(entries: Sequence[Entry]) -> Iterator[Column]:
    for name in ("organisation", "licence"):
        if any(getattr(entry.about, name) for entry in entries):
            yield Column(
                name,
                name.capitalize(),
                lambda e, name=name: getattr(e.about, name) or None,  # type: ignore[misc]
                lambda e, name=name: getattr(e.about, name) or NOTHING,  # type: ignore[misc]
                "word",
                falling=False,
            )


def whole(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.0f}"


def moved_text(places: int | None) -> str:
    if places is None:
        return NOTHING
    if places == 0:
        return "="
    return f"↑+{places}" if places > 0 else f"↓−{-places}"


def _score(value: float | None) -> str:
    return NOTHING if value is None else f"{value:g}"


RANK_HELP = "Rank by rating, and in brackets the best rank that the intervals leave possible"


@dataclass(frozen=True)
class TableQuery:
    """What an address asks of the table: a column to sort by and a text to search for.

    ``sort`` is a column's name, with a minus sign in front for the other direction.
    """

    sort: str = ""
    search: str = ""

    @classmethod
    def of(cls, wanted: Mapping[str, str]) -> "TableQuery":
        return cls(wanted.get("sort", "")[:100], " ".join(wanted.get("search", "").split())[:100])

    def query(self, setting: str) -> str:
        more = urlencode({name: value for name, value in vars(self).items() if value})
        return setting + ("&" if setting else "?") * bool(more) + more


@dataclass(frozen=True)
class Heading:
    """A head whose link sorts by its column; ``sorted`` is that of aria-sort."""

    column: Column
    address: str
    sorted: str

    @property
    def element(self) -> str:
        return "sort-" + "".join(letter if letter.isalnum() else "-" for letter in self.column.key)


@dataclass(frozen=True)
class Line:
    """A row as texts; those of its interval are empty without one.

    ``dots`` is SVG, ``cells`` holds class and text of each further cell, ``found`` says whether the search
    finds it.
    """

    entry: Entry
    rank: str
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
    ) -> None:
        self.entries = entries
        self.asked = asked
        self.setting = setting
        self.intervals = intervals
        self.further = further_columns(entries, other, other_method)
        self.axis = axis_of(entries) if intervals else None

    @cached_property
    def _sorting(self) -> tuple[Column, bool]:
        """The column sorted by (rank for an unknown name) and whether the largest comes first."""
        key, other_way = self.asked.sort.removeprefix("-"), self.asked.sort.startswith("-")
        named = {column.key: column for column in (RANK, CONTESTANT, RATING, *self.further)}
        column = named.get(key, RANK)
        return column, column.falling != (other_way and column.key == key)

    @cached_property
    def headings(self) -> tuple[Heading, ...]:
        return tuple(map(self._heading, self.further))

    @property
    def rank(self) -> Heading:
        return self._heading(RANK)

    @property
    def contestant(self) -> Heading:
        return self._heading(CONTESTANT)

    @property
    def rating(self) -> Heading:
        return self._heading(RATING)

    def _heading(self, column: Column) -> Heading:
        sorted_by, falling = self._sorting
        here = column.key == sorted_by.key
        turned = here and falling == column.falling
        sort = f"-{column.key}" if turned else "" if column.key == RANK.key else column.key
        address = TableQuery(sort, self.asked.search).query(self.setting)
        return Heading(column, address, ("descending" if falling else "ascending") if here else "")

    @property
    def axis_drawing(self) -> SafeString:
        return mark_safe(self.axis.heading()) if self.axis else mark_safe("")  # noqa: S308 - numbers alone

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        column, falling = self._sorting
        return tuple(map(self._line, ordered(self.entries, column, falling=falling)))

    def _line(self, entry: Entry) -> Line:
        row, sure = entry.row, self.intervals and entry.row.plus is not None
        return Line(
            entry,
            str(row.rank) if row.rank_ub is None else f"{row.rank} ({row.rank_ub})",
            whole(row.rating),
            whole(row.low) if sure else "",
            whole(row.high) if sure else "",
            f"+{whole(row.plus)} / −{whole(row.minus)}" if sure else "",
            self.axis.row(row.rating, row.low, row.high) if self.axis else "",
            tuple(_cell(column, entry) for column in self.further),
            self._found(entry),
        )

    def _found(self, entry: Entry) -> bool:
        about = f"{entry.row.contestant} {entry.about.organisation}".casefold()
        return all(word in about for word in self.asked.search.casefold().split())

    @property
    def found(self) -> int:
        return sum(line.found for line in self.lines)


def _cell(column: Column, entry: Entry) -> tuple[str, str]:
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
