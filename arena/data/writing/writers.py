"""Putting a written table into a file: whole, or not at all. Pure."""

import gzip
import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from arena.data.writing import csv_text, json_lines, parquet
from arena.data.writing.tables import Row, Table

# Writers of tables: one file per way of writing, listed in WRITERS. Pure.
#
# Each turns rows into pieces of a file as they come, so that no table is ever in memory as a whole.


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


def save(path: Path, pieces: Iterable[bytes]) -> int:
    """Write the file beside its place and rename it there; a name ending in ``.gz`` is compressed.

    Returns its size in bytes. Raises OSError; then whatever stood there before is unchanged.
    """
    part = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            if path.name.lower().endswith(".gz"):
                with gzip.GzipFile(path.name[:-3], "wb", fileobj=file) as packed:
                    packed.writelines(pieces)
            else:
                file.writelines(pieces)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path.stat().st_size
