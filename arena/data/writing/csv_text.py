"""Tables as CSV that spreadsheets open: UTF-8 with a byte order mark, commas, CR LF. Pure.

A text that a spreadsheet would run as a formula gets an apostrophe in front, which our importer takes away
again. So that nothing else loses one there, a text that begins with apostrophes before such a character gets
one more. Numbers are left alone: a minus before them is no formula.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final

from arena.data.writing.tables import Row, Table, Type, batches

ROWS: Final = 500
"""Rows in a piece."""

_FORMULA: Final = re.compile(r"'*[=+\-@\t\r]")


def pieces(table: Table, rows: Iterable[Row]) -> Iterator[bytes]:
    """The file, piece by piece."""
    yield (("\ufeff" if table.marked else "") + _lines([list(table.columns)])).encode()
    for batch in batches(rows, ROWS):
        cells = ([_cell(row.get(name), kind) for name, kind in table.columns.items()] for row in batch)
        yield _lines(cells).encode()


def _lines(rows: Iterable[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    return out.getvalue()


def _cell(value: Any, kind: Type) -> str:
    if value is None:
        return ""
    if kind is Type.TEXT:
        return guarded(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if kind in (Type.JSON, Type.TEXTS, Type.MESSAGES, Type.FLAG):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    return str(value)


def guarded(text: str) -> str:
    """The text, with an apostrophe in front where a spreadsheet would take it for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text
