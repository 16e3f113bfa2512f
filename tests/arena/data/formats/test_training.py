"""Training pairs and hidden checks, in our own words for them."""

from pathlib import Path
from typing import Any

import pytest

from arena.rating.apart import APART
from tests.arena.data.formats.reading import problems, read, write_lines

PAIR = {
    "prompt": "Name a river.",
    "first": "Glomma",
    "second": "",
    "gold": "first",
    "explanation": "B is empty.",
}


def test_a_pair_brings_its_texts(tmp_path: Path) -> None:
    row = {**PAIR, "id": "rivers", "category": "facts", "input": "In Norway.", "gold_source": "an atlas"}
    prompt, first, second, label = read(write_lines(tmp_path, "t.jsonl", row))
    assert (prompt.id, prompt.subset, prompt.turns) == ("rivers", APART, ("Name a river.",))
    assert (prompt.category, prompt.input, prompt.implied) == ("facts", "In Norway.", False)
    assert [(text.id, text.turns, text.contestant) for text in (first, second)] == [
        ("first", ("Glomma",), None),
        ("second", ("",), None),
    ]
    assert (label.gold, label.use, label.source, label.explanation) == (
        "first",
        "train",
        "an atlas",
        "B is empty.",
    )


def test_a_table_is_read_alike_and_says_what_a_pair_is_for(tmp_path: Path) -> None:
    rows = ["prompt,first,second,gold,use", "Name a river.,Glomma,Danube,first,check"]
    prompt, *_, label = read(write_lines(tmp_path, "checks.csv", *rows))
    assert (prompt.subset, label.gold, label.use) == (APART, "first", "check")


def test_rows_without_an_id_are_told_apart_by_their_texts(tmp_path: Path) -> None:
    other = {**PAIR, "second": "Danube"}
    items = read(write_lines(tmp_path, "t.jsonl", PAIR, PAIR, other))
    names = [item.id for item in items[::4]]
    assert names[0] == names[1] != names[2]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"prompt": " "}, ("prompt", "missing")),
        ({"first": None}, ("first", "missing")),
        ({"second": 1.5}, ("second", "expected a text, found a number")),
        ({"gold": None}, ("gold", "missing; one of first, tie, second")),
        ({"gold": "left"}, ("gold", '"left" is not one of first, tie, second')),
        ({"use": "rate"}, ("use", '"rate" is not one of train, check')),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, change: dict[str, Any], problem: tuple[str, str]) -> None:
    path = write_lines(tmp_path, "t.jsonl", PAIR, {**PAIR, **change})
    assert problems(path) == [(2, *problem)]


def test_an_unknown_field_is_no_part_of_a_pair(tmp_path: Path) -> None:
    ((line, field, reason),) = problems(write_lines(tmp_path, "t.jsonl", {**PAIR, "golden": "left"}))
    assert (line, field) == (1, "golden")
    assert reason.startswith("unknown field; a pair to learn on has id, prompt,")


def test_gold_labels_of_contestants_are_something_else(tmp_path: Path) -> None:
    row = {"prompt": "p1", "first": "Heron", "second": "Rook", "gold": "tie", "gold_source": "us"}
    (label,) = read(write_lines(tmp_path, "gold.jsonl", row))
    assert (label.first, label.use) == ("Heron", None)
