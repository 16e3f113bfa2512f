"""The standings of a board as its page shows them: sorted, searched, with links and drawings. No database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.utils.safestring import SafeString, mark_safe

from leaderboard.standings.columns import (
    CONTESTANT,
    RANK,
    RATING,
    Column,
    Entry,
    further_columns,
    ordered,
    whole,
)
from leaderboard.standings.dots import Axis

RANK_HELP = "Rank by rating, and in brackets the best rank that the intervals leave possible"


@dataclass(frozen=True)
class Asked:
    """What an address asks of the table beside the setting: a column to sort by, a text to search for.

    ``sort`` is a column's name, after a minus sign for the other direction than the column's own.
    """

    sort: str = ""
    search: str = ""

    @classmethod
    def of(cls, wanted: Mapping[str, str]) -> "Asked":
        return cls(wanted.get("sort", "")[:100], " ".join(wanted.get("search", "").split())[:100])

    def query(self, setting: str) -> str:
        """A setting's end of an address with this added."""
        more = urlencode({name: value for name, value in vars(self).items() if value})
        return setting + ("&" if setting else "?") * bool(more) + more


@dataclass(frozen=True)
class Heading:
    """The head of a column: a link that sorts, and ``sorted`` as aria-sort says it."""

    column: Column
    address: str
    sorted: str

    @property
    def element(self) -> str:
        return "sort-" + "".join(letter if letter.isalnum() else "-" for letter in self.column.key)


@dataclass(frozen=True)
class Line:
    """A row as texts, those of its interval empty without one.

    ``dots`` is its drawing as SVG, ``cells`` the class and text of each cell behind that, ``found`` whether
    the search finds the row.
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
    """The table for what was asked; ``setting`` is the setting's end of addresses.

    ``intervals`` says whether the intervals mean anything: with one prompt they do not.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        asked: Asked,
        setting: str,
        *,
        other_ties: str,
        other_method: str,
        intervals: bool,
    ) -> None:
        self.entries = entries
        self.asked = asked
        self.setting = setting
        self.intervals = intervals
        self.further = further_columns(entries, other_ties, other_method)
        self.axis = axis_of(entries) if intervals else None

    @cached_property
    def _sorting(self) -> tuple[Column, bool]:
        """The column sorted by, rank where none has that name, and whether the largest comes first."""
        key, other_way = self.asked.sort.removeprefix("-"), self.asked.sort.startswith("-")
        named = {column.key: column for column in (RANK, CONTESTANT, RATING, *self.further)}
        column = named.get(key, RANK)
        return column, column.falling != (other_way and column.key == key)

    @cached_property
    def headings(self) -> tuple[Heading, ...]:
        """The heads of the columns behind the drawing."""
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
        address = Asked(sort, self.asked.search).query(self.setting)
        return Heading(column, address, ("descending" if falling else "ascending") if here else "")

    @property
    def axis_drawing(self) -> SafeString:
        """The shared axis, for the head of its column; empty without intervals."""
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
        """How many rows the search leaves."""
        return sum(line.found for line in self.lines)


def _cell(column: Column, entry: Entry) -> tuple[str, str]:
    """The class of a cell, which tells up from down, and its text."""
    text = column.text(entry)
    if not column.kind.startswith("num"):
        return column.kind, text
    return column.kind + (" up" if "↑" in text else " down" if "↓" in text else ""), text


def axis_of(entries: Sequence[Entry]) -> Axis | None:
    """The scale of the drawings: it holds the rows that can be relied on, or all where none can."""
    relied = [entry.row for entry in entries if not entry.row.provisional]
    rows = relied or [entry.row for entry in entries]
    return Axis.around(
        value for row in rows for value in (row.low, row.rating, row.high) if value is not None
    )
