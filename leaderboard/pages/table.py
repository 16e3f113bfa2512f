"""What every table is made of: cells, rows, and the way to CSV."""

import csv
import io
from dataclasses import dataclass
from typing import Final

Cell = str | int | float | None

_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n")


@dataclass(frozen=True)
class DataTable:
    """The numbers of a figure; the first column names the row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def header(self) -> list[tuple[str, bool]]:
        """The columns, each with whether it holds numbers."""
        numbers = [
            any(isinstance(row[place], int | float) for row in self.rows)
            for place in range(len(self.columns))
        ]
        return list(zip(self.columns, numbers, strict=True))

    def csv(self) -> str:
        """The table as CSV; a text that a spreadsheet would run as a formula gets an apostrophe in front."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow([_safe(column) for column in self.columns])
        writer.writerows([_safe(cell) for cell in row] for row in self.rows)
        return out.getvalue()


def _safe(cell: Cell) -> Cell:
    if isinstance(cell, str) and cell.lstrip(" ").startswith(_FORMULA_STARTS):
        return f"'{cell}"
    return cell
