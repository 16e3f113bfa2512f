"""Tables of declared columns: their CSV, and how a page arranges them. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, Self, TypeVar

from arena.files.writing import csv_lines, guarded
from leaderboard.pages.columns import Column
from leaderboard.pages.units import Cell

Item = TypeVar("Item")
NUMBERS: Final = (int, float)


@dataclass(frozen=True)
class DataTable:
    """Numbers of a figure: ``declared`` columns, of which the first names the row, and items, one a row."""

    caption: str
    declared: Sequence[Column[Any]]
    items: Sequence[Any]

    @classmethod
    def of(cls, caption: str, columns: Iterable[Column[Item]], items: Iterable[Item]) -> Self:
        """A table of items by columns that are declared for such."""
        return cls(caption, tuple(columns), tuple(items))

    @classmethod
    def plain(cls, caption: str, names: Iterable[str], rows: Iterable[Sequence[Cell]]) -> Self:
        """A table of rows of cells, whose columns have names alone."""
        return cls.of(
            caption, [Column[Sequence[Cell]](name, itemgetter(at)) for at, name in enumerate(names)], rows
        )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The headings of its file."""
        return tuple(name for column in self.declared for name in column.names)

    @cached_property
    def rows(self) -> tuple[tuple[Cell, ...], ...]:
        """The cells of its file."""
        return tuple(
            tuple(cell for column in self.declared for cell in column.cells(item)) for item in self.items
        )

    @property
    def has_intervals(self) -> bool:
        """If any number has one."""
        return any(column.estimate(item).low is not None for column in self.declared for item in self.items)

    def csv(self) -> str:
        """CSV with an apostrophe before texts that a spreadsheet would run as a formula."""
        return csv_lines([_safe(cell) for cell in row] for row in (self.columns, *self.rows))


def _safe(cell: Cell) -> Cell:
    return guarded(cell) if isinstance(cell, str) else cell


@dataclass(frozen=True)
class Shown:
    """A column of a page under its ``label``; for each row its cell of files, and those of its interval."""

    column: Column[Any]
    label: str
    cells: Sequence[tuple[Cell, ...]]

    @cached_property
    def numeric(self) -> bool:
        return any(isinstance(value, NUMBERS) for value, *_ in self.cells)

    @cached_property
    def places(self) -> int:
        """Decimals that its numbers below 10 need to line up."""
        places = self.column.unit.places
        return decimals(value for value, *_ in self.cells) if places is None else places


@dataclass(frozen=True)
class Arranged:
    """A table without empty columns, with shared headings, and names written once."""

    table: DataTable

    @cached_property
    def _columns(self) -> list[Shown]:
        return [
            Shown(column, column.title, [column.cells(item) for item in self.table.items])
            for column in self.table.declared
        ]

    @cached_property
    def name_place(self) -> int:
        """The column that names a row: the second where the first says the same for several rows."""
        if len(self._columns) < 2:
            return 0
        first, second = ([value for value, *_ in column.cells] for column in self._columns[:2])
        runs = len(list(groupby(first)))
        repeated = runs == len(set(first)) and 2 * runs <= len(first)
        return int(bool(first) and repeated and all(isinstance(name, str) for name in (*first, *second)))

    @property
    def name(self) -> str:
        return self._columns[self.name_place].label

    @cached_property
    def names(self) -> list[Cell]:
        """What stands in front of each row."""
        return [value for value, *_ in self._columns[self.name_place].cells]

    @cached_property
    def columns(self) -> list[tuple[str, list[Shown]]]:
        """The other columns that are not empty, under their shared heading or ""."""
        groups: list[tuple[str, list[Shown]]] = []
        shown = [column for column in self._columns[self.name_place + 1 :] if not _is_empty(column)]
        for heading, run in groupby(shown, key=lambda each: each.column.over):
            under = list(run)
            if heading and len(under) > 1:
                groups.append((heading, [replace(each, label=_capitalised(each.label)) for each in under]))
            elif heading:  # an interval is the same under every heading
                (only,) = under
                label = heading if only.column.ends else f"{heading}: {only.label}"
                groups.append(("", [replace(only, label=label)]))
            else:
                groups += [("", [each]) for each in under]
        return groups

    @cached_property
    def rows(self) -> list[tuple[str, list[int]]]:
        """The places of the rows under their shared name or ""."""
        if not self.name_place:
            return [("", list(range(len(self.table.items))))]
        named = enumerate(value for value, *_ in self._columns[0].cells)
        return [(str(name), [at for at, _ in run]) for name, run in groupby(named, key=itemgetter(1))]


def _is_empty(column: Shown) -> bool:
    return bool(column.cells) and all(value in (None, "") for value, *_ in column.cells)


def _capitalised(label: str) -> str:
    return label[:1].upper() + label[1:]


def decimals(column: Iterable[Cell]) -> int:
    """Decimals that numbers below 10 of a column need to line up: one or two."""
    below = (value for value in column if isinstance(value, float) and abs(value) < 10)
    return 2 if any(not f"{value:.2f}".endswith("0") for value in below) else 1


@dataclass(frozen=True)
class Matrix:
    """A square matrix of names: ``values[i][j]`` is about i against j."""

    names: tuple[str, ...]
    values: tuple[tuple[float | int | None, ...], ...]

    def _rows(self) -> list[tuple[Cell, ...]]:
        return [(name, *values) for name, values in zip(self.names, self.values, strict=True)]

    def table(self, caption: str) -> DataTable:
        found = DataTable.plain(caption, ("Contestant", *self.names), self._rows())
        return replace(found, declared=(replace(found.declared[0], label="Model"), *found.declared[1:]))
