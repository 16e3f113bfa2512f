"""From stored files to what they hold, each read as the operator said."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from arena.formats import Choice, Source, Sources, gather, table
from arena.formats.files import BrokenFileError, InputFile
from arena.formats.mapping import ColumnMapping, suggest
from arena.models import ImportFile

COLUMNS: Final = 200
"""Columns of a file that are kept for its mapping."""

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def sources_of(files: Iterable[tuple[ImportFile, InputFile]]) -> Sources:
    """What the files hold, each in the format chosen for it, or else told by its content."""
    files = list(files)
    choices = {row.name: _choice(row) for row, _ in files if row.format_name}
    return gather([file for _, file in files], choices=choices)


def sources_with_suggestions(files: Iterable[tuple[ImportFile, InputFile]]) -> Sources:
    """Like ``sources_of``; a file that nothing recognises is read as the names of its columns suggest.

    The suggestion is stored with the file, as if it had been chosen, for the operator to look at.
    """
    files = list(files)
    sources = sources_of(files)
    unknown = [(row, file) for row, file in files if not row.format_name and not _source(file, sources)]
    suggested = [(row, mapping) for row, file in unknown if (mapping := suggest(_columns(file)))]
    for row, mapping in suggested:
        row.format_name, row.mapping = table.NAME, mapping.to_dict()
        row.save(update_fields=["format_name", "mapping"])
    return sources_of(files) if suggested else sources


def _choice(row: ImportFile) -> Choice:
    return Choice(row.format_name, ColumnMapping.from_dict(row.mapping) if row.mapping else None)


def describe(row: ImportFile, file: InputFile, sources: Sources) -> None:
    """Store what the file was taken for, and its columns."""
    source = _source(file, sources)
    row.found_format = source.format.name if source else ""
    row.found_kind = source.kind.name.lower() if source else ""
    row.columns = storable(_columns(file))
    row.save(update_fields=["found_format", "found_kind", "columns"])


def _source(file: InputFile, sources: Sources) -> Source | None:
    return next((source for source in sources.sources if source.file is file), None)


def _columns(file: InputFile) -> list[str]:
    """The columns, or fields; none where the file cannot be read."""
    try:
        return list(file.columns()[:COLUMNS])
    except BrokenFileError:
        return []


def storable(value: Any) -> Any:
    """JSON values as PostgreSQL takes them: what a hostile file can bring into a message is marked."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, Mapping):
        return {storable(key): storable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [storable(entry) for entry in value]
    return value
