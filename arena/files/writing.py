"""Tables, written in pieces as CSV, JSON Lines or Parquet. Pure."""

import csv
import importlib.util
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum
from itertools import islice
from typing import Any, Final, TypeAlias

Row: TypeAlias = Mapping[str, Any]  # values by column name; None, or no entry, for no value


class Type(Enum):
    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"
    MOMENT = "moment"
    TEXTS = "list of texts"
    MESSAGES = "list of messages"
    JSON = "JSON"


@dataclass(frozen=True)
class Table:
    """A table, whose name is also that of its file.

    ``complete``: JSON Lines write null for no value. ``marked``: CSV begins with a byte order mark, by which
    spreadsheets recognise UTF-8.
    """

    name: str
    columns: Mapping[str, Type]
    complete: bool = False
    marked: bool = True


def batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, size)):
        yield batch


ROWS: Final = 500  # rows in a piece

# A guarded text gets one apostrophe, which imports take away. So that no other text loses one there, a text
# that begins with apostrophes before such a character gets one more, too.
GUARDED: Final = re.compile(r"'* *[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]")


def csv_pieces(table: Table, rows: Iterable[Row]) -> Iterator[bytes]:
    """CSV for spreadsheets: UTF-8, commas, CR LF, and guarded texts."""
    yield (("\ufeff" if table.marked else "") + csv_lines([list(table.columns)])).encode()
    for batch in batches(rows, ROWS):
        cells = ([_cell(row.get(name), kind) for name, kind in table.columns.items()] for row in batch)
        yield csv_lines(cells).encode()


def csv_lines(rows: Iterable[Iterable[Any]], end: str = "\r\n") -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator=end).writerows(rows)
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
    """The text, with an apostrophe in front if a spreadsheet would take it for a formula."""
    return f"'{text}" if GUARDED.match(text) else text


def json_pieces(table: Table, rows: Iterable[Row]) -> Iterator[bytes]:
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


ROW_GROUP: Final = 5000  # rows in a row group, which is in memory as a whole
PARQUET_MISSING: Final = "Parquet needs pyarrow: make parquet, or pip install likert-arena[parquet]"


def has_parquet() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


def parquet_pieces(table: Table, rows: Iterable[Row]) -> Iterator[bytes]:
    """Parquet by row groups; the types do not depend on the rows."""
    arrow = pyarrow()
    types = _arrow_types()
    schema = arrow.schema([(name, types[kind]) for name, kind in table.columns.items()])
    sink = _Sink()
    with arrow.parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        for batch in batches(rows, ROW_GROUP):
            columns = [[_value(row.get(name), kind) for row in batch] for name, kind in table.columns.items()]
            arrays = [
                arrow.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)
            ]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))
            yield sink.taken()
    yield sink.taken()


class _Sink(io.RawIOBase):
    """A file whose content can be taken away while it is written."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        return len(piece)

    def taken(self) -> bytes:
        found, self._pieces = b"".join(self._pieces), []
        return found


def pyarrow() -> Any:
    """The module. Raises ImportError: it is optional, and it takes 165 MB."""
    import pyarrow.parquet

    return pyarrow


def _arrow_types() -> dict[Type, Any]:
    arrow = pyarrow()
    return {
        Type.TEXT: arrow.string(),
        Type.INTEGER: arrow.int64(),
        Type.NUMBER: arrow.float64(),
        Type.FLAG: arrow.bool_(),
        Type.MOMENT: arrow.timestamp("us", tz="UTC"),
        Type.TEXTS: arrow.list_(arrow.string()),
        Type.MESSAGES: arrow.list_(arrow.struct(dict.fromkeys(("role", "content"), arrow.string()))),
        Type.JSON: arrow.string(),
    }


def _value(value: Any, kind: Type) -> Any:
    if value is None:
        return None
    if kind is Type.JSON:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    return float(value) if kind is Type.NUMBER else value


WRITERS: Final[dict[str, Callable[[Table, Iterable[Row]], Iterator[bytes]]]] = {
    "jsonl": json_pieces,
    "csv": csv_pieces,
    "parquet": parquet_pieces,
}

MEDIA_TYPES: Final = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
