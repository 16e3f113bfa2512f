"""What tables share: cells, CSV, and how a page arranges them. Pure."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Final, TypeVar

from arena.files.writing import guarded

Cell = str | int | float | None


@dataclass(frozen=True)
class DataTable:
    """Numbers of a figure; the first column names the row.

    ``words``: what a page writes over columns whose names the file keeps.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    words: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, caption: str, rows: Iterable[Mapping[str, Cell]], words: Mapping[str, str] | None = None
    ) -> "DataTable":
        """A table of rows that name their columns, all the same ones."""
        listed = list(rows)
        columns = tuple(listed[0]) if listed else ()
        return cls(caption, columns, tuple(tuple(row.values()) for row in listed), words or {})

    @property
    def by_column(self) -> list[tuple[Cell, ...]]:
        return list(zip(*self.rows, strict=True)) or [()] * len(self.columns)

    def csv(self) -> str:
        """CSV with an apostrophe before texts that a spreadsheet would run as a formula."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow([_safe(column) for column in self.columns])
        writer.writerows([_safe(cell) for cell in row] for row in self.rows)
        return out.getvalue()


def percent_cell(share: float | None) -> float | None:
    """A share in percent, as exact as shares are stored: a page rounds it once more; None stays."""
    return None if share is None else round(100 * share, 4)


def _safe(cell: Cell) -> Cell:
    return guarded(cell) if isinstance(cell, str) else cell


Item = TypeVar("Item")
Row = tuple[Cell, ...]
NUMBERS: Final = (int, float)

_END: Final = re.compile(r"\b(low|high)\b", re.IGNORECASE)
_READ: Final = {
    "alpha among themselves": "alpha",
    "bradley-terry rating": "Bradley-Terry score",
    "changed %": "changes its verdict (%)",
    "completions": "answers",
    "contestant": "model",
    "elo rating": "Elo score",
    "comparisons": "ratings",
    "comparisons (n)": "ratings",
    "difference: rating": "score above the other setting",
    "difference: places": "places above the other setting",
    "effective votes": "effective ratings",
    "first %": "first (%)",
    "flip %": "changes its verdict (%)",
    "games": "ratings",
    "kappa with people": "weighted kappa",
    "longer wins %": "longer wins (%)",
    "met": "number met",
    "met (%)": "requirements met (%)",
    "neutral mean": "mean rating without bias",
    "other games": "other ratings",
    "other share %": "other win share (%)",
    "pairs (n)": "pairs",
    "pearson r with people": "agrees with people (r)",
    "points won %": "points won (%)",
    "prefers first %": "prefers the first (%)",
    "rank (ub)": "best rank by intervals",
    "rater count": "raters",
    "rating": "score",
    "rating change": "score change",
    "ratings (n)": "ratings",
    "ratings compared (n)": "ratings compared",
    "requirements met": "number met",
    "same verdict %": "same verdict (%)",
    "score from pairs": "Elo score",
    "share %": "win share (%)",
    "share of points: %": "win share (%)",
    "share, %": "not rated (%)",
    "standard deviation": "SD",
    "text score above the average model": "above average",
    "tie %": "tie share (%)",
    "unscored": "replies not rated",
    "votes": "ratings",
    "win %": "outright wins (%)",
    "win rate": "win share (%)",
    "win share %": "win share (%)",
    "without bias": "mean rating without bias",
}
"""Names of columns that pages write in the words of docs/methodology.md (Measures); files keep theirs."""

_IN_PERCENT: Final = ("win rate",)
"""Columns of shares that pages write in percent."""


def _end(label: str) -> str:
    """Which end of an interval a column holds: low, high or none."""
    found = _END.search(label)
    return found[0].lower() if found else ""


def _read(label: str) -> str:
    if word := _READ.get(label.lower()):
        return word[:1].upper() + word[1:] if label[:1].isupper() else word
    heading, colon, last = label.rpartition(": ")
    return heading + colon + _read(last) if colon else label


@dataclass(frozen=True)
class Column:
    """``has_ends``: the next two columns are the ends of its interval and belong into its cells.

    ``decimals``: how many its numbers below 10 need to line up, one or two; one for percentages. Its numbers
    are written ``times`` as large.
    """

    place: int
    label: str
    numeric: bool
    decimals: int
    has_ends: bool = False
    times: int = 1

    def under(self, heading: str) -> "Column":
        label = self.label.removeprefix(f"{heading}: ")
        return replace(self, label=label[:1].upper() + label[1:])


@dataclass(frozen=True)
class Arranged:
    """A table without empty columns, with shared headings, names written once, and intervals in one cell."""

    table: DataTable

    @cached_property
    def name_place(self) -> int:
        """The column that names a row: the second where the first says the same for several rows."""
        names = [row[0] for row in self.table.rows]
        runs = len(list(groupby(names)))
        repeated = runs == len(set(names)) and 2 * runs <= len(names)
        texts = all(isinstance(cell, str) for row in self.table.rows for cell in row[:2])
        return int(bool(names) and repeated and texts and len(self.table.columns) > 1)

    @property
    def name(self) -> str:
        name = self.table.columns[self.name_place]
        return _read(name) if name in ("Contestant", "Votes") else name

    @cached_property
    def columns(self) -> list[tuple[str, list[Column]]]:
        """The other columns that are not empty, under their shared heading or ""."""
        groups: list[tuple[str, list[Column]]] = []
        shown = list(self._shown())
        for heading, run in _runs(shown, [column.label.rpartition(": ")[0] for column in shown]):
            if heading and len(run) > 1:
                groups.append((heading, [column.under(heading) for column in run]))
            elif heading and run[0].has_ends:  # whatever it is, it is the same under every heading
                groups.append(("", [replace(run[0], label=heading)]))
            else:
                groups += [("", [column]) for column in run]
        return groups

    def _shown(self) -> Iterator[Column]:
        labels, name = self.table.columns, self.name_place
        ends = [_end(label) for label in labels]
        # Where the two ends of an interval begin, behind their number.
        lows = {at for at in range(name + 2, len(labels) - 1) if ends[at : at + 2] == ["low", "high"]}
        for place, cells in enumerate(self.table.by_column):
            is_end = place in lows or place - 1 in lows
            if place > name and not is_end and (not cells or any(cell not in (None, "") for cell in cells)):
                label = labels[place]
                shown = _read(self.table.words.get(label, label))
                places = 1 if "%" in shown else decimals(cells)
                times = 100 if label.rpartition(": ")[2].lower() in _IN_PERCENT else 1
                yield Column(place, shown, holds_numbers(cells), places, place + 1 in lows, times)

    @property
    def rows(self) -> list[tuple[str, list[Row]]]:
        """The rows under their shared name or ""."""
        if not self.name_place:
            return [("", list(self.table.rows))]
        return _runs(self.table.rows, [str(row[0]) for row in self.table.rows])


def holds_numbers(column: Iterable[Cell]) -> bool:
    return any(isinstance(cell, NUMBERS) for cell in column)


def decimals(column: Iterable[Cell]) -> int:
    """Decimals that numbers below 10 of a column need to line up: one or two."""
    below = (value for value in column if isinstance(value, float) and abs(value) < 10)
    return 2 if any(not f"{value:.2f}".endswith("0") for value in below) else 1


def _runs(items: Sequence[Item], keys: Iterable[str]) -> list[tuple[str, list[Item]]]:
    keyed = zip(keys, items, strict=True)
    return [(key, [item for _, item in run]) for key, run in groupby(keyed, key=lambda pair: pair[0])]


@dataclass(frozen=True)
class Matrix:
    """A square matrix of names: ``values[i][j]`` is about i against j."""

    names: tuple[str, ...]
    values: tuple[tuple[float | int | None, ...], ...]

    def table(self, caption: str) -> DataTable:
        rows = zip(self.names, self.values, strict=True)
        return DataTable(
            caption, ("Contestant", *self.names), tuple((name, *values) for name, values in rows)
        )
