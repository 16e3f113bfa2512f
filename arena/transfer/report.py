"""What an import did, or would do, as plain data that can be stored as JSON and read again."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final

from arena.formats.records import Note, Place, Problem, Record
from arena.transfer.missing import Missing
from arena.transfer.self_naming import SelfNaming

KINDS: Final = (
    "contestants",
    "prompts",
    "completions",
    "raters",
    "pairs",
    "gold labels",
    "training pairs",
    "hidden checks",
    "comparisons",
)
KEPT_ERRORS: Final = 1000
KEPT_NOTES: Final = 200
PREVIEW_ROWS: Final = 20
PREVIEW_CHARACTERS: Final = 200
"""A cell of the preview is cut here: a text may be megabytes long."""

_NOT_SHOWN: Final = {"place", "implied"}


@dataclass
class Counts:
    """How many records of one kind ended how."""

    added: int = 0
    unchanged: int = 0
    updated: int = 0
    """Changed in place: nothing that was rated is touched by that."""
    versions: int = 0
    """Completions whose text changed after a pair with them was made: a new version beside the old."""
    empty: int = 0
    """Completions in the files whose text has nothing in it; stored, flagged and rated like any other."""

    @property
    def written(self) -> int:
        return self.added + self.updated + self.versions


@dataclass
class ImportReport:
    """The outcome of an import: ``applied`` only where there was no error and it was no dry run."""

    study: str
    dry_run: bool
    creates_study: bool = False
    applied: bool = False
    cancelled: bool = False
    """Stopped on request; the rest of the report tells how far it had come."""
    records: int = 0
    counts: dict[str, Counts] = field(default_factory=lambda: {kind: Counts() for kind in KINDS})
    errors: list[Problem] = field(default_factory=list)
    """The first KEPT_ERRORS of them; ``error_count`` is how many there were."""
    error_count: int = 0
    notes: list[Note] = field(default_factory=list)
    """The first KEPT_NOTES of them; ``note_count`` is how many there were."""
    note_count: int = 0
    missing: Missing = field(default_factory=Missing)
    self_naming: SelfNaming = field(default_factory=SelfNaming)
    preview: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    """The first PREVIEW_ROWS records by kind: a text for each field that says something."""

    @property
    def ok(self) -> bool:
        return self.error_count == 0

    @property
    def written(self) -> int:
        """How many rows were added or changed, or would be."""
        return sum(counts.written for counts in self.counts.values())

    def error(self, problem: Problem) -> None:
        self.error_count += 1
        if len(self.errors) < KEPT_ERRORS:
            self.errors.append(problem)

    def refuse(self, place: Place, name: str, reason: str) -> None:
        """Add an error about a field."""
        self.error(Problem(place, name, reason))

    def note(self, place: Place, text: str) -> None:
        self.note_count += 1
        if len(self.notes) < KEPT_NOTES:
            self.notes.append(Note(place, text))

    def see(self, record: Record) -> None:
        """Count a record and keep it if it is one of the first of its kind."""
        self.records += 1
        kind = type(record).__name__.removesuffix("Record").lower() + "s"
        rows = self.preview.setdefault(kind, [])
        if len(rows) < PREVIEW_ROWS:
            rows.append(_shown(record))

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values that any database stores."""
        values: dict[str, Any] = _storable(asdict(self))
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "ImportReport":
        """The report behind what ``to_dict`` gave, also after a way through JSON."""
        rebuilt = {
            "counts": {kind: Counts(**counts) for kind, counts in values["counts"].items()},
            "errors": [Problem(Place(*place), name, reason) for place, name, reason in values["errors"]],
            "notes": [Note(Place(*place), text) for place, text in values["notes"]],
            "missing": Missing.from_dict(values["missing"]),
            "self_naming": SelfNaming.from_dict(values["self_naming"]),
        }
        return cls(**{**values, **rebuilt})


def _shown(record: Record) -> dict[str, str]:
    row = {"from": str(record.place)}
    for column in fields(record):
        text = "" if column.name in _NOT_SHOWN else _cell(getattr(record, column.name))
        if text:
            row[column.name] = text
    return row


def _cell(value: Any) -> str:
    if value is None or value in ((), {}):
        return ""
    if isinstance(value, tuple):
        return _cut(" ⏎ ".join(_cut(str(part)) for part in value))
    return _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= PREVIEW_CHARACTERS else text[: PREVIEW_CHARACTERS - 1] + "…"


def _storable(value: Any) -> Any:
    """The value with lists for tuples, and without NUL and halves of surrogates: no database stores those."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_storable(key): _storable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(entry) for entry in value]
    return value
