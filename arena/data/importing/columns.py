"""Records against table columns: lengths and differences."""

from collections.abc import Hashable, Iterable, Mapping
from functools import cache
from typing import Any

from django.core.validators import slug_re
from django.db import models

from arena.data.formats.fields import DISTURBING
from arena.data.formats.records import Place
from arena.data.importing.report import ImportReport


class Places:
    """Where each thing was declared, so that none is declared twice."""

    def __init__(self) -> None:
        self._places: dict[Hashable, Place] = {}

    def declare(self, key: Hashable, place: Place) -> Place | None:
        """Where the thing was declared before; None where this is the first time."""
        if key in self._places:
            return self._places[key]
        self._places[key] = place
        return None


def is_slug(text: str) -> bool:
    """Whether a text may stand in addresses: letters, digits, hyphens and underscores."""
    return slug_re.fullmatch(text) is not None


@cache
def _max_length(model: type[models.Model], column: str) -> int | None:
    length: int | None = getattr(model._meta.get_field(column), "max_length", None)
    return length


def fits(
    report: ImportReport,
    place: Place,
    model: type[models.Model],
    record: object,
    names: Iterable[str | tuple[str, str]],
) -> bool:
    """Whether the record's short texts fit their columns; what is too long, or no text to show, is reported.

    ``names`` are attributes of the record, each with the column's name beside it where that differs.
    """
    ok = True
    for entry in names:
        name, column = (entry, entry) if isinstance(entry, str) else entry
        limit = _max_length(model, column)
        value = getattr(record, name)
        if limit and value and len(value) > limit:
            report.refuse(place, name, f"{len(value)} characters long; at most {limit} fit")
            ok = False
        if limit and value and (found := DISTURBING.search(value)):
            report.refuse(place, name, f"holds the invisible character U+{ord(found[0]):04X}")
            ok = False
    return ok


def assign(row: models.Model, values: Mapping[str, Any]) -> bool:
    """Set the columns that are said (not None) and differ; returns whether any did."""
    changed = False
    for name, value in values.items():
        if value is not None and getattr(row, name) != value:
            setattr(row, name, value)
            changed = True
    return changed
