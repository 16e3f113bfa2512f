"""Any table, with a mapping that says which of its columns stand for which of our fields. Pure.

It is never told by its content. A row may name things in passing, with their texts or without; those become
records of their own. Columns that are not mapped are kept with the record.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from arena.data.formats import ours
from arena.data.formats.fields import Fields
from arena.data.formats.files import InputFile
from arena.data.formats.mapping import ColumnMapping
from arena.data.formats.reading import Companions, Format, Kind, Mentions, digest, read_rows
from arena.data.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    GoldRecord,
    Item,
    Note,
    PromptRecord,
    RaterRecord,
)

NAME: Final = "table"

COMMON_PROMPT: Final = "comparisons"
"""Prompt of the comparisons in a table that says nothing about prompts."""

WINNERS: Final[Mapping[str, tuple[str, ...]]] = {
    "first": ("first", "left", "a", "model_a", "model a", "1", "output_1", "response_a"),
    "tie": ("tie", "draw", "both", "equal", "same", "tie (bothbad)", "both_bad", "neither"),
    "second": ("second", "right", "b", "model_b", "model b", "2", "output_2", "response_b"),
}
"""Words for who won, in small letters."""

_SIDES: Final = {word: side for side, words in WINNERS.items() for word in words}
_RATINGS: Final = {2: {"first": 1, "second": 2}, 3: {"first": 1, "tie": 2, "second": 3}}
"""What a winner is as a rating, by points."""


def format_of(mapping: ColumnMapping) -> Format:
    """The format of tables with this mapping."""

    def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
        return _Reader(mapping).read(file)

    return replace(FORMAT, recognise=lambda head: mapping.kind, read=read)


class _Reader:
    """Reads the rows of one table."""

    def __init__(self, mapping: ColumnMapping) -> None:
        self._mapping = mapping
        self._mentions = Mentions()

    def read(self, file: InputFile) -> Iterator[Item]:
        left_out = set(file.columns()) - set(self._mapping.columns.values()) - {""}
        if left_out and self._mapping.kind in (Kind.RATERS, Kind.PAIRS):
            yield Note(
                file.place(), f"columns that are not mapped are left out: {', '.join(sorted(left_out))}"
            )
        yield from read_rows(file, self._row, lenient=True)

    def _row(self, row: Fields) -> Iterator[Item]:
        values = {**row.pick(self._mapping.columns), **self._mapping.constants}
        fields = row.under_other_names(values, self._mapping.columns)
        prompt = self._prompt(fields)
        if prompt is not None:
            yield from self._mentions.prompt(fields, prompt)
        if self._mapping.kind is Kind.COMPARISONS:
            texts = {name: _take_text(fields, f"{name}_text") for name in ours.SIDES}
            if "winner" in self._mapping:
                _winner_as_rating(fields)
        record = ours.BUILDERS[self._mapping.kind](fields)
        if isinstance(record, ComparisonRecord):
            yield from self._answers(fields, record, texts)
        if not isinstance(record, RaterRecord | GoldRecord):
            record = replace(record, extra={**record.extra, **row.rest()})
        yield record

    def _prompt(self, fields: Fields) -> PromptRecord | None:
        """The prompt that a row names in passing; afterwards the row names it by its id."""
        kind = self._mapping.kind
        if kind is Kind.PROMPTS:
            if "id" not in fields and "instruction" in fields:
                fields.put("id", _id_of(fields.peek("instruction"), fields.peek("input")))
            return None
        if kind not in (Kind.COMPLETIONS, Kind.COMPARISONS):
            return None
        instruction, given = fields.text("instruction"), fields.optional_text("input")
        category = fields.optional_text("category")
        if "instruction" in self._mapping:
            if not instruction.strip():
                fields.problem("instruction", "missing")
        elif "prompt" in self._mapping or kind is Kind.COMPLETIONS:
            return None
        if "prompt" not in fields:
            fields.put("prompt", _id_of(instruction, given) if instruction else COMMON_PROMPT)
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
        self, fields: Fields, comparison: ComparisonRecord, texts: Mapping[str, tuple[str, ...]]
    ) -> Iterator[Item]:
        """The completions that a comparison names in passing: those with a text, or all without a prompt."""
        for name, contestant in zip(ours.SIDES, (comparison.first, comparison.second), strict=True):
            if contestant and (texts[name] or "prompt" not in self._mapping):
                answer = CompletionRecord(
                    prompt=comparison.prompt,
                    subset=comparison.subset,
                    contestant=contestant,
                    turns=texts[name],
                    implied=True,
                    place=fields.place,
                )
                yield from self._mentions.answer(fields, answer)


def _take_text(fields: Fields, name: str) -> tuple[str, ...]:
    return fields.turns(name, required=False)


def _id_of(instruction: Any, given: Any) -> str:
    """A prompt's id made from its text."""
    return digest(*(str(text) for text in (instruction, given) if text))


def _winner_as_rating(fields: Fields) -> None:
    """Say in points who won, instead of in a word."""
    if "points" not in fields:
        fields.put("points", 3)
    points = str(fields.peek("points")).strip()
    word = fields.required_text("winner") if "reason" not in fields else fields.text("winner")
    if not word:
        # A problem already, or no rating for a reason.
        fields.put("rating", None if "reason" in fields else 1)
        return
    side = _SIDES.get(word.strip().lower())
    ratings = _RATINGS.get(int(points)) if points in ("2", "3") else None
    if side is None:
        words = ", ".join(word for words in WINNERS.values() for word in words)
        fields.problem("winner", f'"{word}" is no winner; the words there are: {words}')
    elif ratings is None:
        fields.problem("points", f"a winner has a place on 2 or 3 points, not on {points}")
    elif side not in ratings:
        fields.problem("winner", f'"{word}" has no place on 2 points; a tie needs 3')
    fields.put("rating", (ratings or {}).get(side or "", 1))


FORMAT: Final = Format(
    NAME, "a table with a mapping", "any columns, with a mapping", lambda head: None, lambda *_: iter(())
)
"""What the catalogue lists; a table that is read has the format that ``format_of`` makes of its mapping."""
