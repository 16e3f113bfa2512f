"""Walking through a file row by row, and what rows name in passing. Pure."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, TypeAlias

from arena.data.formats.fields import Fields
from arena.data.formats.files import Form, InputFile
from arena.data.formats.records import CompletionRecord, ContestantRecord, Item, Note, Problem, PromptRecord

# What a file can be, and what a format is. Pure.


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
