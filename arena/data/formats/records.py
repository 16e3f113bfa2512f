"""The records that files hold, and the problems found in them. Pure.

None in an optional field: the file does not say. The empty string is a value.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import UnionType
from typing import Annotated, Any, Final, NamedTuple, TypeAlias, Union, get_args, get_origin, get_type_hints

from pydantic import AfterValidator, BeforeValidator, PlainValidator, SkipValidation, ValidationInfo

from arena.data.formats import values
from arena.data.formats.values import (
    FieldError,
    Flag,
    Mention,
    Moment,
    Name,
    OnScale,
    Seconds,
    Text,
    Texts,
    Whole,
    by,
    json_type,
    validator,
)
from arena.files.writing import Table, Type
from arena.rules import feature_names as features
from arena.rules import scales
from arena.rules.verdicts import ANSWERS, NEITHER, REASONS, TEXT_REASONS
from arena.texts.visible import is_blank


class Place(NamedTuple):
    """File and line of a record or problem; line 0 is the whole file."""

    file: str
    line: int = 0
    unit: str = "line"

    def __str__(self) -> str:
        return f"{self.file}, {self.unit} {self.line}" if self.line else self.file


NOWHERE: Final = Place("records")


class Problem(NamedTuple):
    """An error that prevents an import; ``of_row`` unless more than the row at its place is wrong."""

    place: Place
    field: str
    reason: str
    of_row: bool = True

    def __str__(self) -> str:
        return f"{self.place}: {self.field}: {self.reason}" if self.field else f"{self.place}: {self.reason}"


class Note(NamedTuple):
    """Something the operator should know that does not stop an import."""

    place: Place
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


class VerdictValues(NamedTuple):
    """The values of a column of verdicts whose meaning somebody has to say, or said: rows by value."""

    place: Place
    rows: Mapping[str, int]


class RaterKinds(NamedTuple):
    """Kinds of raters by name, which somebody said of a file that does not say them."""

    place: Place
    kinds: Mapping[str, str]


class Unused(NamedTuple):
    """Columns of a file that no field is read from."""

    place: Place
    columns: tuple[str, ...]

    def __str__(self) -> str:
        names, many = ", ".join(self.columns), len(self.columns) > 1
        return (
            f"{self.place}: {f'{len(self.columns)} columns are' if many else '1 column is'} not used: {names}"
        )


_IN_WORDS: Final = {
    **{"contestant": "model", "completion": "answer", "comparison": "rating", "question": "requirement"},
    **{"contestants": "models", "completions": "answers", "comparisons": "ratings", "golds": "gold labels"},
    **{"questions": "requirements", "scores": "text scores", "answers": "checks"},
}


def in_words(name: str) -> str:
    """The word of a reader for a kind of records or a field."""
    return _IN_WORDS.get(name, name.replace("_", " "))


def counted(number: int, kind: str) -> str:
    """So many records of a kind, for readers."""
    words = in_words(kind)
    return f"{number:,} {words.removesuffix('s') if number == 1 else words}"


Extra: TypeAlias = Mapping[str, Any]  # fields without a column of their own

SIDES: Final = ("first", "second")
GOLD: Final = ("first", "tie", "second")

MOST_QUESTIONS: Final = 1000
"""Most requirements of a prompt; also the most turns."""


class Field(NamedTuple):
    """A field of a file."""

    name: str
    type: Type
    meaning: str = ""


class Wrong(NamedTuple):
    """A contradiction between fields, reported at one of them."""

    field: str
    reason: str


# An attribute with a meaning is a field of files under its name. One that files call otherwise, or write in
# several fields, names these. Reading, mappings, exports and docs/data-formats.md follow from that.

_Turn: TypeAlias = Annotated[int, by(values.whole(0, MOST_QUESTIONS)), Type.INTEGER]
_Position: TypeAlias = Annotated[int, by(values.whole(1, MOST_QUESTIONS)), Type.INTEGER]
_WhyNot: TypeAlias = Annotated[str, by(values.one_of(TEXT_REASONS))]
_WhyNoRating: TypeAlias = Annotated[str, by(values.one_of(REASONS))]
_Object: TypeAlias = Annotated[Extra, by(values.mapping), Type.JSON]
_ContestantKind: TypeAlias = Annotated[str, by(values.one_of(("model", "people")))]
_RaterKind: TypeAlias = Annotated[str, by(values.one_of(("person", "judge")))]
_Made: Final = SkipValidation
"""Marks what is made of several fields, or of the parts of one, before the record is."""

_EXTRA: Final = Field("extra", Type.JSON, "anything else (JSON object)")
_MEMBERS: Final = "of a panel, the judges from whose ratings its own follow (JSON list)"
_SUBSET: Final = "the subset of prompts"
_PROMPT: Final = "the prompt's id"
_WHO: Final = "whether the rater is a person or a judge"


class Checked:
    """A record whose fields have to fit together."""

    __slots__ = ()

    def wrong(self) -> Iterator[Wrong]:
        """Yield the contradictions between fields that are valid each by itself."""
        yield from ()


@dataclass(frozen=True, slots=True)
class ContestantRecord(Checked):
    name: Annotated[Name, "the model's name"]
    slug: Annotated[Text | None, "its short name in addresses"] = None
    kind: Annotated[_ContestantKind | None, "whether it is a model or people"] = None
    family: Annotated[Text | None, "its family"] = None
    organisation: Annotated[Text | None, "who made it"] = None
    licence: Annotated[Text | None, "its licence"] = None
    size: Annotated[Text | None, "its size"] = None
    generation: Annotated[_Object | None, "generation parameters (JSON object)"] = None
    benchmarks: Annotated[
        Mapping[str, float] | None, _Made, Type.JSON, "scores on other benchmarks (JSON object)"
    ] = None
    retired_at: Annotated[Moment | None, "when it was retired"] = None
    provisional: Annotated[Flag | None, "whether an operator still has to confirm it"] = None
    extra: Annotated[Extra, _Made, _EXTRA] = field(default_factory=dict)
    implied: bool = False  # named in passing: makes the contestant if missing, and changes nothing
    place: Annotated[Place, _Made] = NOWHERE


class ReferenceRecord(NamedTuple):
    author: str
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRecord(Checked):
    """An instruction; without turns its text is unknown."""

    id: Annotated[Name, _PROMPT] = field(kw_only=False)
    subset: Annotated[Text, _SUBSET] = ""
    category: Annotated[Text | None, "the prompt's category"] = None
    domain: Annotated[Text | None, "the prompt's domain"] = None
    turns: Annotated[
        tuple[str, ...],
        _Made,
        Field("instruction", Type.TEXT, "the prompt's text"),
        Field("turns", Type.TEXTS, "the user's turns (JSON list)"),
    ] = field(kw_only=False)
    input: Annotated[Text | None, "material for the prompt"] = None
    is_private: Annotated[
        Flag | None, Field("private", Type.FLAG, "whether only operators and judges may read it")
    ] = None
    references: Annotated[tuple[ReferenceRecord, ...], _Made, Type.JSON, "reference answers (JSON list)"] = ()
    extra: Annotated[Extra, _Made, _EXTRA] = field(default_factory=dict)
    implied: bool = False  # named in passing: makes the prompt if missing and fills in an unknown text
    place: Annotated[Place, _Made] = NOWHERE

    def wrong(self) -> Iterator[Wrong]:
        if self.turns and is_blank(self.turns[0]):
            yield Wrong("instruction", "empty")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRecord(Checked):
    """A contestant's answer to a prompt; without turns its text is unknown.

    Without a contestant it is known by its ``id``.
    """

    prompt: Annotated[Name, _PROMPT] = field(kw_only=False)
    subset: Annotated[Text, _SUBSET] = ""
    contestant: Annotated[
        str | None,
        by(lambda value, how: values.mention(value, how) or None),
        "the model that wrote the answer",
    ] = None
    id: Annotated[Mention, "the answer's own id"] = ""
    turns: Annotated[
        tuple[str, ...],
        _Made,
        Field("text", Type.TEXT, "the answer"),
        Field("turns", Type.TEXTS, "the answer's turns (JSON list)"),
    ] = field(kw_only=False)
    extra: Annotated[Extra, _Made, _EXTRA] = field(default_factory=dict)
    implied: bool = False  # named in passing: makes the completion if missing and fills in an unknown text
    place: Annotated[Place, _Made] = NOWHERE

    def wrong(self) -> Iterator[Wrong]:
        if not self.contestant and not self.id:
            way_out = "name the model that wrote the answer, or give the answer an id"
            if_other = "If the rows are requirements, give each its position"
            yield Wrong("contestant", f"missing; {way_out}. {if_other}")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRecord(Checked):
    """A requirement of a prompt. Without a position it is the next of its prompt in the file."""

    prompt: Annotated[Name, _PROMPT]
    subset: Annotated[Text, _SUBSET] = ""
    position: Annotated[_Position | None, "its place among the requirements of the prompt, from 1"] = None
    text: Annotated[Name, "the requirement, as a question"]
    labels: Annotated[tuple[str, ...] | None, by(values.labels), Type.TEXTS, "kinds of requirement"] = None
    required: Annotated[Flag | None, "whether an answer must meet it"] = None
    proposed_by: Annotated[Text | None, "the model that wrote it, if no person did"] = None
    implied: bool = False  # named in passing: makes the question if missing, and never changes its text
    place: Annotated[Place, _Made] = NOWHERE


@dataclass(frozen=True, slots=True)
class RaterRecord(Checked):
    slug: Annotated[Name, Field("rater", Type.TEXT, "the rater's short name")]
    kind: Annotated[_RaterKind, Field("rater_kind", Type.TEXT, "whether it is a person or a judge")]
    name: Annotated[Text | None, "the name to show"] = None
    simulated: Annotated[Flag | None, "whether the ratings are simulated"] = None
    groups: Annotated[Texts, "groups (JSON list)"] = ()
    facts: Annotated[
        Extra,
        _Made,
        Field("model", Type.TEXT, "the judge's model"),
        Field("protocol", Type.TEXT, "how the judge was asked"),
        Field("source", Type.TEXT, "where its ratings come from"),
        Field("prices", Type.JSON, "what it costs (JSON object)"),
        Field("seconds", Type.NUMBER, "how many seconds a rating takes"),
        Field("order_free", Type.FLAG, "whether it sees each answer alone"),
    ] = field(default_factory=dict)
    derived_from: Annotated[Texts, _MEMBERS] = ()
    implied: bool = False
    place: Annotated[Place, _Made] = NOWHERE

    def wrong(self) -> Iterator[Wrong]:
        only_judges = [*self.facts, *(["derived_from"] if self.derived_from else [])]
        if only_judges and self.kind == "person":
            yield Wrong(only_judges[0], "only a judge has this")


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutPair(Checked):
    """Something about two completions.

    ``first`` and ``second`` are contestants in presentation order; if empty, ``first_id`` and ``second_id``
    are completions' own ids.
    """

    prompt: Annotated[Name, _PROMPT]
    subset: Annotated[Text, _SUBSET] = ""
    first: Annotated[Mention, "the model whose answer was shown first"] = ""
    second: Annotated[Mention, "the model whose answer was shown second"] = ""
    first_id: Annotated[Mention, "the id of the answer shown first"] = ""
    second_id: Annotated[Mention, "the id of the answer shown second"] = ""
    place: Annotated[Place, _Made] = NOWHERE

    def wrong(self) -> Iterator[Wrong]:
        for name, own_id in ((side, getattr(self, f"{side}_id")) for side in SIDES):
            if own_id and getattr(self, name):
                yield Wrong(f"{name}_id", f"given beside {name}; give one of them")
            elif not own_id and not getattr(self, name):
                yield Wrong(name, "missing")
        if self.first and self.first == self.second:
            yield Wrong("second", f'the same model as first ("{self.first}")')
        if self.first_id and self.first_id == self.second_id:
            yield Wrong("second_id", f'the same answer as first_id ("{self.first_id}")')


def _on_scale(rating: int, info: ValidationInfo) -> int:
    points = info.data.get("points")  # missing if they are wrong themselves
    return rating if points is None else scales.check_rating(rating, points)


def _criterion(said: Any, info: ValidationInfo) -> Any:
    if isinstance(said, str):
        if said not in TEXT_REASONS:
            raise FieldError(f'"{said}" is neither a rating nor one of {", ".join(TEXT_REASONS)}')
        return said
    if isinstance(said, bool) or not isinstance(said, int):
        raise FieldError(f"expected a whole number, found {json_type(said)}")
    return _on_scale(said, info)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRecord(AboutPair):
    """A rater's answer about a pair.

    ``rating`` is 1..points, or None with a ``reason``; an ``identical`` one, of a judge about two equal
    texts, needs neither.
    """

    id: Annotated[Text, "the rating's own id"] = ""
    turn: Annotated[_Turn, "which turn was rated, from 1; 0 is the whole conversation"] = 0
    rater: Annotated[Name, "the rater"]
    rater_kind: Annotated[_RaterKind, _WHO] = ""  # the file does not say
    points: Annotated[Whole, AfterValidator(scales.check_points), "the points of the scale: 2, 3, 5 or 8"]
    rating: Annotated[
        int | None,
        by(values.whole(-(2**31))),
        AfterValidator(_on_scale),
        Type.INTEGER,
        "the rating, from 1 (first much better)",
    ] = None
    reason: Annotated[_WhyNoRating, "why there is no rating"] = ""
    neither: Annotated[Flag | None, "whether the rater accepts neither answer"] = None
    identical: Annotated[Flag, "whether both answers are the same"] = False
    scores: Annotated[
        tuple[Decimal, Decimal] | None,
        _Made,
        Field("first_score", Type.NUMBER, "the score of the answer shown first"),
        Field("second_score", Type.NUMBER, "the score of the answer shown second"),
    ] = None
    expected: Annotated[OnScale | None, "a judge's expected rating over its answer tokens"] = None
    # None: the occurrence in the file tells repeats apart.
    repeat: Annotated[Whole | None, "the number of a repeat, from 0"] = None
    seconds: Annotated[Seconds | None, "how many seconds it took"] = None
    created_at: Annotated[Moment | None, "the time of the rating"] = None
    rationale: Annotated[Text, "the rater's comment"] = ""
    raw_reply: Annotated[Text, "the judge's whole reply"] = ""
    criteria: Annotated[
        Mapping[str, Annotated[int | str, PlainValidator(_criterion)]],
        BeforeValidator(validator(values.mapping)),
        Type.JSON,
        "ratings by criterion (JSON object)",
    ] = field(default_factory=dict)  # a text is why there is no rating
    derived_from: Annotated[Texts, _MEMBERS] = ()
    extra: Annotated[Extra, _Made, _EXTRA] = field(default_factory=dict)
    rater_from_path: bool = False  # the rater's name comes from the file's path, not from what the file says

    def wrong(self) -> Iterator[Wrong]:
        yield from AboutPair.wrong(self)
        if self.rating is not None and self.reason:
            yield Wrong("reason", "given beside a rating; an answer has one or the other")
        elif self.rating is None and not self.reason and not self.identical:
            reason = f"missing; an answer without a rating needs a reason: {', '.join(REASONS)}"
            yield Wrong("rating", reason)
        if self.expected is not None and not (self.rating is not None and 1 <= self.expected <= self.points):
            yield Wrong("expected", f"{self.expected:.15g} is not from 1 to {self.points} beside a rating")
        if self.reason == NEITHER and self.neither is False:
            yield Wrong("neither", "false beside the reason neither")
        if self.derived_from and self.rater_kind == "person":
            yield Wrong("derived_from", "only a judge has this")

    @property
    def accepts_neither(self) -> bool:
        return bool(self.neither) or self.reason == NEITHER


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutText(Checked):
    """Something about one completion: that of ``contestant``, or else the one with the id."""

    prompt: Annotated[Name, _PROMPT]
    subset: Annotated[Text, _SUBSET] = ""
    contestant: Annotated[Mention, "the model that wrote the answer"] = ""
    completion: Annotated[Mention, "the answer's own id"] = ""
    place: Annotated[Place, _Made] = NOWHERE

    def wrong(self) -> Iterator[Wrong]:
        if self.contestant and self.completion:
            yield Wrong("completion", "given beside contestant; give one of them")
        if not self.contestant and not self.completion:
            yield Wrong("contestant", "missing; give the model, or the id of the answer as completion")


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureRecord(AboutText):
    """A number that a model's own probabilities give; see ``arena.features``."""

    turn: Annotated[_Turn, "which turn it is about, from 1; 0 is the whole answer"] = 0
    name: Annotated[Name, "the feature's name"]
    variant: Annotated[
        str, by(values.one_of(tuple(features.Variant))), "by whose formula: paper, released or bounds"
    ]
    value: Annotated[float, by(values.number(-features.LARGEST, features.LARGEST)), Type.NUMBER, "the value"]
    source: Annotated[Text, "where the probabilities come from"] = ""

    def wrong(self) -> Iterator[Wrong]:
        yield from AboutText.wrong(self)
        if reason := features.fault(self.name, self.variant):
            yield Wrong("name", reason)
        elif reason := features.value_fault(self.name, self.variant, self.value):
            yield Wrong("value", reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRecord(AboutText):
    """An opinion of a rater about one completion."""

    id: Annotated[Text, "its own id"] = ""
    rater: Annotated[Name, "the rater"]
    rater_kind: Annotated[_RaterKind, _WHO] = ""  # the file does not say
    reason: Annotated[_WhyNot, "why there is no score or answer"] = ""
    repeat: Annotated[Whole | None, "the number of a repeat, from 0"] = None  # as of a comparison
    seconds: Annotated[Seconds | None, "how many seconds it took"] = None
    created_at: Annotated[Moment | None, "when"] = None
    rationale: Annotated[Text, "the rater's comment"] = ""
    raw_reply: Annotated[Text, "the judge's whole reply"] = ""
    extra: Annotated[Extra, _Made, _EXTRA] = field(default_factory=dict)
    rater_from_path: bool = False

    def either(self, name: str) -> Iterator[Wrong]:
        """A value beside a reason why there is none, or neither."""
        value = getattr(self, name)
        if value is None and not self.reason:
            yield Wrong(name, f"missing; without one a reason is needed: {', '.join(TEXT_REASONS)}")
        elif value is not None and self.reason:
            yield Wrong("reason", f"given beside the {name}; give one of them")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRecord(TextRecord):
    """A value on the scale, that of the study unless given, or None with a ``reason``."""

    turn: Annotated[_Turn, "which turn was scored, from 1; 0 is the whole answer"] = 0
    lowest: Annotated[OnScale | None, "the lowest score of the scale"] = None
    highest: Annotated[OnScale | None, "the highest score of the scale"] = None
    score: Annotated[OnScale | None, "the score"] = None
    expected: Annotated[OnScale | None, "a judge's expected score over its answer tokens"] = None

    def wrong(self) -> Iterator[Wrong]:
        yield from AboutText.wrong(self)
        yield from scale_faults(self.lowest, self.highest)
        yield from self.either("score")


def scale_faults(lowest: float | None, highest: float | None) -> Iterator[Wrong]:
    if lowest is not None and highest is not None and not lowest < highest:
        yield Wrong("highest", f"{highest:.15g} is not above the lowest score, {lowest:.15g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord(TextRecord):
    """Tell whether a completion meets a requirement: yes, no or unknown, or None with a ``reason``."""

    question: Annotated[_Position, "the place of the requirement, from 1"]
    answer: Annotated[str | None, by(values.one_of(ANSWERS)), "whether it is met: yes, no or unknown"] = None

    def wrong(self) -> Iterator[Wrong]:
        yield from AboutText.wrong(self)
        yield from self.either("answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldRecord(AboutPair):
    """A pair's known answer: ``gold`` is first, tie or second, ``use`` train, check or None."""

    gold: Annotated[str, by(values.one_of(GOLD)), "the better answer: first, tie or second"]
    source: Annotated[Name, Field("gold_source", Type.TEXT, "who says so")]
    use: str | None = None
    explanation: str | None = None


@dataclass(frozen=True, slots=True)
class StudyRecord(Checked):
    """The settings of a study as its file says them, by column."""

    settings: Mapping[str, Any]
    place: Place = NOWHERE


Record: TypeAlias = (
    StudyRecord
    | ContestantRecord
    | PromptRecord
    | QuestionRecord
    | CompletionRecord
    | RaterRecord
    | GoldRecord
    | ComparisonRecord
    | ScoreRecord
    | AnswerRecord
    | FeatureRecord
)
Item: TypeAlias = Record | Problem | Note | VerdictValues | RaterKinds | Unused

RECORDS: Final[Mapping[str, type[Record]]] = {
    "contestants": ContestantRecord,
    "raters": RaterRecord,
    "prompts": PromptRecord,
    "questions": QuestionRecord,
    "completions": CompletionRecord,
    "pairs": GoldRecord,
    "comparisons": ComparisonRecord,
    "scores": ScoreRecord,
    "answers": AnswerRecord,
    "features": FeatureRecord,
}
"""By table, in the order of import."""


_LAST: Final = ("reason", "repeat", "seconds", "created_at", "rationale", "raw_reply", "extra")


def attributes(record: type[Record]) -> dict[str, tuple[Field, ...]]:
    """The fields that fill each attribute that files fill, in the order of exports."""
    hints = get_type_hints(record, include_extras=True)
    first = () if issubclass(record, CompletionRecord) else ("id",)
    last = _LAST if issubclass(record, TextRecord) else ()
    names = sorted(hints, key=lambda name: (name not in first, name in last))
    return {name: fields for name in names if (fields := tuple(_fields(name, hints[name])))}


def _fields(name: str, hint: Any) -> Iterator[Field]:
    said = list(_said(hint))
    kind = next((one for one in said if isinstance(one, Type)), Type.TEXT)
    yield from (one for one in said if isinstance(one, Field))
    yield from (Field(name, kind, one) for one in said if isinstance(one, str))


def _said(hint: Any) -> Iterator[Any]:
    """Return what annotations say of a type, and of those that it is a union of."""
    if get_origin(hint) is Annotated:
        yield from hint.__metadata__
        yield from _said(hint.__origin__)
    elif isinstance(hint, UnionType) or get_origin(hint) is Union:
        for part in get_args(hint):
            yield from _said(part)


FIELDS: Final[Mapping[str, tuple[Field, ...]]] = {
    name: tuple(entry for fields in attributes(record).values() for entry in fields)
    for name, record in RECORDS.items()
}
"""Fields by table: tables in the order of import, fields in the order of exports."""

CONSENSUS_FIELDS: Final = (
    Field("consensus", Type.TEXT, "how the label came about: adjudicated, unanimous, majority or none"),
    Field("raters", Type.INTEGER, "people who rated the pair"),
    Field("for_first", Type.INTEGER, "how many of them prefer the first"),
    Field("ties", Type.INTEGER, "how many neither"),
    Field("for_second", Type.INTEGER, "how many the second"),
    Field("simulated", Type.FLAG, "whether a program was among those who decided"),
)
"""Fields of a consensus label beyond those of a gold label."""

NO_CONSENSUS: Final = "none"

CONSENSUS: Final = Table(
    "consensus", {entry.name: entry.type for entry in (*FIELDS["pairs"], *CONSENSUS_FIELDS)}, complete=True
)

TABLES: Final = {
    name: Table(name, {entry.name: entry.type for entry in fields}) for name, fields in FIELDS.items()
}
