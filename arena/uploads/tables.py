"""An import report as rows for a page."""

from dataclasses import dataclass, fields
from typing import Any, Final

from django.utils.text import Truncator

from arena.formats.records import Record
from arena.transfer import ImportReport

SHOWN_CHARACTERS: Final = 120
HIDDEN: Final = {"place", "implied"}


@dataclass(frozen=True)
class Preview:
    """The first records of one kind: only columns in which something stands."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def previews(report: ImportReport) -> list[Preview]:
    """One table per kind of record."""
    return [_preview(kind, records) for kind, records in report.preview.items()]


def _preview(kind: type[Record], records: list[Record]) -> Preview:
    names = [
        field.name
        for field in fields(kind)
        if field.name not in HIDDEN and any(_cell(getattr(record, field.name)) for record in records)
    ]
    rows = [[str(record.place), *(_cell(getattr(record, name)) for name in names)] for record in records]
    title = kind.__name__.removesuffix("Record") + "s"
    return Preview(title, ["from", *(name.replace("_", " ") for name in names)], rows)


def _cell(value: Any) -> str:
    if value is None or value in ((), {}):
        return ""
    if isinstance(value, tuple):
        value = " ⏎ ".join(map(str, value))
    return Truncator(str(value)).chars(SHOWN_CHARACTERS)
