"""What an import did, or would do."""

from dataclasses import dataclass, field
from typing import Final

from arena.formats.records import Note, Place, Problem, Record

KINDS: Final = ("contestants", "prompts", "completions", "raters", "pairs", "gold labels", "comparisons")
KEPT_ERRORS: Final = 1000
KEPT_NOTES: Final = 200
PREVIEW_ROWS: Final = 20


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
class Missing:
    """Prompts without a completion by a contestant that is not retired, texts known only."""

    count: int = 0
    by_contestant: list[tuple[str, int]] = field(default_factory=list)
    examples: list[tuple[str, str]] = field(default_factory=list)
    """The first of them: (contestant, prompt)."""


@dataclass
class ImportReport:
    """The outcome of an import: ``applied`` only where there was no error and it was no dry run."""

    study: str
    dry_run: bool
    creates_study: bool = False
    applied: bool = False
    records: int = 0
    counts: dict[str, Counts] = field(default_factory=lambda: {kind: Counts() for kind in KINDS})
    errors: list[Problem] = field(default_factory=list)
    """The first KEPT_ERRORS of them; ``error_count`` is how many there were."""
    error_count: int = 0
    notes: list[Note] = field(default_factory=list)
    """The first KEPT_NOTES of them; ``note_count`` is how many there were."""
    note_count: int = 0
    missing: Missing = field(default_factory=Missing)
    preview: dict[type[Record], list[Record]] = field(default_factory=dict)
    """The first PREVIEW_ROWS records of each kind."""

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
        rows = self.preview.setdefault(type(record), [])
        if len(rows) < PREVIEW_ROWS:
            rows.append(record)
