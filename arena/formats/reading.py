"""Walking through a file row by row, and naming what has no name of its own. Pure."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from arena.formats.fields import Fields
from arena.formats.files import InputFile
from arena.formats.records import Item, Problem

Build: TypeAlias = Callable[[Fields], Iterable[Item]]
"""Makes the records of one row; what is wrong with the row is left in its fields."""


def read_rows(file: InputFile, build: Build) -> Iterator[Item]:
    """What ``build`` makes of each JSON object or table row; a row with problems yields those instead."""
    is_json = file.is_json()
    for row in file.json_objects() if is_json else file.table().rows():
        if isinstance(row, Problem):
            yield row
            continue
        line, values = row
        fields = Fields(values, file.place(line), cells=not is_json)
        items = list(build(fields))
        yield from fields.problems or items


def digest(*texts: str) -> str:
    """A name for texts without one: 12 hexadecimal digits of the SHA-256 of them, a blank line between."""
    return hashlib.sha256("\n\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
