"""Rows in handfuls. Pure."""

from collections.abc import Iterable, Iterator
from itertools import islice

from arena.formats.writing.schema import Row


def batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """The rows in lists of ``size``; the last may be shorter."""
    remaining = iter(rows)
    while batch := list(islice(remaining, size)):
        yield batch
