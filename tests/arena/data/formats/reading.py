"""Writing small files and reading them back as records."""

import json
from pathlib import Path
from typing import Any, Final

import openpyxl

from arena.data.formats import table
from arena.data.formats.catalogue import gather
from arena.data.formats.records import Item, Problem, Unused
from arena.data.formats.table import ColumnMapping

ROWS: Final[dict[str, dict[str, Any]]] = json.loads(Path(__file__).with_name("rows.json").read_text())
"""A row of each kind of file of other data sets, and some of our own, by what it is."""


def write_lines(folder: Path, name: str, *rows: Any) -> Path:
    """A file with one line per row: objects as JSON, texts as they are."""
    path = folder / name
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def workbook(folder: Path, *rows: list[Any], name: str = "data.xlsx", more: tuple[str, ...] = ()) -> Path:
    """An Excel workbook with these rows in its first sheet, and with ``more`` empty ones."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for title in more:
        book.create_sheet(title)
    book.save(folder / name)
    return folder / name


def read(*paths: Path, format_name: str = "", mapping: ColumnMapping | None = None) -> list[Item]:
    """What the files yield, but for their unused columns."""
    found = gather(paths, table.NAME if mapping else format_name, mapping=mapping)
    return [item for item in found.items() if not isinstance(item, Unused)]


def problems(*paths: Path, format_name: str = "") -> list[tuple[int, str, str]]:
    """Line, field and reason of every problem."""
    found = [item for item in read(*paths, format_name=format_name) if isinstance(item, Problem)]
    return [(problem.place.line, problem.field, problem.reason) for problem in found]
