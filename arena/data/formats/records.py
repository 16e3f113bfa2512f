"""The records that files hold, and the problems found in them. Pure.

None in an optional field: the file does not say. The empty string is a value.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple, TypeAlias

from arena.data.formats.writing import Table, Type


class Place(NamedTuple):
    """File and line of a record or problem; line 0 is the whole file."""

    file: str
    line: int = 0
    unit: str = "line"

    def __str__(self) -> str:
        return f"{self.file}, {self.unit} {self.line}" if self.line else self.file


NOWHERE: Final = Place("records")


class Problem(NamedTuple):
    """An error that prevents an import."""

    place: Place
    field: str
    reason: str

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


@dataclass(frozen=True, slots=True)
class ContestantRecord:
    name: str
    slug: str | None = None
    kind: str | None = None
    family: str | None = None
    organisation: str | None = None
    licence: str | None = None
    size: str | None = None
    generation: Extra | None = None
    benchmarks: Mapping[str, float] | None = None
    retired_at: datetime | None = None
    extra: Extra = field(default_factory=dict)
    implied: bool = False  # named in passing: makes the contestant if missing, and changes nothing
    place: Place = NOWHERE


class ReferenceRecord(NamedTuple):
    author: str
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PromptRecord:
    """An instruction; without turns its text is unknown."""

    id: str
    turns: tuple[str, ...]
    subset: str = ""
    category: str | None = None
    domain: str | None = None
    input: str | None = None
    references: tuple[ReferenceRecord, ...] = ()
    extra: Extra = field(default_factory=dict)
    implied: bool = False  # named in passing: makes the prompt if missing and fills in an unknown text
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class CompletionRecord:
    """A contestant's answer to a prompt; without turns its text is unknown.

    Without a contestant it is known by its ``id``.
    """

    prompt: str
    turns: tuple[str, ...]
    subset: str = ""
    contestant: str | None = None
    id: str = ""
    extra: Extra = field(default_factory=dict)
    implied: bool = False  # named in passing: makes the completion if missing and fills in an unknown text
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """A requirement of a prompt. Without a position it is the next of its prompt in the file."""

    prompt: str
    text: str
    subset: str = ""
    position: int | None = None
    labels: tuple[str, ...] | None = None
    required: bool | None = None
    proposed_by: str | None = None
    implied: bool = False  # named in passing: makes the question if missing, and never changes its text
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class RaterRecord:
    slug: str
    kind: str
    name: str | None = None
    simulated: bool | None = None
    groups: tuple[str, ...] = ()
    facts: Extra = field(default_factory=dict)  # of a judge: its model and how it was asked
    derived_from: tuple[str, ...] = ()  # of a panel: its judges
    implied: bool = False
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class ComparisonRecord:
    """A rater's answer.

    ``first`` and ``second`` are contestants in presentation order; if empty, ``first_id`` and ``second_id``
    are completions' own ids. ``rating`` is 1..points, or None with a ``reason``; an ``identical`` one, of a
    judge about two equal texts, needs neither.
    """

    prompt: str
    first: str
    second: str
    rater: str
    rater_kind: str
    points: int
    rating: int | None
    subset: str = ""
    reason: str = ""
    scores: tuple[Decimal, Decimal] | None = None
    raw_reply: str = ""
    rationale: str = ""
    seconds: float | None = None
    repeat: int | None = None  # None: the occurrence in the file tells repeats apart
    created_at: datetime | None = None
    id: str = ""
    first_id: str = ""
    second_id: str = ""
    criteria: Mapping[str, int | str] = field(default_factory=dict)  # a text is why there is no rating
    identical: bool = False
    derived_from: tuple[str, ...] = ()  # of a panel: its judges
    rater_from_path: bool = False  # the rater's name comes from the file's path, not from what the file says
    extra: Extra = field(default_factory=dict)
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutText:
    """Something about one completion: that of ``contestant``, or else the one with the id."""

    prompt: str
    contestant: str = ""
    completion: str = ""  # the completion's own id
    subset: str = ""
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureRecord(AboutText):
    """A number that a model's own probabilities give; see ``arena.features``."""

    turn: int = 0
    name: str
    variant: str
    value: float
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRecord(AboutText):
    """What a rater says."""

    rater: str
    rater_kind: str
    reason: str = ""
    raw_reply: str = ""
    rationale: str = ""
    seconds: float | None = None
    repeat: int | None = None  # as of a comparison
    created_at: datetime | None = None
    id: str = ""
    rater_from_path: bool = False
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRecord(TextRecord):
    """A value on the scale, that of the study unless given, or None with a ``reason``."""

    score: float | None
    lowest: float | None = None
    highest: float | None = None
    turn: int = 0
    expected: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRecord(TextRecord):
    """Whether a completion meets a requirement: yes, no or unknown, or None with a ``reason``."""

    question: int
    answer: str | None


@dataclass(frozen=True, slots=True)
class GoldRecord:
    """A pair's known answer: ``gold`` is first, tie or second, ``use`` train, check or None."""

    prompt: str
    first: str
    second: str
    gold: str
    source: str
    subset: str = ""
    first_id: str = ""
    second_id: str = ""
    use: str | None = None
    explanation: str | None = None
    place: Place = NOWHERE


Record: TypeAlias = (
    ContestantRecord
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
Item: TypeAlias = Record | Problem | Note | VerdictValues | Unused


# --- The fields of our own records, declared once: for reading, mapping, exports and docs/data-formats.md.


class Field(NamedTuple):
    name: str
    type: Type
    meaning: str = ""


_EXTRA: Final = Field("extra", Type.JSON, "anything else (JSON object)")
_DERIVED_FROM: Final = Field(
    "derived_from", Type.TEXTS, "of a panel, the judges from whose ratings its own follow (JSON list)"
)
_SUBSET: Final = Field("subset", Type.TEXT, "the subset of prompts")
_SIDES: Final = (
    Field("first", Type.TEXT, "the model whose answer was shown first"),
    Field("second", Type.TEXT, "the model whose answer was shown second"),
    Field("first_id", Type.TEXT, "the id of the answer shown first"),
    Field("second_id", Type.TEXT, "the id of the answer shown second"),
)
_OF_TEXT: Final = (
    Field("prompt", Type.TEXT, "the prompt's id"),
    _SUBSET,
    Field("contestant", Type.TEXT, "the model that wrote the answer"),
    Field("completion", Type.TEXT, "the answer's own id"),
)
_WHOSE: Final = (
    *_OF_TEXT,
    Field("rater", Type.TEXT, "the rater"),
    Field("rater_kind", Type.TEXT, "whether the rater is a person or a judge"),
)
_HOW: Final = (
    Field("repeat", Type.INTEGER, "the number of a repeat, from 0"),
    Field("seconds", Type.NUMBER, "how many seconds it took"),
    Field("created_at", Type.MOMENT, "when"),
    Field("rationale", Type.TEXT, "the rater's comment"),
    Field("raw_reply", Type.TEXT, "the judge's whole reply"),
    _EXTRA,
)

FIELDS: Final[Mapping[str, tuple[Field, ...]]] = {
    "contestants": (
        Field("name", Type.TEXT, "the model's name"),
        Field("slug", Type.TEXT, "its short name in addresses"),
        Field("kind", Type.TEXT, "whether it is a model or people"),
        Field("family", Type.TEXT, "its family"),
        Field("organisation", Type.TEXT, "who made it"),
        Field("licence", Type.TEXT, "its licence"),
        Field("size", Type.TEXT, "its size"),
        Field("generation", Type.JSON, "generation parameters (JSON object)"),
        Field("benchmarks", Type.JSON, "scores on other benchmarks (JSON object)"),
        Field("retired_at", Type.MOMENT, "when it was retired"),
        _EXTRA,
    ),
    "raters": (
        Field("rater", Type.TEXT, "the rater's short name"),
        Field("rater_kind", Type.TEXT, "whether it is a person or a judge"),
        Field("name", Type.TEXT, "the name to show"),
        Field("simulated", Type.FLAG, "whether the ratings are simulated"),
        Field("groups", Type.TEXTS, "groups (JSON list)"),
        Field("model", Type.TEXT, "the judge's model"),
        Field("protocol", Type.TEXT, "how the judge was asked"),
        Field("source", Type.TEXT, "where its ratings come from"),
        Field("prices", Type.JSON, "what it costs (JSON object)"),
        Field("seconds", Type.NUMBER, "how many seconds a rating takes"),
        Field("order_free", Type.FLAG, "whether it sees each answer alone"),
        _DERIVED_FROM,
    ),
    "prompts": (
        Field("id", Type.TEXT, "the prompt's id"),
        _SUBSET,
        Field("category", Type.TEXT, "the prompt's category"),
        Field("domain", Type.TEXT, "the prompt's domain"),
        Field("instruction", Type.TEXT, "the prompt's text"),
        Field("turns", Type.TEXTS, "the user's turns (JSON list)"),
        Field("input", Type.TEXT, "material for the prompt"),
        Field("references", Type.JSON, "reference answers (JSON list)"),
        _EXTRA,
    ),
    "questions": (
        Field("prompt", Type.TEXT, "the prompt's id"),
        _SUBSET,
        Field("position", Type.INTEGER, "its place among the requirements of the prompt, from 1"),
        Field("text", Type.TEXT, "the requirement, as a question"),
        Field("labels", Type.TEXTS, "kinds of requirement"),
        Field("required", Type.FLAG, "whether an answer must meet it"),
        Field("proposed_by", Type.TEXT, "the model that wrote it, if no person did"),
    ),
    "completions": (
        Field("prompt", Type.TEXT, "the prompt's id"),
        _SUBSET,
        Field("contestant", Type.TEXT, "the model that wrote the answer"),
        Field("id", Type.TEXT, "the answer's own id"),
        Field("text", Type.TEXT, "the answer"),
        Field("turns", Type.TEXTS, "the answer's turns (JSON list)"),
        _EXTRA,
    ),
    "pairs": (
        Field("prompt", Type.TEXT, "the prompt's id"),
        _SUBSET,
        *_SIDES,
        Field("gold", Type.TEXT, "the better answer: first, tie or second"),
        Field("gold_source", Type.TEXT, "who says so"),
    ),
    "comparisons": (
        Field("id", Type.TEXT, "the rating's own id"),
        Field("prompt", Type.TEXT, "the prompt's id"),
        _SUBSET,
        *_SIDES,
        Field("rater", Type.TEXT, "the rater"),
        Field("rater_kind", Type.TEXT, "whether the rater is a person or a judge"),
        Field("points", Type.INTEGER, "the points of the scale: 2, 3, 5 or 8"),
        Field("rating", Type.INTEGER, "the rating, from 1 (first much better)"),
        Field("reason", Type.TEXT, "why there is no rating"),
        Field("identical", Type.FLAG, "whether both answers are the same"),
        Field("first_score", Type.NUMBER, "the score of the answer shown first"),
        Field("second_score", Type.NUMBER, "the score of the answer shown second"),
        Field("repeat", Type.INTEGER, "the number of a repeat, from 0"),
        Field("seconds", Type.NUMBER, "how many seconds it took"),
        Field("created_at", Type.MOMENT, "the time of the rating"),
        Field("rationale", Type.TEXT, "the rater's comment"),
        Field("raw_reply", Type.TEXT, "the judge's whole reply"),
        Field("criteria", Type.JSON, "ratings by criterion (JSON object)"),
        _DERIVED_FROM,
        _EXTRA,
    ),
    "scores": (
        Field("id", Type.TEXT, "the score's own id"),
        *_WHOSE,
        Field("turn", Type.INTEGER, "which turn was scored, from 1; 0 is the whole answer"),
        Field("lowest", Type.NUMBER, "the lowest score of the scale"),
        Field("highest", Type.NUMBER, "the highest score of the scale"),
        Field("score", Type.NUMBER, "the score"),
        Field("expected", Type.NUMBER, "a judge's expected score over its answer tokens"),
        Field("reason", Type.TEXT, "why there is no score"),
        *_HOW,
    ),
    "answers": (
        Field("id", Type.TEXT, "the check's own id"),
        *_WHOSE,
        Field("question", Type.INTEGER, "the place of the requirement, from 1"),
        Field("answer", Type.TEXT, "whether it is met: yes, no or unknown"),
        Field("reason", Type.TEXT, "why there is no answer"),
        *_HOW,
    ),
    "features": (
        *_OF_TEXT,
        Field("turn", Type.INTEGER, "which turn it is about, from 1; 0 is the whole answer"),
        Field("name", Type.TEXT, "the feature's name"),
        Field("variant", Type.TEXT, "by whose formula: paper, released or bounds"),
        Field("value", Type.NUMBER, "the value"),
        Field("source", Type.TEXT, "where the probabilities come from"),
    ),
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
    "consensus",
    {entry.name: entry.type for entry in (*FIELDS["pairs"], *CONSENSUS_FIELDS)},
    complete=True,
)

TABLES: Final = {
    name: Table(name, {entry.name: entry.type for entry in fields}) for name, fields in FIELDS.items()
}
