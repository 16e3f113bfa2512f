"""Columns of tables that readers sort: cells, headings, and the order that an address asks for. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar
from urllib.parse import urlencode

EVERY_COLUMN: Final = "all"
"""Value of ``columns`` in an address."""

Item = TypeVar("Item")
Value = float | str | tuple[int, int] | None


def _no_ends(item: object) -> str:
    return ""


@dataclass(frozen=True)
class Column(Generic[Item]):
    """A column: its name in addresses, its heading, what it sorts by and the text of its cells.

    ``kind``: the class of its cells. ``falling``: the first click puts the largest on top. ``ends``: the text
    of a cell's interval, empty without one.
    """

    key: str
    label: str
    value: Callable[[Item], Value]
    text: Callable[[Item], str]
    kind: str = "num"
    falling: bool = True
    help: str = ""
    ends: Callable[[Item], str] = _no_ends


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
class Heading(Generic[Item]):
    """A heading whose link sorts by its column; ``sorted`` is that of aria-sort."""

    column: Column[Item]
    address: str
    sorted: str

    @property
    def element(self) -> str:
        """The id of the link."""
        return "sort-" + "".join(letter if letter.isalnum() else "-" for letter in self.column.key)


@dataclass(frozen=True)
class Order(Generic[Item]):
    """The order of rows that an address asks for; ``usual``: the column where it asks for none."""

    asked: TableQuery
    usual: Column[Item]
    column: Column[Item]

    @classmethod
    def of(cls, asked: TableQuery, usual: Column[Item], known: Sequence[Column[Item]]) -> "Order[Item]":
        """By the column asked for, or the usual one for a name that is not ``known``."""
        key = asked.sort.removeprefix("-")
        return cls(asked, usual, next((column for column in known if column.key == key), usual))

    @property
    def falling(self) -> bool:
        """True if the largest comes first."""
        return self.column.falling != (self.asked.sort == f"-{self.column.key}")

    def rows(self, items: Sequence[Item]) -> list[Item]:
        """Sort rows; equal ones stay as they stand, and those without a value come last either way."""
        value = self.column.value
        known = [item for item in items if value(item) is not None]
        unknown = [item for item in items if value(item) is None]
        return sorted(known, key=lambda item: _sortable(value(item)), reverse=self.falling) + unknown

    def heading(self, column: Column[Item], setting: str) -> Heading[Item]:
        """A heading whose link sorts by the column, or turns the order where it is the one sorted by."""
        here = column.key == self.column.key
        turned = here and self.falling == column.falling
        sort = f"-{column.key}" if turned else "" if column.key == self.usual.key else column.key
        address = TableQuery(sort, self.asked.search, self.asked.columns).query(setting)
        return Heading(column, address, ("descending" if self.falling else "ascending") if here else "")


def _sortable(value: Value) -> tuple[float, float | str]:
    if isinstance(value, tuple):
        return value
    return (0.0, value.casefold()) if isinstance(value, str) else (value or 0.0, "")
