"""Reads a sheet of an Excel workbook (.xlsx) as CSV would hold it. Pure."""

import zipfile
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from arena.data.formats.values import UnreadableError

MAX_ROWS: Final = 1_048_576  # of a sheet
MAX_CELLS: Final = 50_000_000  # of a sheet: a row with one cell in the last column has 16,384
MAX_AT_ONCE: Final = 50 * 1024 * 1024  # unpacked bytes of what is read at once: all but the sheets
MAX_STYLES: Final = 5 * 1024 * 1024  # of these, what takes many times its size in memory
TOP: Final = 64  # rows by which a sheet is known
MAX_RATIO: Final = 100  # how many times its size a large workbook may unpack to


class SheetRow(NamedTuple):
    """A row with its number from 1, and the share of rows read so far."""

    number: int
    cells: list[str]
    share: float


def is_workbook(path: Path) -> bool:
    """Tell whether a file is a workbook by its content. Raises OSError and BadZipFile."""
    with path.open("rb") as file:
        if file.read(4) != b"PK\x03\x04":
            return False
        with zipfile.ZipFile(file) as archive:
            return "xl/workbook.xml" in archive.namelist()


def rows(path: Path, limit: int, sheets: list[str], wanted: str = "") -> Iterator[SheetRow]:
    """The rows of the wanted sheet or the first with a table, without empty cells at their end.

    ``sheets`` gets the names of all, that one first.
    ``limit`` is the most that the file may unpack to, in bytes. Raises UnreadableError.
    """
    import openpyxl  # takes a tenth of a second, which every start would wait for

    _check_size(path, limit)
    try:
        # A path would have to end in .xlsx.
        with path.open("rb") as file:
            yield from _rows(
                openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False), sheets, wanted
            )
    except UnreadableError:
        raise
    except Exception as error:
        # Broken and hostile files make openpyxl raise errors of every kind.
        raise UnreadableError(_damage(error)) from error


def _rows(book: Any, sheets: list[str], wanted: str) -> Iterator[SheetRow]:
    if not book.worksheets:
        raise UnreadableError("the workbook has no sheet")
    found = {sheet.title: sheet for sheet in book.worksheets}
    if wanted and wanted not in found:
        raise UnreadableError(f'the workbook has no sheet "{wanted}"; its sheets are {", ".join(found)}')
    read = wanted or _with_table(found)
    sheets[:] = [read, *(name for name in found if name != read)]
    # The size that a file claims for its sheet may be wrong.
    last = found[read].max_row or 0
    for number, cells in _cells(found[read]):
        yield SheetRow(number, cells, min(1.0, number / last) if last else 0.0)


def _with_table(sheets: Mapping[str, Any]) -> str:
    """The first sheet that shows two rows of several columns; else the first with a cell, or the first."""
    with_cells = ""
    # Programs hide the sheets they keep for themselves.
    for name, sheet in sorted(sheets.items(), key=lambda item: item[1].sheet_state != "visible"):
        rows = [cells for _, cells in islice(_cells(sheet), TOP) if cells]
        if sum(sum(map(bool, cells)) > 1 for cells in rows) > 1:
            return name
        with_cells = with_cells or (name if rows else "")
    return with_cells or next(iter(sheets))


def _cells(sheet: Any) -> Iterator[tuple[int, list[str]]]:
    """The rows of a sheet with their numbers."""
    from openpyxl.utils.escape import unescape

    sheet.reset_dimensions()
    count = 0
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        count += len(values)
        if number > MAX_ROWS:
            raise UnreadableError(f"the sheet has more than {MAX_ROWS:,} rows")
        if count > MAX_CELLS:
            raise UnreadableError(f"the sheet has more than {MAX_CELLS:,} cells, empty ones among them")
        cells = [unescape(value) if isinstance(value, str) else cell_text(value) for value in values]
        while cells and not cells[-1].strip():
            del cells[-1]
        yield number, cells


def _check_size(path: Path, limit: int) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    except zipfile.BadZipFile as error:
        raise UnreadableError(_damage(error)) from error
    total = sum(sizes.values())
    at_once = sum(size for name, size in sizes.items() if not name.startswith("xl/worksheets/"))
    is_bomb = total > MAX_AT_ONCE and total > MAX_RATIO * path.stat().st_size
    if total > limit or is_bomb or at_once > MAX_AT_ONCE or sizes.get("xl/styles.xml", 0) > MAX_STYLES:
        beside = at_once // 2**20
        outside = f", {beside:,} MiB of it outside its sheets" if beside else ""
        reason = f"the workbook unpacks to {total // 2**20:,} MiB{outside}, which is too much"
        raise UnreadableError(f"{reason}; save the sheet as CSV (UTF-8)")


def _damage(error: BaseException) -> str:
    while error.__context__:
        error = error.__context__
    return f"the workbook is damaged or incomplete ({type(error).__name__}); save it again"


def cell_text(value: Any) -> str:
    """A value as a cell of CSV holds it: times in ISO 8601, spans in seconds."""
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        value = value.total_seconds()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
