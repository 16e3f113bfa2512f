"""Tables as JSON Lines: one object per row, what is not said left out, or null in a complete table. Pure."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from arena.data.writing.tables import Row, Table, batches

ROWS: Final = 500
"""Rows in a piece."""


def pieces(table: Table, rows: Iterable[Row]) -> Iterator[bytes]:
    """The file, piece by piece."""
    for batch in batches(rows, ROWS):
        yield "".join(_line(table, row) for row in batch).encode()


def _line(table: Table, row: Row) -> str:
    values = {name: row.get(name) for name in table.columns}
    said = {name: value for name, value in values.items() if table.complete or value is not None}
    return json.dumps(said, ensure_ascii=False, allow_nan=False, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"{type(value).__name__} has no place in JSON")
