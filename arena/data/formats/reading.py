"""Walking through a file row by row, and what rows name in passing. Pure."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from enum import IntEnum
from typing import Any, Final, TypeAlias

from arena.data.formats.files import Form, InputFile, json_type
from arena.data.formats.records import (
    CompletionRecord,
    ContestantRecord,
    Field,
    Item,
    Note,
    Place,
    Problem,
    PromptRecord,
)
from arena.data.writing import Type

MAX_DEPTH: Final = 32
"""How deep lists and objects may nest in a kept field."""

_GUARDED: Final = re.compile(r"'+[=+\-@\t\r]")
"""What an export writes into a cell for a text that begins like a formula: one apostrophe more."""

_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")

DISTURBING: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of whatever is written after them."""

MAX_SCORE: Final = Decimal(99_999)
"""Scores lie between minus this and this: what the table's eight digits, three of them decimals, hold."""

YEARS: Final = range(1900, 2200)
"""Years a time may lie in; others are slips, and databases and zones stumble over the first and the last."""

_WHOLE: Final = re.compile(r"\s*([-+]?[0-9]{1,18})(\.0+)?\s*")


class Fields:
    """The fields of one JSON object or table row.

    Each reader takes its field out and returns its value, or a harmless stand-in after adding a Problem;
    what nobody took is ``rest()``. Where ``cells`` is true every value is a table cell: numbers and JSON are
    written as text, and an empty cell says nothing.
    """

    def __init__(self, values: Mapping[str, Any], place: Place, *, cells: bool = False) -> None:
        self.place = place
        self.problems: list[Problem] = []
        self._values = dict(values)
        self._cells = cells
        self._json_texts = cells
        self._shown: Mapping[str, str] = {}
        for name, value in values.items():
            if reason := unstorable(value) or unstorable(name):
                self.problem(name.replace("\0", ""), reason)

    def __contains__(self, name: str) -> bool:
        """Whether the field is there and says something."""
        return self._values.get(name) is not None and not (self._cells and self._values[name] == "")

    def problem(self, name: str, reason: str) -> None:
        self.problems.append(Problem(self.place, self._shown.get(name, name), reason))

    def unguarded(self) -> "Fields":
        """The same without the apostrophes that an export puts before what a spreadsheet would calculate."""
        for name, value in self._values.items():
            if isinstance(value, str) and value.startswith("'") and _GUARDED.match(value):
                self._values[name] = value[1:]
        return self

    def with_json_texts(self) -> "Fields":
        """The same where a text in the place of a list or an object is its JSON, as it is in table cells."""
        self._json_texts = True
        return self

    def put(self, name: str, value: Any) -> None:
        """Add a field, or give one another value."""
        self._values[name] = value

    def peek(self, name: str) -> Any:
        """The value as it came, left in its place; None where the field is absent."""
        return self._values.get(name)

    def pick(self, columns: Mapping[str, str]) -> dict[str, Any]:
        """Take out some columns, named by other names for them: ``{other name: column}``."""
        found = {name: self._values[column] for name, column in columns.items() if column in self._values}
        for column in columns.values():
            self._values.pop(column, None)
        return found

    def under_other_names(self, values: Mapping[str, Any], columns: Mapping[str, str]) -> "Fields":
        """Fields made of values of these; problems go to these, and name the column with the other name."""
        other = Fields(values, self.place, cells=True)
        other._shown = {
            name: f"{name} (column {column})" for name, column in columns.items() if name != column
        }
        other.problems = self.problems
        return other

    def take(self, name: str) -> Any:
        """The value as it came; None where the field is absent, null or an empty cell."""
        value = self._values.pop(name, None)
        return None if self._cells and value == "" else value

    def optional_text(self, name: str) -> str | None:
        """A text, or None where the file does not say. Whole numbers are taken as text, for ids."""
        value = self.take(name)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        self.problem(name, f"expected a text, found {json_type(value)}")
        return None

    def text(self, name: str) -> str:
        """A text, empty where absent."""
        return self.optional_text(name) or ""

    def required_text(self, name: str) -> str:
        """A text that must not be blank."""
        problems = len(self.problems)
        value = self.text(name)
        if not value.strip() and len(self.problems) == problems:
            self.problem(name, "missing")
        return value

    def choice(self, name: str, choices: tuple[str, ...]) -> str | None:
        """One of a few words, or None where absent."""
        value = self.optional_text(name)
        if value is not None and value not in choices:
            self.problem(name, f'"{value}" is not one of {", ".join(choices)}')
            return None
        return value

    def integer(self, name: str, *, least: int = 0, most: int = 2**31 - 1) -> int | None:
        """A whole number within bounds, or None where absent."""
        value = self.take(name)
        if self._cells and isinstance(value, str):
            whole = _WHOLE.fullmatch(value)
            if whole is None:
                self.problem(name, f'"{value}" is not a whole number')
                return None
            value = int(whole[1])
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            found = value if isinstance(value, float) else json_type(value)
            self.problem(name, f"expected a whole number, found {found}")
            return None
        if not least <= value <= most:
            self.problem(name, f"{value} is not between {least} and {most}")
            return None
        return value

    def number(self, name: str, *, least: float, most: float) -> Decimal | None:
        """A finite number within bounds (``most`` left out), or None where absent."""
        value = self.take(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            self.problem(name, f"expected a number, found {json_type(value)}")
            return None
        if isinstance(value, str) and not self._cells:
            self.problem(name, "expected a number, found a text")
            return None
        try:
            number = Decimal(str(value).strip().replace("_", "x"))
        except InvalidOperation:
            self.problem(name, f'"{value}" is not a number')
            return None
        if not number.is_finite():
            self.problem(name, f"{value} is not a finite number")
        elif not least <= number < most:
            self.problem(name, f"{value} is not between {least:g} and {most:g}")
        else:
            return number
        return None

    def flag(self, name: str) -> bool | None:
        """True or false, or None where absent."""
        value = self.take(name)
        if self._cells and isinstance(value, str):
            value = {"true": True, "false": False}.get(value.lower(), value)
        if value is None or isinstance(value, bool):
            return value
        self.problem(name, "expected true or false")
        return None

    def moment(self, name: str) -> datetime | None:
        """An ISO 8601 date and time, or seconds since 1970; without a zone it is UTC."""
        value = self.take(name)
        if value is None:
            return None
        moment = _moment(value)
        if moment is not None and moment.year in YEARS:
            return moment
        self.problem(name, f"{str(value)[:40]!r} is neither an ISO 8601 time nor seconds since 1970")
        return None

    def json(self, name: str) -> Any:
        """A value as it came; in a table, the JSON in the cell."""
        value = self.take(name)
        if not self._json_texts or not isinstance(value, str):
            return value
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            self.problem(name, "the cell does not hold valid JSON")
            return None
        if reason := unstorable(parsed):
            self.problem(name, reason)
            return None
        return parsed

    def mapping(self, name: str) -> dict[str, Any] | None:
        """An object, or None where absent."""
        value = self.json(name)
        if value is None or isinstance(value, dict):
            return value
        self.problem(name, f"expected an object, found {json_type(value)}")
        return None

    def turns(self, single: str, *, required: bool = True) -> tuple[str, ...]:
        """The texts of ``turns``, or the one text of the field ``single`` instead of it."""
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
        if self._cells and isinstance(self._values.get(single), str):
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

    def take_prefixed(self, prefix: str) -> dict[str, Any]:
        """Take out the fields whose names begin so and that say something; named by what follows."""
        names = [name for name in self._values if name.startswith(prefix)]
        found = {name.removeprefix(prefix): self.take(name) for name in names}
        return {name: value for name, value in found.items() if value is not None}

    def read(self, declared: Field) -> Any:
        """The value of a field that no rule but its type binds; None where absent."""
        return _READERS[declared.type](self, declared.name)

    def rest(self) -> dict[str, Any]:
        """The fields nobody took, to be kept as they are, and those of an ``extra`` object."""
        extra = self.mapping("extra") or {}
        kept = {
            name: value for name, value in self._values.items() if name and not (self._cells and value == "")
        }
        self._values = {}
        return {**extra, **kept}


_READERS: Final[Mapping[Type, Callable[[Fields, str], Any]]] = {
    Type.TEXT: Fields.optional_text,
    Type.INTEGER: Fields.integer,
    Type.FLAG: Fields.flag,
    Type.MOMENT: Fields.moment,
    Type.JSON: Fields.mapping,
}


def _moment(value: Any) -> datetime | None:
    try:
        if isinstance(value, str) and not value.replace(".", "", 1).isdigit():
            moment = datetime.fromisoformat(value)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if not isinstance(value, bool):
            return datetime.fromtimestamp(float(value), UTC)
    except (ValueError, TypeError, OverflowError, OSError):
        pass
    return None


def unstorable(value: Any, depth: int = 0) -> str:
    """Why a database would refuse a value, or the empty string.

    PostgreSQL stores neither NUL characters nor halves of surrogate pairs, and JSON has no infinite numbers.
    """
    if isinstance(value, str):
        if "\0" in value:
            return "holds a NUL character, which cannot be stored"
        if not value.isascii() and _SURROGATE.search(value):
            return "holds half of a surrogate pair, which is no character"
        return ""
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"{value} is not a number that can be stored"
    if isinstance(value, list | dict):
        if depth >= MAX_DEPTH:
            return f"nested more than {MAX_DEPTH} deep"
        parts = value if isinstance(value, list) else (*value.keys(), *value.values())
        return next((reason for part in parts if (reason := unstorable(part, depth + 1))), "")
    return ""


class Kind(IntEnum):
    """What a file holds, in the order in which files are imported: what others name comes first."""

    CONTESTANTS = 1
    RATERS = 2
    PROMPTS = 3
    COMPLETIONS = 4
    PAIRS = 5
    """Gold labels."""
    COMPARISONS = 6
    NOTHING = 7
    """Understood, and nothing in it is imported."""


@dataclass(frozen=True)
class Head:
    """What is known of a file before it is read: its name, its form and its first record's fields."""

    file: InputFile
    form: Form
    fields: frozenset[str]

    @property
    def is_typed(self) -> bool:
        """Whether values know what they are, so that texts, numbers and lists can be told apart."""
        return self.form is not Form.CELLS


Companions: TypeAlias = Mapping[Kind, Sequence[InputFile]]
"""The files of the same format that are imported together with one, by what they hold."""


@dataclass(frozen=True)
class Format:
    """A way of writing data down.

    ``recognise`` says what a file of this format holds, or None where it is not of this format. ``read``
    yields the file's records with the problems met, and may raise BrokenFileError; where a file says things
    only together with another one, that is among its companions. ``needs`` describes for
    messages which fields make a file one of this format.
    """

    name: str
    title: str
    needs: str
    recognise: Callable[[Head], Kind | None]
    read: Callable[[InputFile, Kind, Companions], Iterator[Item]]


FORMULA: Final = frozenset("=+-@\t\r")
"""What a spreadsheet takes for the beginning of a formula."""

Build: TypeAlias = Callable[[Fields], Iterable[Item]]
"""Makes the records of one row; what is wrong with the row is left in its fields."""


def read_rows(file: InputFile, build: Build, *, lenient: bool = False) -> Iterator[Item]:
    """What ``build`` makes of each JSON object or table row; a row with problems yields those instead.

    ``lenient`` takes numbers and JSON that are written as text in every form of file, not only in cells.
    """
    formulas = _Formulas() if file.form is Form.CELLS else None
    for row in file.rows():
        if isinstance(row, Problem):
            yield row
            continue
        line, values = row
        fields = Fields(values, file.place(line), cells=lenient or formulas is not None)
        if formulas:
            formulas.look_at(line, values)
        items = list(build(fields))
        yield from fields.problems or items
    if formulas and formulas.count:
        yield formulas.note(file)


class _Formulas:
    """Counts cells that a spreadsheet would take for formulas."""

    def __init__(self) -> None:
        self.count = 0
        self._first = ""

    def look_at(self, line: int, values: Mapping[str, Any]) -> None:
        for column, value in values.items():
            if value and value[0] in FORMULA and not _is_number(value):
                self.count += 1
                self._first = self._first or f'line {line}, column "{column}"'

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
    """A name for texts without one: 12 hexadecimal digits of the SHA-256 of them, a blank line between."""
    return hashlib.sha256("\n\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:12]


class Mentions:
    """What the rows of a file name in passing: each thing becomes a record the first time it is named.

    Where a row gives it another text than an earlier row, that is a problem of the row.
    """

    def __init__(self) -> None:
        self._contestants: set[str] = set()
        self._texts: dict[tuple[str, ...], tuple[int, int]] = {}
        """The text's hash (0: not known) and the line, of each prompt and of each answer to it."""

    def prompt(self, fields: Fields, record: PromptRecord) -> Iterator[Item]:
        texts = (*record.turns, record.input or "") if record.turns else ()
        if self._is_news(fields, (record.subset, record.id), texts, f'prompt "{record.id}"'):
            yield record

    def answer(self, fields: Fields, record: CompletionRecord) -> Iterator[Item]:
        """The completion, after its contestant."""
        name = record.contestant or ""
        if name not in self._contestants:
            self._contestants.add(name)
            yield ContestantRecord(name=name, implied=True, place=record.place)
        key = (record.subset, record.prompt, name)
        if self._is_news(fields, key, record.turns, f'the answer of "{name}" to prompt "{record.prompt}"'):
            yield record

    def _is_news(self, fields: Fields, key: tuple[str, ...], texts: tuple[str, ...], what: str) -> bool:
        """Whether this was not said before; something else said before is a problem."""
        known = self._texts.get(key)
        said = hash(texts) if texts else 0
        if known is None or (said and not known[0]):
            self._texts[key] = said, fields.place.line
            return True
        if said and said != known[0]:
            fields.problem("", f"another text for {what} than in {fields.place.unit} {known[1]}")
        return False
