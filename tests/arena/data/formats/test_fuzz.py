"""Whatever stands in a file, reading it ends in records and problems, never in an exception."""

import json
import math
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.data.formats.catalogue import gather
from arena.data.formats.records import (
    AnswerRecord,
    ComparisonRecord,
    CompletionRecord,
    Item,
    PromptRecord,
    QuestionRecord,
    ScoreRecord,
)
from arena.data.formats.values import unstorable
from tests.arena.data.formats.reading import ROWS

NAMES = ["id", "instruction", "turns", "text", "prompt", "first", "second", "rater", "rater_kind", "rating"]
NAMES += ["points", "reason", "criteria", "references", "groups", "name", "kind", "seconds", "created_at"]
NAMES += ["extra", "first_score", "second_score", "repeat", "model_a", "model_b", "winner", "tstamp", "left"]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS | st.sampled_from(["A", "B", "person", "judge", "tie", "model_a", 3, 8]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), VALUES, max_size=12)
COMPARISON = {"prompt": "p", "first": "A", "second": "B", "rater": "r", "rating": 3, "points": 8}


def items(content: bytes, name: str) -> list[Item]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        return list(gather([path]).items())


def lines(objects: Iterable[Any]) -> bytes:
    return "\n".join(map(json.dumps, objects)).encode()


@given(st.binary(max_size=200), st.sampled_from(["a.jsonl", "a.csv", "a.gz", "a"]))
def test_any_bytes(content: bytes, name: str) -> None:
    items(content, name)


@given(st.lists(OBJECTS, max_size=4))
def test_any_objects(objects: list[dict[str, Any]]) -> None:
    items(lines(objects), "a.jsonl")


@given(OBJECTS)
def test_a_comparison_that_is_read_can_be_stored(changes: dict[str, Any]) -> None:
    for item in items(lines([COMPARISON, {**COMPARISON, **changes}]), "a.jsonl"):
        if isinstance(item, ComparisonRecord):
            assert (item.rating is None) != (item.reason == "")
            assert item.rating is None or 1 <= item.rating <= item.points
            assert not unstorable([item.prompt, item.first, item.rater, item.raw_reply, dict(item.extra)])


@given(st.lists(st.lists(st.text(max_size=6), min_size=6, max_size=6), max_size=3))
def test_any_cells(rows: list[list[str]]) -> None:
    body = "\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows)
    items(f"prompt,first,second,rater,rating,points\n{body}".encode("utf-8", "surrogatepass"), "a.csv")


# Whatever one field of a foreign file holds, reading it ends in records and problems.


FOREIGN = [
    *("output", "annotation", "question", "answer", "choices", "review", "judgment", "instruction", "battle"),
    *("preference", "checked", "grade", "released", "scored", "score", "check", "requirement"),
]
WORDS = ["turns", "index", "role", "content", "user", "assistant", "text", "input", "output", "gpt-4"]
WRITTEN = VALUES.map(json.dumps) | VALUES.map(repr)
NESTED = st.lists(st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=3), max_size=3)


@pytest.mark.parametrize("row", [*map(ROWS.get, FOREIGN), {**ROWS["output"], "annotator": "j", "score": 1}])
@given(st.data())
def test_any_value_in_any_field(row: Mapping[str, Any], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(row)))
    for item in items(lines([row, {**row, name: data.draw(VALUES | WRITTEN | NESTED)}]), "file.jsonl"):
        if isinstance(item, ComparisonRecord):
            assert (item.rating is None) != (item.reason == "")
            assert not unstorable([item.prompt, item.first, item.rater, item.raw_reply, dict(item.extra)])
        elif isinstance(item, ScoreRecord | AnswerRecord):
            value = item.score if isinstance(item, ScoreRecord) else item.answer
            assert (value is None) != (item.reason == "")
            assert not isinstance(value, float) or math.isfinite(value)
            assert not unstorable(
                [item.prompt, item.contestant, item.rater, item.raw_reply, dict(item.extra)]
            )
        elif isinstance(item, QuestionRecord):
            assert not unstorable([item.prompt, item.text, list(item.labels or ())])
        elif isinstance(item, PromptRecord | CompletionRecord):
            assert all(isinstance(turn, str) and not unstorable(turn) for turn in item.turns)
