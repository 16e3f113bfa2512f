"""Writers of tables: one file per way of writing, listed in WRITERS. Pure.

Each turns rows into pieces of a file as they come, so that no table is ever in memory as a whole.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from arena.formats.writing import csv_text, json_lines, parquet
from arena.formats.writing.schema import Row, Table

WRITERS: Final[dict[str, Callable[[Table, Iterable[Row]], Iterator[bytes]]]] = {
    "jsonl": json_lines.pieces,
    "csv": csv_text.pieces,
    "parquet": parquet.pieces,
}

MEDIA_TYPES: Final = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
