"""Tables as Parquet, a row group at a time. Pure; pyarrow is needed only where this is used.

What has no fixed shape (JSON) is a column of texts that hold JSON.
"""

import importlib.util
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from arena.data.writing.tables import Row, Table, Type, batches

ROWS: Final = 5000
"""Rows in a row group, which is in memory as a whole."""

MISSING: Final = "Parquet needs pyarrow: .venv/bin/pip install -r requirements-parquet.txt"


def is_available() -> bool:
    """Whether pyarrow is installed."""
    return importlib.util.find_spec("pyarrow") is not None


def pieces(table: Table, rows: Iterable[Row]) -> Iterator[bytes]:
    """The file, piece by piece. The columns and their types are the same for an empty table."""
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema([(name, _arrow(kind)) for name, kind in table.columns.items()])
    sink = _Sink()
    with parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        for batch in batches(rows, ROWS):
            columns = [[_value(row.get(name), kind) for row in batch] for name, kind in table.columns.items()]
            arrays = [
                pyarrow.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)
            ]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
            yield sink.taken()
    yield sink.taken()


class _Sink(io.RawIOBase):
    """Takes what the writer writes and hands it on."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        return len(piece)

    def taken(self) -> bytes:
        """What was written since this was asked last."""
        found, self._pieces = b"".join(self._pieces), []
        return found


def _arrow(kind: Type) -> Any:
    import pyarrow

    return {
        Type.TEXT: pyarrow.string(),
        Type.INTEGER: pyarrow.int64(),
        Type.NUMBER: pyarrow.float64(),
        Type.FLAG: pyarrow.bool_(),
        Type.MOMENT: pyarrow.timestamp("us", tz="UTC"),
        Type.TEXTS: pyarrow.list_(pyarrow.string()),
        Type.MESSAGES: pyarrow.list_(pyarrow.struct(dict.fromkeys(("role", "content"), pyarrow.string()))),
        Type.JSON: pyarrow.string(),
    }[kind]


def _value(value: Any, kind: Type) -> Any:
    if value is None:
        return None
    if kind is Type.JSON:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    return float(value) if kind is Type.NUMBER else value
