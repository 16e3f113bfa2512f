"""Which column of a foreign table stands for which of our fields: said, checked and guessed. Pure."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from arena.formats import our_fields
from arena.formats.kinds import Kind

KINDS: Final = {kind.name.lower(): kind for kind in our_fields.FIELDS}
"""The kinds a table can hold, by name."""


class MappingError(ValueError):
    """A mapping that cannot be made out; the message says why."""


@dataclass(frozen=True)
class ColumnMapping:
    """What a table holds, and where: a column or one constant value for each of our fields that it has."""

    kind: Kind
    columns: Mapping[str, str] = field(default_factory=dict)
    """Our field -> the table's column."""
    constants: Mapping[str, str] = field(default_factory=dict)
    """Our field -> the value it has in every row."""

    def __contains__(self, name: str) -> bool:
        return name in self.columns or name in self.constants

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        return {
            "kind": self.kind.name.lower(),
            "columns": dict(self.columns),
            "constants": dict(self.constants),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ColumnMapping":
        """What ``to_dict`` gave. Raises MappingError."""
        return cls(kind_named(str(data.get("kind", ""))), data.get("columns", {}), data.get("constants", {}))

    def as_options(self) -> str:
        """The same as options of the command line."""
        maps = [shlex.quote(f"{name}={column}") for name, column in self.columns.items()]
        sets = [shlex.quote(f"{name}={value}") for name, value in self.constants.items()]
        options = [f"--map {text}" for text in maps] + [f"--set {text}" for text in sets]
        return " ".join(["--format table", f"--kind {self.kind.name.lower()}", *options])

    def faults(self) -> list[str]:
        """Everything that is wrong with the mapping itself, in sentences."""
        kind, known = self.kind.name.lower(), our_fields.names(self.kind)
        found = [
            f'{kind} have no field "{name}"; their fields are {", ".join(known)}'
            for name in (*self.columns, *self.constants)
            if name not in known
        ]
        found += [
            f'"{name}" is mapped and set; do one of both' for name in self.columns if name in self.constants
        ]
        found += [f'"{name}" is mapped to no column' for name, column in self.columns.items() if not column]
        for group in our_fields.NEEDED[self.kind]:
            if not any(name in self for name in group):
                found.append(f"{kind} need {' or '.join(group)}; map a column to it or set it")
        if "winner" in self and "rating" in self:
            found.append("winner and rating are both given; one stands for the other")
        if "rating" in self and "points" not in self:
            found.append("a rating needs points: on how many points it was given")
        return found

    def missing_from(self, columns: Iterable[str]) -> list[str]:
        """A sentence for each mapped column that a table with these columns does not have."""
        there = list(columns)
        listed = ", ".join(there)
        return [
            f'"{name}" is mapped to the column "{column}", which is not there; the columns are {listed}'
            for name, column in self.columns.items()
            if column not in there
        ]


def kind_named(name: str) -> Kind:
    """The kind of this name. Raises MappingError."""
    if name not in KINDS:
        raise MappingError(f'there is no kind "{name}"; a table holds one of {", ".join(KINDS)}')
    return KINDS[name]


def parse(kind: str, columns: Iterable[str], constants: Iterable[str]) -> ColumnMapping:
    """A mapping from texts of the form ``field=column`` and ``field=value``. Raises MappingError."""
    return ColumnMapping(kind_named(kind), _pairs(columns, "column"), _pairs(constants, "value"))


def _pairs(texts: Iterable[str], what: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise MappingError(f'"{text}" is not of the form FIELD={what.upper()}')
        if name in found:
            raise MappingError(f'"{name}" is given two times: {found[name]} and {value}')
        found[name] = value
    return found


_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "number": ("prompt", "prompt_id", "question_id", "number", "no", "#", "nr", "idx", "index", "id", "qid"),
    "instruction": ("instruction", "question", "prompt", "query", "prompt_text", "task", "user"),
    "input": ("input", "context"),
    "category": ("category", "topic", "type", "task_type"),
    "subset": ("subset", "dataset", "split"),
    "contestant": ("contestant", "model", "system", "generator", "model_name", "model_id", "author"),
    "text": ("text", "answer", "response", "output", "completion", "reply", "generation", "result"),
    "winner": ("winner", "label", "preference", "preferred", "vote", "choice", "verdict", "better"),
    "first": ("first", "left", "model_a", "a", "model_1", "system_a", "system_1", "generator_1", "option_a"),
    "second": (
        "second",
        "right",
        "model_b",
        "b",
        "model_2",
        "system_b",
        "system_2",
        "generator_2",
        "option_b",
    ),
    "first_text": ("first_text", "response_a", "answer_a", "output_1", "response_1", "answer_1", "output_a"),
    "second_text": (
        "second_text",
        "response_b",
        "answer_b",
        "output_2",
        "response_2",
        "answer_2",
        "output_b",
    ),
    "rater": ("rater", "worker", "annotator", "judge", "user_id", "worker_id", "evaluator", "reviewer"),
    "rationale": ("rationale", "reason", "comment", "explanation"),
    "created_at": ("created_at", "timestamp", "tstamp", "date", "time"),
    "name": ("name", "model", "model_name", "system"),
    "organisation": ("organisation", "organization", "org", "company", "maker"),
    "licence": ("licence", "license"),
    "family": ("family",),
    "size": ("size", "parameters"),
}
"""Column names that are well known for what they mean; the more telling come first."""

_GUESSED: Final = {
    Kind.COMPARISONS: (
        *("first", "second", "first_text", "second_text", "winner", "rater", "rationale", "created_at"),
        *("instruction", "input", "category", "subset"),
    ),
    Kind.COMPLETIONS: ("contestant", "text", "instruction", "input", "category", "subset"),
    Kind.PROMPTS: ("instruction", "input", "category", "subset"),
    Kind.CONTESTANTS: ("name", "organisation", "licence", "family", "size"),
}
"""What is looked for in a table of each kind, in the order in which the kinds are tried."""

_ID: Final = {Kind.COMPARISONS: "prompt", Kind.COMPLETIONS: "prompt", Kind.PROMPTS: "id"}
"""Our field for the number of a prompt."""

ANONYMOUS: Final = "anonymous"
"""Rater of a table that does not say who rated."""


def suggest(columns: Sequence[str]) -> ColumnMapping | None:
    """The mapping that the names of the columns suggest; None where they tell nothing."""
    plain = {_plain(column): column for column in reversed(columns)}
    for kind, names in _GUESSED.items():
        found: dict[str, str] = {}
        for name in names:
            _find(name, name, plain, found)
        # A prompt's text is the more telling, so a column "prompt" beside no other text is the text.
        if number := _ID.get(kind):
            _find("number", number, plain, found)
        constants = {"rater": ANONYMOUS} if kind is Kind.COMPARISONS and "rater" not in found else {}
        mapping = ColumnMapping(kind, found, constants)
        if not mapping.faults():
            return mapping
    return None


def _find(meaning: str, name: str, plain: Mapping[str, str], found: dict[str, str]) -> None:
    """Take the first column known for a meaning that is not taken already."""
    for word in _WORDS[meaning]:
        if word in plain and plain[word] not in found.values():
            found[name] = plain[word]
            return


def _plain(column: str) -> str:
    return column.strip().lower().replace(" ", "_").replace("-", "_")
