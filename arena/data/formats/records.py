"""The records that files hold, and the problems found in them. Pure.

None in an optional field: the file does not say. The empty string is a value.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple, TypeAlias

from arena.data.writing import Table, Type


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
class RaterRecord:
    slug: str
    kind: str
    name: str | None = None
    simulated: bool | None = None
    groups: tuple[str, ...] = ()
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
    rater_from_path: bool = False  # the rater's name comes from the file's path, not from what the file says
    extra: Extra = field(default_factory=dict)
    place: Place = NOWHERE


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
    ContestantRecord | PromptRecord | CompletionRecord | RaterRecord | GoldRecord | ComparisonRecord
)
Item: TypeAlias = Record | Problem | Note | VerdictValues


# --- The fields of our own records, declared once: for reading, mapping, exports and docs/data-formats.md.


class Field(NamedTuple):
    name: str
    type: Type
    meaning: str = ""


_EXTRA: Final = Field("extra", Type.JSON, "what has no field of its own, as a JSON object")
_SUBSET: Final = Field("subset", Type.TEXT, "subset of the prompts")
_SIDES: Final = (
    Field("first", Type.TEXT, "name of the contestant shown first"),
    Field("second", Type.TEXT, "name of the contestant shown second"),
    Field("first_id", Type.TEXT, "id of the completion shown first, instead of a name"),
    Field("second_id", Type.TEXT, "id of the completion shown second, instead of a name"),
)

FIELDS: Final[Mapping[str, tuple[Field, ...]]] = {
    "contestants": (
        Field("name", Type.TEXT, "the contestant's name"),
        Field("slug", Type.TEXT, "its short name in addresses"),
        Field("kind", Type.TEXT, "model or people"),
        Field("family", Type.TEXT, "model family"),
        Field("organisation", Type.TEXT, "who made it"),
        Field("licence", Type.TEXT, "licence"),
        Field("size", Type.TEXT, "size"),
        Field("generation", Type.JSON, "generation parameters as a JSON object"),
        Field("benchmarks", Type.JSON, "scores on other benchmarks as a JSON object of names and numbers"),
        Field("retired_at", Type.MOMENT, "since when it gets no new pairs and stands in no ranking"),
        _EXTRA,
    ),
    "raters": (
        Field("rater", Type.TEXT, "the rater's short name"),
        Field("rater_kind", Type.TEXT, "person or judge"),
        Field("name", Type.TEXT, "name to show"),
        Field("simulated", Type.FLAG, "true or false"),
        Field("groups", Type.TEXTS, "groups as a JSON list"),
    ),
    "prompts": (
        Field("id", Type.TEXT, "the prompt's id; made from its text where there is none"),
        _SUBSET,
        Field("category", Type.TEXT, "category"),
        Field("domain", Type.TEXT, "domain"),
        Field("instruction", Type.TEXT, "the prompt's text"),
        Field("turns", Type.TEXTS, "the user's turns as a JSON list, instead of an instruction"),
        Field("input", Type.TEXT, "material the instruction works on"),
        Field("references", Type.JSON, "reference answers as a JSON list of objects with author and text"),
        _EXTRA,
    ),
    "completions": (
        Field("prompt", Type.TEXT, "the prompt's id; made from its text where there is none"),
        _SUBSET,
        Field("contestant", Type.TEXT, "name of the contestant who wrote the completion"),
        Field("id", Type.TEXT, "the completion's own id"),
        Field("text", Type.TEXT, "the completion"),
        Field("turns", Type.TEXTS, "its turns as a JSON list, instead of a text"),
        _EXTRA,
    ),
    "pairs": (
        Field("prompt", Type.TEXT, "the prompt's id"),
        _SUBSET,
        *_SIDES,
        Field("gold", Type.TEXT, "which is better: first, tie or second"),
        Field("gold_source", Type.TEXT, "who says so"),
    ),
    "comparisons": (
        Field("id", Type.TEXT, "the comparison's own id"),
        Field("prompt", Type.TEXT, "the prompt's id; one common prompt where there is none"),
        _SUBSET,
        *_SIDES,
        Field("rater", Type.TEXT, "the rater's name"),
        Field("rater_kind", Type.TEXT, "person or judge; person where nothing is said"),
        Field(
            "points", Type.INTEGER, "points of the scale: 2, 3, 5 or 8; 3 for a winner where nothing is said"
        ),
        Field("rating", Type.INTEGER, "the rating, from 1 (first much better), instead of a winner"),
        Field("reason", Type.TEXT, "why there is no rating"),
        Field("identical", Type.FLAG, "whether a judge had the same text before it twice"),
        Field("first_score", Type.NUMBER, "score of the completion shown first"),
        Field("second_score", Type.NUMBER, "score of the completion shown second"),
        Field("repeat", Type.INTEGER, "number of a deliberate repeat, from 0"),
        Field("seconds", Type.NUMBER, "seconds it took"),
        Field("created_at", Type.MOMENT, "when: ISO 8601, or seconds since 1970"),
        Field("rationale", Type.TEXT, "why the rater thinks so"),
        Field("raw_reply", Type.TEXT, "a judge's reply as it came"),
        Field("criteria", Type.JSON, "ratings by criterion, or the reason for none, as a JSON object"),
        _EXTRA,
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
