"""Which rows of a sheet name its columns. Pure."""

import math
import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Final, NamedTuple, TypeAlias

from arena.data.formats.values import UnreadableError

Rows: TypeAlias = Sequence[tuple[int, list[str]]]
"""Rows with their numbers, from the first one with a cell."""

NONE: Final = "0"  # the choice of a table without a header
LONGEST: Final = 60  # characters of a name in the second of two header rows
_CHOICE: Final = re.compile(r"([0-9]{1,7})(?:-([0-9]{1,7}))?")
_VALUE: Final = re.compile(r"[-+]?[\d.,:/ T%-]+Z?")


class Header(NamedTuple):
    """The names of columns, the first and last row with them, the rows above, and the last before data."""

    names: list[str]
    first: int
    last: int
    above: int = 0
    end: int = 0

    @property
    def choice(self) -> str:
        """The rows, as ``find`` takes them."""
        return str(self.last) if self.first == self.last else f"{self.first}-{self.last}"

    @property
    def note(self) -> str:
        """Which rows were read how, if it is not the usual way; empty otherwise."""
        if not self.last:
            return "no row is read as names of columns"
        skipped = []
        if self.above:
            skipped.append(f"{'1 row' if self.above == 1 else f'{self.above} rows'} above the header skipped")
        if self.end > self.last:
            skipped.append(f"what is below it down to row {self.end} describes the columns and is skipped")
        if self.first != self.last:
            return "; ".join([f"rows {self.first} and {self.last} read together as the header", *skipped])
        return "; ".join([f"row {self.last} read as the header", *skipped]) if skipped else ""


def find(rows: Rows, choice: str = "") -> Header:
    """The chosen header, ``3``, ``2-3`` or ``0`` for none, or the first row that looks like one.

    Raises UnreadableError.
    """
    filled = [(number, cells) for number, cells in rows if any(map(str.strip, cells))]
    header = _chosen(filled, choice) if choice else _found(filled)
    below = [(number, cells) for number, cells in filled if number > header.last > 0]
    ends = [number for number, cells in below[:2] if _are_ids(cells)]
    return header._replace(end=max([header.last, *ends]))


def _found(filled: Rows) -> Header:
    """The first row that looks like a header."""
    for at, (number, cells) in enumerate(filled):
        below = [other for _, other in filled[at + 1 :]]
        if not below or _is_title(cells, below):
            continue
        last = filled[at + 1][0]
        if len(below) > 1 and _is_second(cells, below[0], below[1:]):
            names, alone = _names(cells, below[0]), list(map(str.strip, below[0]))
            if names == alone:
                return Header(names, last, last, at + 1)
            if len(set(names)) == len(names):
                return Header(names, number, last, at)
        return Header(list(map(str.strip, cells)), number, number, at)
    number, cells = filled[0]
    return Header(list(map(str.strip, cells)), number, number)


def _are_ids(cells: list[str]) -> bool:
    """Tell whether a row holds Qualtrics' ids of the columns, which stand below names and questions."""
    return all(cell.strip().startswith('{"ImportId"') for cell in cells if cell.strip())


def _chosen(filled: Rows, choice: str) -> Header:
    if choice == NONE:
        width = max((len(cells) for _, cells in filled), default=0)
        return Header([""] * width, 0, 0)
    found = _CHOICE.fullmatch(choice)
    if not found:
        raise UnreadableError(f'"{choice}" is no header; say a row, two such as 1-2, or {NONE} for none')
    first, last = int(found[1]), int(found[2] or found[1])
    by_number = dict(filled)
    missing = next((number for number in (first, last) if number not in by_number), None)
    if missing is not None or not 0 <= last - first <= 1:
        row = choice if missing is None else missing
        raise UnreadableError(f"row {row} cannot be the header: choose one of the first rows, or two in turn")
    names = list(map(str.strip, by_number[first]))
    above = sum(number < first for number, _ in filled)
    if first != last:
        names = _names(by_number[first], by_number[last])
    return Header(names, first, last, above)


def _is_title(cells: list[str], below: Sequence[list[str]]) -> bool:
    """Tell whether a row above a table names no columns: it has few cells for those of most rows below."""
    widths = sorted(map(_filled, below))
    usual, own = widths[len(widths) // 2], _filled(cells)
    if own > 1:
        is_one_of_several = own * 2 <= usual and _filled(below[0]) <= own
        return own * 2 < usual or is_one_of_several or (own < usual and any(map(_is_value, cells)))
    # A name alone may be that of the only column, whose texts hold separators, or of the one beside an index.
    if usual < 2 or (usual == 2 and not cells[0].strip()):
        return False
    is_sure = widths.count(usual) * 2 >= len(widths) and (usual > 2 or " " in cells[0].strip())
    return len(cells) > 1 or is_sure


def _is_second(upper: list[str], lower: list[str], below: Sequence[list[str]]) -> bool:
    """Tell whether a row names columns of the groups in the row above: short texts, unlike those below."""
    pairs = [(above.strip(), name.strip()) for above, name in zip_longest(upper, lower, fillvalue="")]
    groups = [above for above, _ in pairs if above]
    if len(groups) == len(pairs) == len(set(groups)) or not all(
        map(any, pairs[1:])
    ):  # the first may be an index
        return False
    if any(len(name) > LONGEST or _is_value(name) for _, name in pairs):
        return False
    named = [at for at, (_, name) in enumerate(pairs) if name]
    return sum(_stands_out(pairs[at][1], at, below) for at in named) * 2 >= len(named)


def _stands_out(name: str, column: int, below: Sequence[list[str]]) -> bool:
    """Tell whether the cells below a name are numbers or times, or usually much longer."""
    cells = [row[column] for row in below if len(row) > column and row[column].strip()]
    longer = sorted(math.inf if _is_value(cell) else len(cell) for cell in cells)
    return bool(longer) and longer[len(longer) // 2] >= 1.5 * len(name)


def _is_value(cell: str) -> bool:
    return _VALUE.fullmatch(cell.strip()) is not None


def _names(upper: list[str], lower: list[str]) -> list[str]:
    """The names of the lower row where they tell all columns apart, else after those of the groups above."""
    groups, last = [], ""
    for above, below in zip_longest(upper, lower, fillvalue=""):
        last = above.strip() or (last if below.strip() else "")
        groups.append(last)
    parts = [below.strip() for _, below in zip_longest(upper, lower, fillvalue="")]
    alone = [part or group for group, part in zip(groups, parts, strict=True)]
    if len(set(alone)) == len(alone):
        return alone
    return [" ".join(filter(None, names)) for names in zip(groups, parts, strict=True)]


def _filled(cells: list[str]) -> int:
    return sum(bool(cell.strip()) for cell in cells)
