"""Any table, with a mapping of its columns to our fields. Pure.

What a row names in passing becomes a record; unmapped columns are kept.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final

from arena.data.formats import ours, verdicts
from arena.data.formats.files import InputFile
from arena.data.formats.pairs import Side, with_author
from arena.data.formats.reading import OPINIONS, Fields, Format, Kind, Shape, digest, read_rows
from arena.data.formats.records import (
    FIELDS,
    GOLD,
    SIDES,
    AboutPair,
    AboutText,
    ComparisonRecord,
    ContestantRecord,
    FeatureRecord,
    Field,
    GoldRecord,
    Item,
    Note,
    Place,
    Problem,
    PromptRecord,
    QuestionRecord,
    RaterRecord,
    StudyRecord,
    TextRecord,
    Unused,
    VerdictValues,
    in_words,
)
from arena.data.formats.values import whole_number
from arena.data.formats.workbooks import cell_text
from arena.files.writing import Type
from arena.rules import scales
from arena.rules.subsets import NO_PROMPT_SUBSET
from arena.rules.verdicts import REASONS, TEXT_REASONS

_TEXT_OF_PROMPT: Final = (
    Field("instruction", Type.TEXT, "the prompt's text"),
    Field("input", Type.TEXT, "material for the prompt"),
    Field("category", Type.TEXT, "the prompt's category"),
)
_TEXTS: Final = (
    *_TEXT_OF_PROMPT,
    Field("first_text", Type.TEXT, "the answer shown first"),
    Field("second_text", Type.TEXT, "the answer shown second"),
)
_ANSWER: Final = Field("text", Type.TEXT, "the answer")
_ONLY_IN_TABLES: Final[Mapping[Kind, tuple[Field, ...]]] = {
    Kind.COMPLETIONS: _TEXT_OF_PROMPT,
    Kind.PAIRS: _TEXTS,
    Kind.COMPARISONS: (*_TEXTS, Field("winner", Type.TEXT, "the better answer, in a word: left, right, tie")),
    Kind.QUESTIONS: _TEXT_OF_PROMPT,
    Kind.SCORES: (*_TEXT_OF_PROMPT, _ANSWER),
    Kind.ANSWERS: (*_TEXT_OF_PROMPT, _ANSWER),
}
"""Fields beyond those of our own records."""

_ORDER: Final[Mapping[Kind, str]] = {
    Kind.PROMPTS: "instruction id category input domain subset turns references",
    Kind.CONTESTANTS: (
        "name slug kind family organisation licence size generation benchmarks retired_at provisional"
    ),
    Kind.COMPLETIONS: "instruction contestant text prompt category input turns id subset",
    Kind.RATERS: "rater rater_kind name groups simulated",
    Kind.PAIRS: (
        "instruction first_text second_text first second gold gold_source prompt input category "
        "first_id second_id subset"
    ),
    Kind.COMPARISONS: (
        "first second winner rater instruction first_text second_text rating points prompt input category "
        "first_id second_id rater_kind reason first_score second_score raw_reply rationale seconds "
        "created_at id repeat criteria subset"
    ),
    Kind.QUESTIONS: "text instruction prompt position labels required input category proposed_by subset",
    Kind.SCORES: (
        "contestant score rater instruction text prompt lowest highest turn input category completion "
        "rater_kind reason expected raw_reply rationale seconds created_at id repeat subset"
    ),
    Kind.ANSWERS: (
        "contestant question answer rater instruction text prompt input category completion rater_kind "
        "reason raw_reply rationale seconds created_at id repeat subset"
    ),
}


def _mapped(kind: Kind) -> tuple[Field, ...]:
    known = {entry.name: entry for entry in (*FIELDS[kind.name.lower()], *_ONLY_IN_TABLES.get(kind, ()))}
    return tuple(known[name] for name in _ORDER[kind].split())


MAPPABLE: Final[Mapping[Kind, tuple[Field, ...]]] = {kind: _mapped(kind) for kind in _ORDER}
"""Fields that a mapping may name, the most important first."""

NEEDED: Final[Mapping[Kind, tuple[tuple[str, ...], ...]]] = {
    Kind.PROMPTS: (("instruction", "turns"),),
    Kind.CONTESTANTS: (("name",),),
    Kind.COMPLETIONS: (("prompt", "instruction"), ("text", "turns"), ("contestant", "id")),
    Kind.RATERS: (("rater",), ("rater_kind",)),
    Kind.PAIRS: (
        ("prompt", "instruction", "first_text"),
        ("first", "first_id", "first_text"),
        ("second", "second_id", "second_text"),
        ("gold",),
        ("gold_source",),
    ),
    Kind.COMPARISONS: (
        ("first", "first_id", "first_text"),
        ("second", "second_id", "second_text"),
        ("rater",),
        ("winner", "rating", "reason"),
    ),
    Kind.QUESTIONS: (("prompt", "instruction"), ("text",)),
    Kind.SCORES: (("prompt", "instruction"), ("contestant", "completion"), ("rater",), ("score", "reason")),
    Kind.ANSWERS: (
        ("prompt", "instruction"),
        ("contestant", "completion"),
        ("question",),
        ("rater",),
        ("answer", "reason"),
    ),
}
"""Groups of which a mapping must name at least one field each."""


CHECKED: Final[Mapping[str, tuple[str, ...]]] = {
    "yes": ("yes", "y", "true", "met"),
    "no": ("no", "n", "false", "not met"),
    "unknown": ("unknown", "cannot tell", "unsure"),
}
"""Words for the outcome of a check, in lower case."""

_OUTCOMES: Final = {word: outcome for outcome, words in CHECKED.items() for word in words}
_VERDICTS: Final = ("winner", "rating", "gold", "answer")
_NUMBER: Final = re.compile(r"\d+$")
_OF_TWO: Final = ("winner", "gold")
_OF_SIDE: Final = ("", "_text", "_id")
"""Ends of the fields that tell of a side."""
SPREAD: Final = ("winner", "rating", "score", "answer", "text")
"""Fields of which each column may be a rater's, or a model's."""

MOST_VALUES: Final = 20  # different values that a column of verdicts may have
_LONGEST_VALUE: Final = 200


def names(kind: Kind) -> list[str]:
    return [entry.name for entry in MAPPABLE[kind]]


KINDS: Final = {kind.name.lower(): kind for kind in MAPPABLE}


class MappingError(ValueError):
    """A mapping cannot be read; the message says why."""


@dataclass(frozen=True)
class ColumnMapping:
    """The kind of a table's rows, a column or constant for each field, and what the values of a verdict mean.

    Where ``values`` are given, no other value has a meaning. With ``further`` columns of the verdict or of
    the text, each of its columns is a rater or a contestant. A column may be several joined by plus signs:
    ``dataset+id``.
    """

    kind: Kind
    columns: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    further: tuple[str, ...] = ()

    def __contains__(self, name: str) -> bool:
        return name in self.columns or name in self.constants or (name == self.owner and bool(self.further))

    @property
    def owner(self) -> str:
        """Return the field that each column stands for where the mapping has further ones."""
        return "contestant" if self.kind is Kind.COMPLETIONS else "rater"

    @property
    def spread(self) -> str:
        """The field that may have further columns; empty without one."""
        return {Kind.COMPLETIONS: "text", Kind.SCORES: "score"}.get(self.kind, self.verdict)

    @property
    def spread_columns(self) -> tuple[str, ...]:
        """The columns that are raters or contestants."""
        return (self.columns[self.spread], *self.further) if self.further else ()

    @property
    def verdict(self) -> str:
        """The field that says which of two is better, or whether a requirement is met; empty without one."""
        return next((name for name in _VERDICTS if name in self), "")

    def meanings(self) -> tuple[str, ...]:
        """Return the meanings that a value of the verdict may have."""
        if self.verdict == "gold":
            return GOLD
        if self.verdict == "winner":
            return (*GOLD, *REASONS)
        if self.verdict == "answer":
            return (*CHECKED, *TEXT_REASONS)
        points = whole_number(self.constants.get("points", ""))
        most = points if points in scales.POINTS else max(scales.POINTS)
        return (*map(str, range(1, most + 1)), *REASONS)

    def meaning_of(self, value: str, points: int | None = None) -> str | None:
        """Return the meaning of a value of the verdict, or None if nobody said it."""
        if self.values:
            said = self.values.get(value)
            return said and (self._known(said) or said)
        if self.verdict == "rating":
            rating = whole_number(value)
            return str(rating) if rating is not None and 1 <= rating <= (points or rating) else None
        return self._known(value)

    def _known(self, value: str) -> str | None:
        """The meaning of a known word, or of the name of a side's column."""
        if self.verdict == "answer":
            return _OUTCOMES.get(value.lower())
        if self.verdict not in _OF_TWO:
            return None
        first, second = ([self.columns.get(f"{side}{what}", "") for what in _OF_SIDE] for side in SIDES)
        numbers = [
            {found[0] for name in names if (found := _NUMBER.search(name))} for names in (first, second)
        ]
        if value.isdigit() and all(numbers):  # with response_0 and response_1, a 1 is the second
            return verdicts.named(value, *numbers)
        return verdicts.side(value, first, second)

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind.name.lower(),
            "columns": dict(self.columns),
            "constants": dict(self.constants),
            "values": dict(self.values),
            "further": list(self.further),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ColumnMapping":
        """Raises MappingError."""
        kind = kind_named(str(data.get("kind", "")))
        columns, constants, values = (data.get(name, {}) for name in ("columns", "constants", "values"))
        return cls(kind, columns, constants, values, tuple(data.get("further", ())))

    def as_options(self) -> str:
        """The mapping as command line options."""
        pairs = [*self.columns.items(), *((self.spread, column) for column in self.further)]
        maps = [shlex.quote(f"{name}={column}") for name, column in pairs]
        sets = [shlex.quote(f"{name}={value}") for name, value in self.constants.items()]
        options = [f"--map {text}" for text in maps] + [f"--set {text}" for text in sets]
        options += [_value_option(value, meaning) for value, meaning in self.values.items()]
        return " ".join(["--format table", f"--kind {self.kind.name.lower()}", *options])

    def faults(self, shown: Callable[[str], str] = str) -> list[str]:
        """All faults of the mapping itself, with fields as they are ``shown``."""
        kind, known = in_words(self.kind.name.lower()), names(self.kind)
        found = [
            f'{kind} have no field "{shown(name)}"; their fields are {", ".join(map(shown, known))}'
            for name in (*self.columns, *self.constants)
            if name not in known
        ]
        found += [
            f'"{shown(name)}" has a column and a value for every row; give one of them'
            for name in self.columns
            if name in self.constants
        ]
        found += [f'"{name}" is mapped to no column' for name, column in self.columns.items() if not column]
        for group in NEEDED[self.kind]:
            if not any(name in self for name in group):
                found.append(f"{kind} need {' or '.join(map(shown, group))}; give it a column or one value")
        if "winner" in self and "rating" in self:
            found.append(f"{shown('winner')} and {shown('rating')} are both given; give one of them")
        if "rating" in self and "points" not in self:
            found.append(f"a rating needs {shown('points')}: on how many points it was given")
        if self.further and self.owner in {**self.columns, **self.constants}:
            found.append(
                f"each of {len(self.further) + 1} columns is a {in_words(self.owner)} of its own; "
                f"give no other {shown(self.owner)}"
            )
        if self.values and not self.verdict:
            found.append(
                f"only values of {', '.join(map(shown, _VERDICTS))} have a meaning; give one of them"
            )
        found += [
            f'"{value}" cannot mean "{meaning}"; choose one of {", ".join(self.meanings())}'
            for value, meaning in self.values.items()
            if self.verdict and self.meaning_of(value) not in self.meanings()
        ]
        return found

    def missing_from(self, columns: Iterable[str]) -> list[str]:
        """Complaints about mapped columns that are not among ``columns``."""
        there = list(columns)
        listed = ", ".join(there)
        found = []
        for name, column in (*self.columns.items(), *((self.spread, column) for column in self.further)):
            parts = parts_of(column, there)
            missing = [part for part in parts if part not in there]
            # If no part is there, the plus sign belongs to a misspelt name.
            found += [
                f'the file has no column "{one}" for {name}; its columns are {listed}'
                for one in (missing if len(missing) < len(parts) else [column])
            ]
        return found


def parts_of(column: str, there: Collection[str]) -> list[str]:
    """The columns of which this one is joined."""
    return [column] if column in there else [part.strip() for part in column.split("+")]


def _value_option(value: str, meaning: str) -> str:
    # Behind a space, a word with a hyphen in front would be another option.
    return f"--value{'=' if value.startswith('-') else ' '}{shlex.quote(f'{value}={meaning}')}"


def kind_named(name: str) -> Kind:
    """The kind of this name. Raises MappingError."""
    if name not in KINDS:
        raise MappingError(f'"{name}" is no kind of rows; choose one of {", ".join(KINDS)}')
    return KINDS[name]


def parse_mapping(
    kind: str, columns: Iterable[str], constants: Iterable[str], values: Iterable[str] = ()
) -> ColumnMapping:
    """A mapping of texts ``field=column``, ``field=value`` and ``value=meaning``. Raises MappingError."""
    further: list[str] = []
    return ColumnMapping(
        kind_named(kind),
        _pairs(columns, "FIELD=COLUMN", further),
        _pairs(constants, "FIELD=VALUE"),
        _pairs(values, "VALUE=MEANING"),
        tuple(further),
    )


def _pairs(texts: Iterable[str], form: str, further: list[str] | None = None) -> dict[str, str]:
    """Names and what they are; a verdict may have ``further`` columns."""
    found: dict[str, str] = {}
    for text in texts:
        # The value of a verdict may hold an equals sign; a field and a meaning do not.
        name, equals, value = text.rpartition("=") if form == "VALUE=MEANING" else text.partition("=")
        if not equals or not name:
            raise MappingError(f'"{text}" is not of the form {form}')
        if name in found and further is not None and name in SPREAD:
            further.append(value)
            continue
        if name in found:
            raise MappingError(f'"{name}" is given two times: {found[name]} and {value}')
        found[name] = value
    return found


NAME: Final = "table"
COMMON_PROMPT: Final = "comparisons"  # prompt of comparisons that name none


def shape_of(mapping: ColumnMapping) -> Shape:
    """The shape of one table."""
    return Shape(mapping.kind, "", _Reader(mapping).read)


class _Reader:
    def __init__(self, mapping: ColumnMapping) -> None:
        self._mapping = mapping
        self._values: Counter[str] = Counter()
        self._unknown: dict[str, tuple[Place, str]] = {}
        """Place and field of values without a meaning."""
        self._unrated = 0
        self._answered: dict[int, tuple[int, int]] = {}
        """By prompt, the first row with it and the models that answered so far, as bits."""
        self._parts: Mapping[str, list[str]] = {}
        self._used: Collection[str] = ()

    def read(self, file: InputFile) -> Iterator[Item]:
        there = file.columns()
        self._parts = {name: parts_of(column, there) for name, column in self._mapping.columns.items()}
        self._used = {*self._mapping.further, *chain(*self._parts.values())}
        if self._mapping.kind is Kind.COMPLETIONS:
            for column in self._mapping.spread_columns:
                yield ContestantRecord(name=column, implied=True, place=file.place())
        yield from read_rows(file, self._row, lenient=True)
        if self._unrated:
            rows = "1 row is" if self._unrated == 1 else f"{self._unrated:,} rows are"
            yield Note(file.place(), f"{rows} left out because nobody rated them")
        yield from self._unknown_values()
        if self._unknown or self._mapping.values:
            yield VerdictValues(file.place(), dict(self._values.most_common()))
        if unused := tuple(column for column in there if column not in self._used):
            yield Unused(file.place(), unused)

    def _unknown_values(self) -> Iterator[Problem]:
        for value, (place, name) in self._unknown.items():
            if len(self._values) > MOST_VALUES:
                reason = f'"{value}" is one of more than {MOST_VALUES} values; a column of verdicts has few'
                yield Problem(place, name, reason, of_row=False)
                return
            rows = "1 row" if self._values[value] == 1 else f"{self._values[value]:,} rows"
            way_out = f"choose one on the import page or say {_value_option(value, 'MEANING')}"
            meanings = ", ".join(self._mapping.meanings())
            reason = f'"{value}", in {rows}, has no known meaning; {way_out}: {meanings}'
            yield Problem(place, name, reason, of_row=False)

    def _row(self, row: Fields) -> Iterator[Item]:
        mapping = self._mapping
        cells = row.pick(self._used)
        values = {name: _joined(parts, cells) for name, parts in self._parts.items() if cells.keys() & parts}
        values |= mapping.constants
        rest = row.rest()
        if not mapping.further:
            yield from self._records(row.under_other_names(values, mapping.columns), rest)
            return
        said = {mapping.columns[mapping.spread]: values.get(mapping.spread)}
        said |= {column: cells.get(column) for column in mapping.further}
        said = {column: value for column, value in said.items() if cell_text(value).strip()}
        if mapping.kind is Kind.COMPLETIONS and self._repeats(row, values, said):
            return
        if not said and mapping.kind is Kind.COMPLETIONS:
            fields = row.under_other_names(values, mapping.columns)
            if prompt := self._prompt(fields, {}):
                yield from fields.news(prompt)
        self._unrated += not said and mapping.kind in OPINIONS
        for column, value in said.items():
            theirs = {**values, mapping.spread: value, mapping.owner: column}
            fields = row.under_other_names(theirs, {**mapping.columns, mapping.spread: column})
            yield from self._records(fields, rest)
        row.problems[:] = dict.fromkeys(row.problems)  # what is wrong with the row is wrong for each of them

    def _repeats(self, row: Fields, values: Mapping[str, Any], said: Collection[str]) -> bool:
        """Note a problem where models have answers to the prompt of this row in an earlier one."""
        names = ("prompt", "subset") if values.get("prompt") else ("instruction", "input", "subset")
        key = hash(tuple(cell_text(values.get(name)) for name in names))
        line, answered = self._answered.get(key, (row.place.line, 0))
        theirs = sum(1 << at for at, column in enumerate(self._mapping.spread_columns) if column in said)
        self._answered[key] = line, answered | theirs
        if answered & theirs:
            column = self._mapping.columns.get(names[0], "")
            row.problem(column, f"the same prompt as in {row.place.unit} {line}; keep one of these rows")
        return bool(answered & theirs)

    def _records(self, fields: Fields, rest: Mapping[str, Any]) -> Iterator[Item]:
        texts = self._texts(fields) if self._mapping.kind in (Kind.PAIRS, Kind.COMPARISONS) else {}
        text = (
            fields.turns("text", required=False) if self._mapping.kind in (Kind.SCORES, Kind.ANSWERS) else ()
        )
        prompt = self._prompt(fields, texts)
        if prompt is not None:
            yield from fields.news(prompt)
        is_known = not self._mapping.verdict or self._translate(fields)
        record = ours.record_of(self._mapping.kind, fields)
        if not is_known or record is None:
            return
        if isinstance(record, ComparisonRecord | GoldRecord):
            yield from self._answers(fields, record, texts)
        if isinstance(record, TextRecord) and (
            text or (self._mapping.kind is Kind.SCORES and record.contestant)
        ):
            # That of a check is made only if its text is there.
            yield from _named(fields, record, Side(record.contestant, record.completion, text))
        if not isinstance(record, StudyRecord | RaterRecord | GoldRecord | QuestionRecord | FeatureRecord):
            record = replace(record, extra={**record.extra, **rest})
        yield record

    def _translate(self, fields: Fields) -> bool:
        """Put what the verdict's value means in its place; False if nobody said what it means."""
        name = self._mapping.verdict
        value = cell_text(fields.take(name)).strip()
        if name == "winner" and "points" not in fields:
            fields.put("points", 3)
        if not value:
            if name == "winner" and "reason" not in fields:
                fields.problem(name, "missing")
                fields.put("rating", 1)
            return True
        meaning = self._mapping.meaning_of(value, whole_number(cell_text(fields.peek("points"))))
        named = self._named(fields, value) if name in _OF_TWO else None
        meaning = None if named and meaning and named != meaning else meaning or named
        if len(value) > _LONGEST_VALUE:
            value, meaning = f"{value[:_LONGEST_VALUE]}…", None
        if (not named or meaning is None) and (value in self._values or len(self._values) <= MOST_VALUES):
            self._values[value] += 1
            if meaning is None:
                self._unknown.setdefault(value, (fields.place, fields.shown(name)))
        if meaning in REASONS:
            fields.put("reason", meaning)
        elif name == "winner":
            _put_winner(fields, meaning or "first")
        else:
            fields.put(name, meaning or self._mapping.meanings()[0])
        return meaning is not None

    def _named(self, fields: Fields, value: str) -> str | None:
        """The side whose model has this name, unless somebody said what the value means."""
        first, second = ([cell_text(fields.peek(side))] for side in SIDES)
        return None if value in self._mapping.values else verdicts.named(value, first, second)

    def _texts(self, fields: Fields) -> dict[str, tuple[str, ...]]:
        """The texts of both sides; one without an author gets a digest of it as its id."""
        texts = {name: fields.turns(f"{name}_text", required=False) for name in SIDES}
        for name, turns in texts.items():
            if name not in self._mapping and f"{name}_id" not in self._mapping:
                if not turns:
                    fields.problem(f"{name}_text", "missing")
                same = name == "second" and turns == texts["first"]
                fields.put(f"{name}_id", digest(*turns, *["2"] * same))
        return texts

    def _prompt(self, fields: Fields, texts: Mapping[str, tuple[str, ...]]) -> PromptRecord | None:
        """The prompt a row names in passing; gives the row the prompt's id."""
        kind = self._mapping.kind
        if kind is Kind.PROMPTS:
            if "id" not in fields and "instruction" in fields:
                fields.put("id", _id_of(fields.peek("instruction"), fields.peek("input")))
            return None
        if kind in (Kind.CONTESTANTS, Kind.RATERS):
            return None
        instruction, given = fields.text("instruction"), fields.optional_text("input")
        category = fields.optional_text("category")
        if "instruction" in self._mapping:
            if not instruction.strip():
                fields.problem("instruction", "missing")
        elif kind is Kind.SCORES:
            if "prompt" not in fields:
                return None
        elif "prompt" in self._mapping or kind not in (Kind.PAIRS, Kind.COMPARISONS):
            return None
        if "prompt" not in fields:
            if instruction or any(texts.values()):
                # Without a prompt, a pair of texts is one of its own, in either order.
                fields.put(
                    "prompt",
                    _id_of(instruction, given) if instruction else digest(*sorted(sum(texts.values(), ()))),
                )
            else:
                fields.put("prompt", COMMON_PROMPT)
                fields.put("subset", NO_PROMPT_SUBSET)
        return PromptRecord(
            id=str(fields.peek("prompt")),
            turns=(instruction,) if instruction else (),
            input=given,
            category=category,
            subset=str(fields.peek("subset") or ""),
            implied=True,
            place=fields.place,
        )

    def _answers(
        self, fields: Fields, pair: ComparisonRecord | GoldRecord, texts: Mapping[str, tuple[str, ...]]
    ) -> Iterator[Item]:
        """The completions named in passing: those with a text, or all without a prompt."""
        sides = {"first": (pair.first, pair.first_id), "second": (pair.second, pair.second_id)}
        for name, (contestant, own_id) in sides.items():
            if texts[name] or (contestant and "prompt" not in self._mapping):
                yield from _named(fields, pair, Side(contestant, own_id, texts[name]))


def _named(fields: Fields, about: AboutPair | AboutText, side: Side) -> Iterator[Item]:
    """The completion that a row names in passing, after its contestant."""
    return with_author(fields, side.answer(about.prompt, about.subset, fields.place))


def _joined(columns: Sequence[str], cells: Mapping[str, Any]) -> Any:
    """The value of a column, or of several joined with a slash; None if one of them says nothing."""
    if len(columns) == 1:
        return cells[columns[0]]
    texts = [cell_text(cells.get(column)) for column in columns]
    return "/".join(texts) if all(texts) else None


def _id_of(instruction: Any, given: Any) -> str:
    return digest(*(str(text) for text in (instruction, given) if text))


def _put_winner(fields: Fields, side: str) -> None:
    """Put the winner as a rating."""
    points = str(fields.peek("points")).strip()
    ratings = verdicts.RATINGS.get(whole_number(points) or 0, {})
    if not ratings:
        fields.problem("points", f"a winner has a place on 2 or 3 points, not on {points}")
    elif side not in ratings:
        fields.problem("winner", '"tie" has no place on 2 points; a tie needs 3')
    fields.put("rating", ratings.get(side, 1))


FORMAT: Final = Format(NAME, "Spreadsheet", "any columns, with a mapping")
"""The catalogue's entry, which fits no file by itself."""
