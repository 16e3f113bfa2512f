"""The rows of a Parquet file as JSON values, streamed. Pure; without pyarrow there are no such files."""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

MAGIC: Final = b"PAR1"
"""What a Parquet file begins with."""

BATCH: Final = 64
"""Rows in memory at once: few, as a cell may be long."""

BUFFER: Final = 1024 * 1024
"""Bytes of a column that are read from the disk together."""


class ParquetError(Exception):
    """What is wrong with a Parquet file, for people."""


def columns(path: Path) -> list[str]:
    """The names of the columns. Raises ParquetError."""
    with _file(path) as file:
        names: list[str] = file.schema_arrow.names
    doubled = {name for name in names if names.count(name) > 1}
    if doubled:
        raise ParquetError(f"the column {min(doubled)} stands twice in the file")
    return names


def rows(path: Path) -> Iterator[tuple[dict[str, Any], float]]:
    """Each row by column name, with the share of the rows read so far. Raises ParquetError."""
    import pyarrow

    columns(path)
    done = 0
    with _file(path) as file:
        total = file.metadata.num_rows
        try:
            for batch in file.iter_batches(batch_size=BATCH):
                for row in batch.to_pylist():
                    done += 1
                    yield {name: _json_value(value) for name, value in row.items()}, done / total
        except (pyarrow.ArrowException, OSError) as error:
            raise ParquetError(_damage(error)) from error
        except (ValueError, OverflowError) as error:
            # For instance a time that lies thousands of years away.
            raise ParquetError(f"holds a value that cannot be read ({error})") from error


def _file(path: Path) -> Any:
    """The opened file, to be used in a ``with`` statement."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        install = ".venv/bin/pip install -r requirements-parquet.txt"
        raise ParquetError(f"Parquet needs pyarrow: {install}") from None
    try:
        return parquet.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False)
    except (pyarrow.ArrowException, OSError) as error:
        raise ParquetError(_damage(error)) from error


def _damage(error: Exception) -> str:
    first, *_ = str(error).strip().splitlines() or [type(error).__name__]
    return f"the Parquet file is damaged or was cut off ({first[:200]})"


def _json_value(value: Any) -> Any:
    """A cell as JSON has it: times in ISO 8601, spans in seconds, maps as objects, decimals as numbers."""
    if isinstance(value, list):
        # A map comes as a list of pairs.
        if value and all(isinstance(part, tuple) for part in value):
            return {str(name): _json_value(inner) for name, inner in value}
        return [_json_value(part) for part in value]
    if isinstance(value, dict):
        return {name: _json_value(inner) for name, inner in value.items()}
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        # Some writers do not say that a column of bytes is text.
        return value.decode("utf-8", "surrogateescape")
    return value
