"""The report of an import that was done or only tried, as data that can be stored as JSON."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

from django.core.validators import slug_re
from django.db import models
from django.db.models import Count, QuerySet
from pydantic import TypeAdapter

from arena.data.formats.non_answers import FAILURE
from arena.data.formats.reading import why_disturbing
from arena.data.formats.records import (
    CompletionRecord,
    Note,
    Place,
    Problem,
    Record,
    Unused,
    counted,
    in_words,
)
from arena.models import Completion, Contestant, Prompt, Study
from arena.texts.self_naming import finder_of
from arena.texts.visible import visible

EXAMPLES: Final = 20
TOLD: Final = 3  # missing answers in a sentence
LABEL: Final = 40  # characters of a prompt
_DIGEST: Final = re.compile(r"[0-9a-f]{12}")
MATRIX_CONTESTANTS: Final = 30
MATRIX_PROMPTS: Final = 60


@dataclass
class MissingMatrix:
    """The contestants and prompts that lack most completions."""

    contestants: list[tuple[str, int]] = field(default_factory=list)
    """Contestants and the number of prompts each lacks, most first."""
    prompts: list[tuple[str, int]] = field(default_factory=list)
    """Prompts and the number of contestants each lacks, most first."""
    lacking: list[list[bool]] = field(default_factory=list)
    """Tell whether the completion is missing, by row and column."""
    all_contestants: int = 0  # contestants who lack a completion, shown or not
    all_prompts: int = 0  # prompts that lack a completion, shown or not

    @property
    def is_cut(self) -> bool:
        return self.all_contestants > len(self.contestants) or self.all_prompts > len(self.prompts)

    @property
    def rows(self) -> list[tuple[str, int, list[bool]]]:
        """Contestant, number of missing completions, and which."""
        return [(*row, cells) for row, cells in zip(self.contestants, self.lacking, strict=True)]


@dataclass
class Missing:
    """Completions that active contestants lack for prompts with a known text."""

    count: int = 0
    expected: int = 0  # answers there would be if none were missing
    examples: list[tuple[str, str]] = field(default_factory=list)  # (contestant, prompt), the first TOLD
    matrix: MissingMatrix = field(default_factory=MissingMatrix)

    @property
    def told(self) -> str:
        """How many are missing, and the first of them."""
        verb = "is" if self.count == 1 else "are"
        first = ", ".join(f"{contestant} to {prompt}" for contestant, prompt in self.examples[:TOLD])
        more = " and others" if self.count > TOLD else ""
        return f"{self.count:,} of {self.expected:,} answers {verb} missing: {first}{more}"


def find_missing(study: Study) -> Missing:
    prompts = Prompt.objects.rated().filter(study=study).exclude(turns=[])
    contestants = list(study.contestants.active().order_by("name"))
    answers = Completion.objects.filter(is_current=True, prompt__in=prompts, contestant__in=contestants)
    answers = answers.exclude(turns=[], extra__has_key=FAILURE)
    answered = dict(answers.order_by().values_list("contestant").annotate(Count("pk")))
    total = prompts.count()
    lacks = {one: number for one in contestants if (number := total - answered.get(one.pk, 0))}
    missing = Missing(sum(lacks.values()), total * len(contestants))
    if missing.count:
        missing.examples = _examples(list(lacks), prompts, answers)
        missing.matrix = _matrix(lacks, len(contestants), prompts, answers)
    return missing


def _examples(
    contestants: list[Contestant], prompts: QuerySet[Prompt], answers: QuerySet[Completion]
) -> list[tuple[str, str]]:
    examples: list[tuple[str, str]] = []
    for contestant in contestants[:TOLD]:  # each lacks one
        done = answers.filter(contestant=contestant).values("prompt")
        names = prompts.exclude(pk__in=done).order_by("pk").values_list("external_id", "turns")
        examples += [(contestant.name, _label(*name)) for name in names[:TOLD]]
    return examples[:TOLD]


def _label(name: str, turns: Sequence[str]) -> str:
    """The name of a prompt, or the beginning of its text where the name is a digest of it."""
    if not _DIGEST.fullmatch(name):
        return name
    text = " ".join(turns[0].split())
    return f'"{text[:LABEL]}{"…" * (len(text) > LABEL)}"'


def _matrix(
    lacks: Mapping[Contestant, int],
    contestants: int,
    prompts: QuerySet[Prompt],
    answers: QuerySet[Completion],
) -> MissingMatrix:
    rows = sorted(lacks, key=lambda contestant: (-lacks[contestant], contestant.name))[:MATRIX_CONTESTANTS]
    answered = dict(answers.order_by().values_list("prompt").annotate(Count("pk")))
    names = prompts.order_by("pk").values_list("pk", "subset", "external_id")
    wanting = [
        (answered.get(pk, 0), pk, f"{subset}/{name}" if subset else name)
        for pk, subset, name in names
        if answered.get(pk, 0) < contestants
    ]
    columns = sorted(wanting)[:MATRIX_PROMPTS]
    shown = answers.filter(contestant__in=rows, prompt__in=[pk for _, pk, _ in columns])
    there = set(shown.values_list("contestant", "prompt"))
    return MissingMatrix(
        contestants=[(contestant.name, lacks[contestant]) for contestant in rows],
        prompts=[(name, contestants - done) for done, _, name in columns],
        lacking=[[(contestant.pk, pk) not in there for _, pk, _ in columns] for contestant in rows],
        all_contestants=len(lacks),
        all_prompts=len(wanting),
    )


KINDS: Final = (
    "contestants",
    "prompts",
    "questions",
    "completions",
    "raters",
    "pairs",
    "gold labels",
    "training pairs",
    "hidden checks",
    "comparisons",
    "scores",
    "answers",
    "features",
)
KEPT_ERRORS: Final = 1000
KEPT_GROUPS: Final = 100
MORE_PLACES: Final = 10
KEPT_NOTES: Final = 200
PREVIEW_ROWS: Final = 5
PREVIEW_CHARACTERS: Final = 200  # a text may be megabytes long
_NOT_SHOWN: Final = {"place", "implied", "rater_from_path", "extra"}


@dataclass
class Counts:
    added: int = 0
    unchanged: int = 0
    updated: int = 0  # changed in place, which affects nothing that was rated
    versions: int = 0  # completions or questions with a new text beside an old one that somebody rated
    empty: int = 0  # completions with a blank text, rated like others
    failed: int = 0  # completions that are an error of the program that asked, so their texts are missing
    near_equal: int = 0  # texts that differ from those known in blanks and typography alone, which are kept
    thinking: int = 0  # completions beside which the thinking of the model was set apart
    end_tokens: int = 0  # completions from which the tokens of a chat template were taken off

    @property
    def written(self) -> int:
        return self.added + self.updated + self.versions


class Counted(NamedTuple):
    """Counts as a table in the words of readers."""

    columns: list[str]
    rows: list[tuple[str, list[int]]]


@dataclass
class ErrorGroup:
    """The same error, wherever it is and whatever values it names."""

    first: Problem
    count: int = 1
    more: list[Place] = field(default_factory=list)  # where it is next, the first MORE_PLACES

    def __str__(self) -> str:
        return f"{self.first} ({self.again})" if self.again else str(self.first)

    @property
    def again(self) -> str:
        """How often it is, and where next, with the file where that is another one; empty for one error."""
        if self.count == 1:
            return ""
        file = self.first.place.file
        names = [f"{one.unit} {one.line}" if one.line and one.file == file else str(one) for one in self.more]
        on = "; ..." if self.count > len(names) + 1 else ""
        return f"{self.count:,} times, also in {'; '.join(names)}{on}"

    def add(self, place: Place) -> None:
        self.count += 1
        if len(self.more) < MORE_PLACES:
            self.more.append(place)


_VALUE: Final = re.compile(r"\"[^\"]*\"|(?<!\w)'.*'(?!\w)", re.DOTALL)
_VALUES: Final = re.compile(r"\".*\"", re.DOTALL)
_MOST_QUOTES: Final = 4  # around the values that errors name; if there are more, a value holds some itself
_OTHER_ROW: Final = re.compile(r"\bin (?:\S+, )?(?:line|row|object) [\d,]+")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_WAY_OUT: Final = re.compile(r"; (?:add|choose|correct|give|leave|name|put|rename|use|write)\b.*", re.DOTALL)


def reason_of(problem: Problem) -> str:
    """The error without the values that it names, by which errors are grouped and rows counted."""
    text = f"{problem.field}: {problem.reason}" if problem.field else problem.reason
    if text.count('"') > _MOST_QUOTES:
        text = _VALUES.sub("…", text)
    for pattern, instead in ((_VALUE, "…"), (_OTHER_ROW, "in another row"), (_NUMBER, "…"), (_WAY_OUT, "")):
        text = pattern.sub(instead, text)
    return text


LeftOut: TypeAlias = dict[str, dict[int, str]]
"""Rows that are not read, by file: their numbers, and why."""


class RowCount(NamedTuple):
    """Rows of a file, known by name and SHA-256, that were left out for one reason."""

    file: str
    digest: str
    reason: str
    rows: int

    def __str__(self) -> str:
        return f"{self.file}: {counted(self.rows, 'rows')} left out: {self.reason}"


@dataclass(frozen=True)
class NamingExample:
    """A completion that names a maker or model; ``own`` if it is its author's."""

    contestant: str
    prompt: str
    phrase: str
    own: bool
    place: str


@dataclass
class SelfNaming:
    """Completions in the files that tell their author."""

    own: int = 0  # they name their own model, family or maker
    others: int = 0  # they claim to be another model or maker's work
    examples: list[NamingExample] = field(default_factory=list)

    @property
    def count(self) -> int:
        return self.own + self.others

    def check(
        self, record: CompletionRecord, texts: Sequence[str], contestant: Contestant | None
    ) -> list[str]:
        """The words by which the texts of a completion tell its author, after counting it."""
        finder = finder_of(contestant)
        named = next((found for each in texts if (found := finder.find(each))), None) if finder else None
        if finder is None or named is None:
            return []
        name = record.contestant or ""
        self.own += named.own
        self.others += not named.own
        if len(self.examples) < EXAMPLES:
            example = NamingExample(name, record.prompt, named.phrase, named.own, str(record.place))
            self.examples.append(example)
        return finder.find_all(texts)


@dataclass
class ImportReport:
    """The outcome of an import: ``applied`` unless there was an error or it was a dry run."""

    study: str
    dry_run: bool
    creates_study: bool = False
    applied: bool = False
    records: int = 0
    counts: dict[str, Counts] = field(default_factory=lambda: {kind: Counts() for kind in KINDS})
    errors: list[Problem] = field(default_factory=list)  # the first KEPT_ERRORS of ``error_count``
    error_count: int = 0
    groups: dict[str, ErrorGroup] = field(default_factory=dict)
    """All errors by field and reason; the first KEPT_GROUPS."""
    bad_rows: LeftOut = field(default_factory=dict, compare=False)  # with errors, while the import runs
    beyond_rows: int = 0  # errors that concern more than the row where they are
    left_out: list[RowCount] = field(default_factory=list)
    to_leave_out: list[RowCount] = field(default_factory=list)
    """Return what an import would leave out that leaves out all rows with errors; empty if it cannot."""
    notes: list[Note] = field(default_factory=list)  # the first KEPT_NOTES of ``note_count``
    note_count: int = 0
    missing: Missing = field(default_factory=Missing)
    self_naming: SelfNaming = field(default_factory=SelfNaming)
    preview: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    """The first PREVIEW_ROWS records by kind: a text by field."""
    values: dict[str, dict[str, int]] = field(default_factory=dict)
    """By file: rows by value of the verdict, where some value has a meaning to be chosen or was given one."""

    rater_kinds: dict[str, dict[str, str]] = field(default_factory=dict)
    """By file: person or judge by rater, as somebody said; empty where it has to be said."""

    unused: list[Unused] = field(default_factory=list)
    looks: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By file, what helps to say how it is to be read: ``samples`` by column, and ``sheets``."""

    @property
    def ok(self) -> bool:
        return self.error_count == 0

    @property
    def written(self) -> int:
        """Rows added or changed."""
        return sum(counts.written for counts in self.counts.values())

    @property
    def added(self) -> str:
        """Name what is new in a sentence."""
        new = [counted(counts.added, kind) for kind, counts in self.counts.items() if counts.added]
        less = f" Left out: {counted(self.rows_left_out, 'rows')}." if self.left_out else ""
        return f"{'In a new study' if self.creates_study else 'New'}: {', '.join(new) or 'nothing'}.{less}"

    @property
    def counted(self) -> "Counted":
        """The counts of each kind with records, without columns of zeros."""
        found = {kind: counts for kind, counts in self.counts.items() if counts.written or counts.unchanged}
        columns = [
            column.name
            for column in fields(Counts)
            if any(getattr(one, column.name) for one in found.values())
        ]
        return Counted(
            ["New versions" if name == "versions" else in_words(name).capitalize() for name in columns],
            [
                (in_words(kind).capitalize(), [getattr(counts, name) for name in columns])
                for kind, counts in found.items()
            ],
        )

    @property
    def may_leave_out(self) -> bool:
        """Tell whether all errors are of rows, and there are others."""
        return not self.ok and not self.beyond_rows and self.records > 0

    @property
    def rows_left_out(self) -> int:
        return sum(one.rows for one in self.left_out)

    @property
    def rows_to_leave_out(self) -> int:
        return sum(one.rows for one in self.to_leave_out)

    @property
    def ungrouped(self) -> int:
        """Errors that are in none of ``groups``."""
        return self.error_count - sum(group.count for group in self.groups.values())

    def error(self, problem: Problem) -> None:
        place = problem.place
        problem = problem._replace(field=visible(problem.field), reason=visible(problem.reason))
        self.error_count += 1
        if len(self.errors) < KEPT_ERRORS:
            self.errors.append(problem)
        if problem.of_row and place.line:
            key = reason_of(problem)
            self.implicate(place, key)
        else:
            key = f"{problem.field}: {problem.reason}"
            self.beyond_rows += 1
        if key in self.groups:
            self.groups[key].add(place)
        elif len(self.groups) < KEPT_GROUPS:
            self.groups[key] = ErrorGroup(problem)

    def refuse(self, place: Place, name: str, reason: str, *, of_row: bool = True) -> None:
        self.error(Problem(place, name, reason, of_row))

    def implicate(self, place: Place, reason: str) -> None:
        """Count a row as unreadable for what an error elsewhere says already."""
        if place.line:
            self.bad_rows.setdefault(place.file, {}).setdefault(place.line, reason)

    def note(self, place: Place, text: str) -> None:
        self.note_count += 1
        if len(self.notes) < KEPT_NOTES:
            self.notes.append(Note(place, visible(text)))

    def see(self, record: Record) -> None:
        """Count a record, and keep it if it is one of the first of its kind."""
        self.records += 1
        kind = type(record).__name__.removesuffix("Record").lower() + "s"
        rows = self.preview.setdefault(kind, [])
        if len(rows) < PREVIEW_ROWS:
            rows.append(_shown(record))

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values that any database stores."""
        values: dict[str, Any] = storable(asdict(replace(self, bad_rows={})))
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "ImportReport":
        """The report again; those of other versions may hold more or less."""
        return _STORED.validate_python(values)


_STORED: Final = TypeAdapter(ImportReport)


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


def storable(value: Any) -> Any:
    """The value with lists for tuples, and without NUL and halves of surrogates."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {storable(key): storable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [storable(entry) for entry in value]
    return value


class Places:
    """Where each thing was declared; reports what is declared twice."""

    def __init__(self, report: ImportReport) -> None:
        self._report = report
        self._places: dict[Hashable, Place] = {}

    def add(self, key: Hashable, place: Place, name: str, what: str) -> bool:
        """Tell whether this is declared for the first time."""
        earlier = self._places.get(key)
        if earlier:
            here = earlier.file == place.file and earlier.line
            where = f"{earlier.unit} {earlier.line}" if here else earlier
            self._report.refuse(place, name, f"{what} is already in {where}")
        else:
            self._places[key] = place
        return earlier is None


def is_slug(text: str) -> bool:
    return slug_re.fullmatch(text) is not None


@cache
def _max_length(model: type[models.Model], column: str) -> int | None:
    length: int | None = getattr(model._meta.get_field(column), "max_length", None)
    return length


def is_within(report: ImportReport, place: Place, name: str, text: str, limit: int) -> bool:
    if len(text) > limit:
        report.refuse(place, name, f"{len(text)} characters long; at most {limit} fit")
    return len(text) <= limit


def fits(
    report: ImportReport,
    place: Place,
    model: type[models.Model],
    record: object,
    names: Iterable[str | tuple[str, str]],
    field: str = "",
) -> bool:
    """Tell whether short texts fit their columns and hold no invisible character; reports others.

    ``names`` are attributes, each with the name of its column if that differs. ``field`` is what the file
    calls them, if that differs.
    """
    before = report.error_count
    for entry in names:
        name, column = (entry, entry) if isinstance(entry, str) else entry
        limit, value = _max_length(model, column), getattr(record, name)
        if limit and value:
            is_within(report, place, field or name, value, limit)
            if reason := why_disturbing(value):
                report.refuse(place, field or name, reason)
    return report.error_count == before


def assign(row: models.Model, values: Mapping[str, Any]) -> bool:
    """Set columns to values that are not None and differ; returns whether any did."""
    changed = False
    for name, value in values.items():
        if value is not None and getattr(row, name) != value:
            setattr(row, name, value)
            changed = True
    return changed
