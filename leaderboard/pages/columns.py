"""Columns, each declared once: how it is read from an item, and what it is in files, tables and addresses.

Tables that readers sort are of the same columns. Pure.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlencode

from leaderboard.pages.units import PLAIN, Cell, Estimate, Unit

EVERY_COLUMN: Final = "all"
"""Value of ``columns`` in an address."""

COLON: Final = ("{}: low", "{}: high")
BLANK: Final = ("{} low", "{} high")
LOW_HIGH: Final = ("Low", "High")
"""Names in files of the ends of an interval; {} is that of its number."""


def ends_at(level: float) -> tuple[str, str]:
    """The same where they name their level."""
    return f"Low ({level:g} % interval)", f"High ({level:g} % interval)"


def ends_of(name: str) -> tuple[str, str]:
    """The same with another name than that of the number."""
    return f"{name} low", f"{name} high"


Item = TypeVar("Item")
Outer = TypeVar("Outer")
Value = Cell | tuple[int, int]


@dataclass(frozen=True)
class Column(Generic[Item]):
    """A column of a table.

    ``name``: its heading in files, and on pages where there is no ``label``. ``read``: how it is read, or the
    name of a field, with dots between those of fields in fields. ``over``: the heading of pages that it
    shares with its neighbours. ``ends``: the headings of its interval in files; without them it has none.

    In tables that readers sort, ``key`` is its name in addresses, ``help`` its meaning, ``kind`` the class of
    its cells, ``write`` their text, if not the unit's, and ``sort`` what it sorts by, if not its value.
    ``falling``: the first click puts the largest on top.
    """

    name: str
    read: str | Callable[[Item], Value | Estimate]
    unit: Unit = PLAIN
    label: str = ""
    over: str = ""
    ends: tuple[str, str] | None = None
    key: str = ""
    help: str = ""
    kind: str = "num"
    write: Callable[[Item], str] | None = None
    sort: Callable[[Item], Value] | None = None
    falling: bool = True

    @property
    def heading(self) -> str:
        """Its heading in tables that readers sort, whose cells name the unit."""
        return self.label or self.name

    @property
    def title(self) -> str:
        """Its heading in other tables of pages, without the one it shares."""
        title = f"{self.label}{self.unit.suffix}" if self.label else self.name
        return title.removeprefix(f"{self.over}: ")

    @property
    def names(self) -> tuple[str, ...]:
        """Its headings in files."""
        return (self.name, *(end.replace("{}", self.name) for end in self.ends or ()))

    def found(self, item: Item) -> Any:
        """The value of an item, or its estimate."""
        if callable(self.read):
            return self.read(item)
        holder, key = _inside(item, self.read)
        found = _get(holder, key)
        if self.ends and isinstance(holder, Mapping) and not isinstance(found, Estimate):
            return Estimate.of(holder, key)
        return found

    def estimate(self, item: Item) -> Estimate:
        found = self.found(item)
        return found if isinstance(found, Estimate) else Estimate(found)

    def value(self, item: Item) -> Any:
        """Its number or text; None where it is not known."""
        found = self.found(item)
        return found.value if isinstance(found, Estimate) else found

    def cells(self, item: Item) -> tuple[Cell, ...]:
        """The cells of an item in files."""
        return tuple(self.unit.cell(each) for each in self.estimate(item)[: 3 if self.ends else 1])

    def text(self, item: Item) -> str:
        return self.write(item) if self.write else self.unit.text(self.value(item))

    def range(self, item: Item) -> str:
        """The interval of an item, empty where there is none."""
        return self.unit.range(*self.estimate(item)[1:]) if self.ends else ""


def inside(column: Column[Any], get: Callable[[Outer], Any]) -> Column[Outer]:
    """The column of items that are inside others; nothing where there is none."""

    def through(read: Callable[[Any], Any]) -> Callable[[Outer], Any]:
        return lambda outer: None if (item := get(outer)) is None else read(item)

    write, sort = (each and through(each) for each in (column.write, column.sort))
    return replace(column, read=through(column.found), write=write, sort=sort)


def bare(path: str) -> Callable[[Any], Estimate]:
    """Read an estimate whose ends stand beside it under low and high."""

    def read(item: Any) -> Estimate:
        holder, key = _inside(item, path)
        return Estimate(*(_get(holder, name) for name in (key, "low", "high")))

    return read


def place(path: str, at: int) -> Callable[[Any], Any]:
    """Read one of the values that a content keeps in a list; None without the list."""

    def read(item: Any) -> Any:
        found = _get(*_inside(item, path))
        return None if found is None else found[at]

    return read


def _inside(item: Any, path: str) -> tuple[Any, str]:
    """What holds the last name of a path, and that name; an empty content where there is nothing."""
    *parents, key = path.split(".")
    for parent in parents:
        item = _get(item, parent) or {}
    return item, key


def _get(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name)


@dataclass(frozen=True)
class TableQuery:
    """What an address asks of a table: a column to sort by, a text to search for, and all columns.

    ``sort`` is a column's name, with a minus sign in front for the other direction.
    """

    sort: str = ""
    search: str = ""
    columns: str = ""

    @classmethod
    def of(cls, wanted: Mapping[str, str], usual: Sequence[Column[Item]]) -> "TableQuery":
        """Read an address. Sorting by a column beyond the ``usual`` ones shows all of them."""
        sort, search = wanted.get("sort", "")[:100], " ".join(wanted.get("search", "").split())[:100]
        every = wanted.get("columns") == EVERY_COLUMN or not _is_among(sort, usual)
        return cls(sort, search, EVERY_COLUMN if every else "")

    def query(self, setting: str) -> str:
        """The end of an address; ``setting`` is its beginning, empty or from the question mark on."""
        more = urlencode({name: value for name, value in vars(self).items() if value})
        return setting + ("&" if setting else "?") * bool(more) + more or "?"

    def turned(self, usual: Sequence[Column[Item]]) -> "TableQuery":
        """Ask for all columns, or for the usual ones alone where all are shown."""
        if not self.columns:
            return TableQuery(self.sort, self.search, EVERY_COLUMN)
        return TableQuery(self.sort if _is_among(self.sort, usual) else "", self.search)


def _is_among(sort: str, usual: Sequence[Column[Item]]) -> bool:
    return sort.removeprefix("-") in ("", *(column.key for column in usual))


@dataclass(frozen=True)
class Heading:
    """A heading whose link sorts by its column; ``sorted`` is that of aria-sort."""

    column: Column[Any]
    address: str
    sorted: str

    @property
    def element(self) -> str:
        """The id of the link."""
        return "sort-" + "".join(letter if letter.isalnum() else "-" for letter in self.column.key)


@dataclass(frozen=True)
class SortedTable(Generic[Item]):
    """A table in the order that an address asks for; ``setting`` is the beginning of addresses.

    ``first`` stand in front of the drawn interval and ``columns`` behind it. ``usual`` are those that are
    shown before all are asked for, and ``by`` is sorted by where the address names no column.
    """

    items: Sequence[Item]
    asked: TableQuery
    setting: str
    first: Sequence[Column[Item]]
    columns: Sequence[Column[Item]]
    usual: Sequence[Column[Item]]
    by: Column[Item]

    @cached_property
    def _column(self) -> Column[Item]:
        key = self.asked.sort.removeprefix("-")
        return next((column for column in (*self.first, *self.columns) if column.key == key), self.by)

    @property
    def falling(self) -> bool:
        """True if the largest comes first."""
        return self._column.falling != (self.asked.sort == f"-{self._column.key}")

    @cached_property
    def rows(self) -> list[Item]:
        """The items in order; equal ones stay as they stand, and those without a value come last."""
        value = self._column.sort or self._column.value
        known = [item for item in self.items if value(item) is not None]
        unknown = [item for item in self.items if value(item) is None]
        return sorted(known, key=lambda item: _sortable(value(item)), reverse=self.falling) + unknown

    def heading(self, column: Column[Item]) -> Heading:
        """A heading whose link sorts by the column, or turns the order where it is the one sorted by."""
        here = column.key == self._column.key
        turned = here and self.falling == column.falling
        sort = f"-{column.key}" if turned else "" if column.key == self.by.key else column.key
        address = TableQuery(sort, self.asked.search, self.asked.columns).query(self.setting)
        return Heading(column, address, ("descending" if self.falling else "ascending") if here else "")

    @property
    def first_headings(self) -> list[Heading]:
        return [self.heading(column) for column in self.first]

    @property
    def headings(self) -> list[Heading]:
        return [self.heading(column) for column in self.columns]

    @property
    def explained(self) -> list[Column[Item]]:
        """The columns whose meaning is told below the table."""
        return [column for column in (*self.first, *self.columns) if column.help and column.kind != "name"]

    @property
    def columns_query(self) -> str:
        """The address with all columns, or with the usual ones where all are shown."""
        return self.asked.turned(self.usual).query(self.setting)


def _sortable(value: Value) -> tuple[float, float | str]:
    if isinstance(value, tuple):
        return value
    return (0.0, value.casefold()) if isinstance(value, str) else (value or 0.0, "")
