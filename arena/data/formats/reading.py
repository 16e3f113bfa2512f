"""Reads rows field by field; what a format is. Pure."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import IntEnum
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from arena.data.formats import values
from arena.data.formats.files import Form, InputFile
from arena.data.formats.records import (
    CompletionRecord,
    ContestantRecord,
    Item,
    Note,
    Place,
    Problem,
    PromptRecord,
    RaterRecord,
)
from arena.data.formats.values import Written
from arena.files.writing import GUARDED
from arena.texts.visible import contains

T = TypeVar("T")

Named: TypeAlias = PromptRecord | CompletionRecord | ContestantRecord | RaterRecord
"""What rows name in passing."""

Mentions: TypeAlias = dict[tuple[str, ...], tuple[int, int]]
"""Hash of the text (0: unknown) and line of each thing that was named."""

NO_REPLY: Final = "null"
"""The text of an answer that is null, which is none."""

DISTURBING: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that change the direction of text."""


def why_disturbing(text: str) -> str:
    """Return the fault of a short text, as the end of a sentence about it; "" if it has none."""
    found = DISTURBING.search(text)
    return contains(found[0]) if found else ""


class Fields:
    """The fields of one JSON object or table row.

    Readers remove their field and return the value, or a stand-in after adding a Problem. With ``cells``,
    numbers and JSON are texts and an empty cell is no value. All rows of a file share what it ``named``.
    """

    def __init__(self, given: Mapping[str, Any], place: Place, *, cells: bool = False) -> None:
        self.place = place
        self.problems: list[Problem] = []
        self.named: Mentions = {}
        self.written = Written(cells=cells, json_texts=cells)
        self._values = dict(given)
        self._shown: Mapping[str, str] = {}
        for name, value in given.items():
            if reason := values.unstorable(value) or values.unstorable(name):
                self.problem(name.replace("\0", ""), reason)

    def __contains__(self, name: str) -> bool:
        """Tell whether the field has a value."""
        return self._values.get(name) is not None and not (self.written.cells and self._values[name] == "")

    def problem(self, name: str, reason: str) -> None:
        self.problems.append(Problem(self.place, self.shown(name), reason))

    def shown(self, name: str) -> str:
        """The field as messages name it."""
        return self._shown.get(name, name)

    def unguarded(self) -> "Fields":
        """These fields without the apostrophes that exports add."""
        for name, value in self._values.items():
            if isinstance(value, str) and value.startswith("'") and GUARDED.match(value):
                self._values[name] = value[1:]
        return self

    def put(self, name: str, value: Any) -> None:
        self._values[name] = value

    def peek(self, name: str) -> Any:
        """The raw value, not removed."""
        return self._values.get(name)

    def pick(self, columns: Iterable[str]) -> dict[str, Any]:
        """Remove these columns and return their values."""
        return {column: self._values.pop(column) for column in columns if column in self._values}

    def take_all(self, names: Mapping[str, str]) -> dict[str, Any]:
        """Remove the columns in ``names`` and return their values, but for absent ones, by these names."""
        found = {column: value for column, value in self._values.items() if column in names}
        self._values = {name: value for name, value in self._values.items() if name not in found}
        empty = "" if self.written.cells else None
        return {names[column]: value for column, value in found.items() if value not in (None, empty)}

    def under_other_names(self, given: Mapping[str, Any], columns: Mapping[str, str]) -> "Fields":
        """Fields of these values, whose problems are added here and name the columns."""
        other = self.inside(given, cells=True)
        other._shown = {
            name: f"{name} (column {column})" for name, column in columns.items() if name != column
        }
        return other

    def inside(self, given: Mapping[str, Any], *, cells: bool = False) -> "Fields":
        """The fields of an object inside, whose problems are added here."""
        other = Fields(given, self.place, cells=cells)
        other.problems, other.named = self.problems, self.named
        return other

    def take(self, name: str) -> Any:
        """The raw value; None if absent, null or an empty cell."""
        value = self._values.pop(name, None)
        return None if self.written.cells and value == "" else value

    def _read(self, name: str, read: Callable[[Any, Written], T]) -> T | None:
        """The value as it is read, or None if it is absent or after a problem."""
        value = self.take(name)
        try:
            return None if value is None else read(value, self.written)
        except values.FieldError as error:
            self.problem(name, str(error))
        return None

    def optional_text(self, name: str) -> str | None:
        """A text or None; whole numbers count, because ids may be numbers."""
        return self._read(name, values.text)

    def text(self, name: str) -> str:
        return self.optional_text(name) or ""

    def first_text(self, *names: str, default: str = "") -> str:
        """The text of the first of these fields that has a value."""
        return next((self.text(name) for name in names if name in self), default)

    def required_text(self, name: str) -> str:
        """A text that must not be blank."""
        if name not in self:
            self.problem(name, "missing")
        return self._read(name, values.name) or ""

    def two_names(self, first: str, second: str, what: str) -> tuple[str, str]:
        """Two texts that must be neither blank nor the same; they name a ``what``."""
        names = self.required_text(first), self.required_text(second)
        if names[0] and names[0] == names[1]:
            self.problem(second, f'the same {what} as {first} ("{names[0]}")')
        return names

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; empty if absent."""
        return self._read(name, values.texts) or ()

    def choice(self, name: str, choices: tuple[str, ...]) -> str | None:
        return self._read(name, values.one_of(choices))

    def integer(self, name: str, *, least: int = 0, most: int = 2**31 - 1) -> int | None:
        """A whole number within bounds, or None if absent."""
        return self._read(name, values.whole(least, most))

    def required_integer(self, name: str, meaning: str, least: int = 0, most: int = 2**31 - 1) -> int:
        """A whole number within bounds; the least after a problem, which tells what a missing one means."""
        if name not in self:
            self.problem(name, f"missing; {meaning}")
        found = self.integer(name, least=least, most=most)
        return least if found is None else found

    def number(self, name: str, *, least: float, most: float) -> Decimal | None:
        """A finite number in ``[least, most)``, or None if absent."""
        return self._read(name, values.decimal(least, most))

    def seconds(self, name: str) -> float | None:
        return self._read(name, values.number(0, values.MOST_SECONDS))

    def flag(self, name: str) -> bool | None:
        return self._read(name, values.flag)

    def moment(self, name: str) -> datetime | None:
        """A time in ISO 8601 (UTC without a zone) or seconds since 1970."""
        return self._read(name, values.moment)

    def json(self, name: str) -> Any:
        """A raw value; in a table, the JSON in the cell."""
        return self._read(name, values.anything)

    def mapping(self, name: str) -> dict[str, Any] | None:
        return self._read(name, values.mapping)

    def turns(self, single: str, *, required: bool = True) -> tuple[str, ...]:
        """The texts of ``turns``, or the one text of the field ``single``."""
        if "turns" in self:
            if single in self:
                self.problem(single, f"give either {single} or turns, not both")
            self.take(single)
            value = self.json("turns")
            if isinstance(value, list) and all(isinstance(turn, str) for turn in value):
                return tuple(value)
            self.problem("turns", "expected a list of texts")
            return ()
        # An empty cell under a text column is a text with nothing in it.
        if self.written.cells and isinstance(self._values.get(single), str):
            return (self._values.pop(single),)
        if single in self:
            self.take("turns")
            text = self.optional_text(single)
            return () if text is None else (text,)
        if required:
            reason = "expected a text, found null" if single in self._values else "missing"
            self.problem(single, reason)
        self._values.pop(single, None)
        self._values.pop("turns", None)
        return ()

    def answer(self, single: str) -> tuple[str, ...]:
        """The turns of a model's answer; a null stands for a reply that failed."""
        given = self._values.get("turns")
        if isinstance(given, list):
            self.put("turns", [NO_REPLY if turn is None else turn for turn in given])
        elif given is None and single in self._values and self._values[single] is None:
            self.put(single, NO_REPLY)
        return self.turns(single)

    def news(self, *records: Named) -> Iterator[Item]:
        """The records of what no row has named before; a different text later is a problem."""
        for record in records:
            key, texts, what = _name_of(record)
            said, (known, line) = hash(texts) if texts else 0, self.named.get(key, (0, 0))
            if key not in self.named or (said and not known):
                self.named[key] = said, self.place.line
                yield record
            elif said and said != known:
                self.problem("", f"another text for {what} than in {self.place.unit} {line}")

    def take_prefixed(self, prefix: str) -> dict[str, Any]:
        """Remove the fields with this prefix; values by the rest of the name."""
        names = [name for name in self._values if name.startswith(prefix)]
        found = {name.removeprefix(prefix): self.take(name) for name in names}
        return {name: value for name, value in found.items() if value is not None}

    def rest(self) -> dict[str, Any]:
        """The fields nobody read, and those of the object ``extra``."""
        extra = self.mapping("extra") or {}
        cells = self.written.cells
        kept = {name: value for name, value in self._values.items() if name and not (cells and value == "")}
        self._values = {}
        return {**extra, **kept}


def _name_of(record: Named) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """The key of what a record names, its text, and what messages call it."""
    if isinstance(record, PromptRecord):
        texts = (*record.turns, record.input or "") if record.turns else ()
        return ("prompt", record.subset, record.id), texts, f'prompt "{record.id}"'
    if isinstance(record, CompletionRecord):
        name = record.contestant or record.id
        what = f'the answer of "{name}" to prompt "{record.prompt}"'
        return ("completion", record.subset, record.prompt, name), record.turns, what
    name = record.slug if isinstance(record, RaterRecord) else record.name
    return (type(record).__name__, name), (), name


class Kind(IntEnum):
    """Contents of a file, in the order of import: records that others name come first."""

    STUDY = 1
    CONTESTANTS = 2
    RATERS = 3
    PROMPTS = 4
    QUESTIONS = 5
    COMPLETIONS = 6
    PAIRS = 7
    COMPARISONS = 8
    SCORES = 9
    ANSWERS = 10
    FEATURES = 11
    NOTHING = 12  # understood, but nothing is imported


OPINIONS: Final = (Kind.COMPARISONS, Kind.SCORES, Kind.ANSWERS)
"""Kinds of opinions."""


@dataclass(frozen=True)
class Head:
    """A file with its form and the fields of its first record."""

    file: InputFile
    form: Form
    fields: frozenset[str]

    @property
    def is_typed(self) -> bool:
        """Tell whether texts, numbers and lists can be told apart."""
        return self.form is not Form.CELLS


class DataSet(NamedTuple):
    """A published data set: how its authors spell it, and what a page says of it in Markdown."""

    name: str
    licence: str
    description: str


Read: TypeAlias = Callable[[InputFile], Iterable[Item]]
"""Makes the records and problems of a file; may raise BrokenFileError."""


@dataclass(frozen=True)
class Shape:
    """Files with these ``fields``, and of which ``when`` is true: their kind, and how they are read.

    Of fields with a bar between them, such as ``uid|question_id``, one is enough.
    """

    kind: Kind
    fields: str
    read: Read
    when: Callable[[Head], bool] = lambda head: True

    def fits(self, head: Head) -> bool:
        names = (name.split("|") for name in self.fields.split())
        return not any(map(head.fields.isdisjoint, names)) and self.when(head)


@dataclass(frozen=True)
class Format:
    """A way of writing data down.

    A file has the first of the ``shapes`` that fits; with ``is_typed``, a table of cells has none. ``needs``
    names required fields in messages. ``told`` is what only the path of a file says, or whoever
    imports it: its subset, the contestant who wrote its texts, or the judge who gave all its ratings.
    ``data_set`` is the one that is published in this format.
    """

    name: str
    title: str
    needs: str
    shapes: tuple[Shape, ...] = ()
    is_typed: bool = False
    told: frozenset[str] = frozenset()
    data_set: DataSet | None = None

    def shape(self, head: Head) -> Shape | None:
        """The shape of a file, or None for a file of another format."""
        may_be = head.is_typed or not self.is_typed
        return next((shape for shape in self.shapes if may_be and shape.fits(head)), None)


def judge_of(file: InputFile, slug: str, **facts: Any) -> RaterRecord:
    """The judge whose ratings a file holds: the one named by who imports it, or else by the path."""
    told = {name: value for name, value in facts.items() if value}
    return RaterRecord(
        slug=file.about.judge or slug,
        kind="judge",
        facts={**told, **file.about.facts},
        implied=True,
        place=file.place(),
    )


FORMULA: Final = frozenset("=+-@\t\r")

SUBSET: Final = frozenset({"subset"})
SUBSET_AND_JUDGE: Final = frozenset({"subset", "judge"})

Build: TypeAlias = Callable[[Fields], Iterable[Item | None]]
"""Makes the records of one row; problems stay in its fields, and None stands for a record that has some."""


def by_row(build: Build, note: str = "", *, own: bool = False) -> Read:
    """Reading of files whose rows need nothing but themselves, after a note about the file."""

    def read(file: InputFile) -> Iterator[Item]:
        if note:
            yield Note(file.place(), note)
        yield from read_rows(file, build, own=own)

    return read


def left_out(why: str) -> Read:
    """Reading of files of which nothing is imported."""
    return lambda file: [Note(file.place(), f"left out{why}")]


def read_rows(
    file: InputFile,
    build: Build,
    *,
    lenient: bool = False,
    own: bool = False,
    pass_by: Callable[[], object] = tuple,
) -> Iterator[Item]:
    """The records that ``build`` makes of each row, or the row's problems.

    ``lenient`` takes numbers and JSON as texts in every form. Files of our ``own`` have guarded cells, and
    JSON as texts in Parquet, where a column has one type. ``pass_by`` is called for each row that is left
    out, by formats in which the order of rows tells what they are about.
    """
    formulas = _Formulas() if file.form is Form.CELLS else None
    named: Mentions = {}
    for row in file.rows():
        if (row.place.line if isinstance(row, Problem) else row[0]) in file.left_out:
            pass_by()
            continue
        if isinstance(row, Problem):
            yield row
            continue
        line, given = row
        fields = Fields(given, file.place(line), cells=lenient or formulas is not None)
        fields.named = named
        if formulas:
            formulas.look_at(fields.place, given)
        if own:
            fields.written = fields.written._replace(json_texts=file.form is not Form.JSON)
            fields = fields.unguarded() if formulas else fields
        items = list(build(fields))
        yield from fields.problems or filter(None, items)
    if formulas and formulas.count:
        yield formulas.note(file)


class _Formulas:
    """Counts cells that a spreadsheet would take for formulas."""

    def __init__(self) -> None:
        self.count = 0
        self._first = ""

    def look_at(self, place: Place, values: Mapping[str, Any]) -> None:
        for column, value in values.items():
            if value and value[0] in FORMULA and not _is_number(value):
                self.count += 1
                self._first = self._first or f'{place.unit} {place.line}, column "{column}"'

    def note(self, file: InputFile) -> Note:
        if self.count == 1:
            return Note(file.place(), f"1 cell begins like a formula ({self._first}); it is kept as text")
        text = f"{self.count:,} cells begin like a formula (first: {self._first}); they are kept as text"
        return Note(file.place(), text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def digest(*texts: str) -> str:
    """An id of texts: 12 hexadecimal digits of their SHA-256."""
    return hashlib.sha256("\n\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
