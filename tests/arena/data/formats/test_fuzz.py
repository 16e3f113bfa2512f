"""Whatever stands in a file, reading it ends in records and problems, never in an exception."""

import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from arena.data.formats.catalogue import gather
from arena.data.formats.reading import unstorable
from arena.data.formats.records import ComparisonRecord, Item

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
@settings(max_examples=50, deadline=None)
def test_any_bytes(content: bytes, name: str) -> None:
    items(content, name)


@given(st.lists(OBJECTS, max_size=4))
@settings(max_examples=60, deadline=None)
def test_any_objects(objects: list[dict[str, Any]]) -> None:
    items(lines(objects), "a.jsonl")


@given(OBJECTS)
@settings(max_examples=60, deadline=None)
def test_a_comparison_that_is_read_can_be_stored(changes: dict[str, Any]) -> None:
    for item in items(lines([COMPARISON, {**COMPARISON, **changes}]), "a.jsonl"):
        if isinstance(item, ComparisonRecord):
            assert (item.rating is None) != (item.reason == "")
            assert item.rating is None or 1 <= item.rating <= item.points
            assert not unstorable([item.prompt, item.first, item.rater, item.raw_reply, dict(item.extra)])


@given(st.lists(st.lists(st.text(max_size=6), min_size=6, max_size=6), max_size=3))
@settings(max_examples=50, deadline=None)
def test_any_cells(rows: list[list[str]]) -> None:
    body = "\n".join(",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows)
    items(f"prompt,first,second,rater,rating,points\n{body}".encode("utf-8", "surrogatepass"), "a.csv")
