"""Chatbot-Arena-style battles: model_a, model_b and who won, as CSV or JSON Lines. Pure.

The texts are not in such a file: prompts, contestants and completions are made with the text unknown where
they are missing, and nothing is changed where they exist. model_a is the answer shown first. A battle without
a question_id belongs to one common prompt named "battles".
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from arena.formats.fields import Fields
from arena.formats.files import InputFile
from arena.formats.kinds import Companions, Format, Head, Kind
from arena.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    ContestantRecord,
    Item,
    Problem,
    PromptRecord,
)

RATINGS: Final = {"model_a": 1, "tie": 2, "tie (bothbad)": 2, "both_bad": 2, "model_b": 3}
"""The winner literals there are, as ratings on three points."""

COMMON_PROMPT: Final = "battles"
"""Prompt of the battles that do not say which question they were about."""

UNNAMED: Final = "anonymous"
"""Rater of the battles that do not say who judged."""


def recognise(head: Head) -> Kind | None:
    return Kind.COMPARISONS if {"model_a", "model_b", "winner"} <= head.fields else None


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    """Each battle as a comparison, after what it names in passing for the first time."""
    named: set[object] = set()
    for row in _rows(file):
        if isinstance(row, Problem):
            yield row
            continue
        fields, comparison = row
        if fields.problems:
            yield from fields.problems
            continue
        for key, record in _named(comparison):
            if key not in named:
                named.add(key)
                yield record
        yield comparison


def _rows(file: InputFile) -> Iterator[tuple[Fields, ComparisonRecord] | Problem]:
    is_json = file.is_json()
    rows: Iterator[tuple[int, dict[str, Any]] | Problem] = (
        file.json_objects() if is_json else file.table().rows()
    )
    for row in rows:
        if isinstance(row, Problem):
            yield row
        else:
            line, values = row
            fields = Fields(values, file.place(line), cells=not is_json)
            yield fields, _battle(fields)


def _battle(fields: Fields) -> ComparisonRecord:
    first, second = fields.required_text("model_a"), fields.required_text("model_b")
    if first and first == second:
        fields.problem("model_b", f'the same model as model_a ("{first}")')
    winner = fields.required_text("winner")
    if winner and winner not in RATINGS:
        fields.problem("winner", f'"{winner}" is not one of {", ".join(RATINGS)}')
    record = ComparisonRecord(
        prompt=fields.text("question_id") or COMMON_PROMPT,
        first=first,
        second=second,
        rater=fields.text("judge") or UNNAMED,
        rater_kind=fields.choice("rater_kind", ("person", "judge")) or "person",
        points=3,
        rating=RATINGS.get(winner, 2),
        created_at=fields.moment("tstamp"),
    )
    # The two kinds of tie are one rating; the file's word for it is kept.
    said = {"winner": winner} if RATINGS.get(winner) == 2 and winner != "tie" else {}
    return replace(record, extra={**fields.rest(), **said}, place=fields.place)


def _named(comparison: ComparisonRecord) -> Iterator[tuple[object, Item]]:
    prompt, place = comparison.prompt, comparison.place
    yield (prompt,), PromptRecord(id=prompt, turns=(), implied=True, place=place)
    for name in (comparison.first, comparison.second):
        yield name, ContestantRecord(name=name, implied=True, place=place)
        yield (
            (prompt, name),
            CompletionRecord(prompt=prompt, contestant=name, turns=(), implied=True, place=place),
        )


FORMAT = Format(
    "arena-battles",
    "Chatbot Arena battles",
    "model_a, model_b and winner",
    recognise,
    read,
)
