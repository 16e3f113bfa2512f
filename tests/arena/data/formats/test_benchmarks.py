"""Scores on other benchmarks, from every way of writing a file."""

import math
from pathlib import Path
from typing import Any

import pytest

from arena.data.formats.ours import benchmark_faults
from arena.data.formats.records import ContestantRecord
from tests.arena.data.formats.reading import problems, read, write_lines


def scores(path: Path) -> Any:
    (record,) = read(path)
    assert isinstance(record, ContestantRecord)
    assert not any(name.startswith("benchmark") for name in record.extra)
    return record.benchmarks


def table(folder: Path, header: str, row: str) -> Path:
    path = folder / "contestants.csv"
    path.write_text(f"{header}\n{row}\n")
    return path


def test_an_object_of_names_and_numbers(tmp_path: Path) -> None:
    row = {"name": "A", "benchmarks": {"MMLU": 69.8, "Chess Elo": 1200}}
    assert scores(write_lines(tmp_path, "a.jsonl", row)) == {"MMLU": 69.8, "Chess Elo": 1200}


def test_nothing_said_is_not_an_empty_object(tmp_path: Path) -> None:
    assert scores(write_lines(tmp_path, "a.jsonl", {"name": "A"})) is None
    assert scores(write_lines(tmp_path, "b.jsonl", {"name": "A", "benchmarks": {}})) == {}
    assert scores(table(tmp_path, "name,family,benchmark.MMLU", "A,F,")) is None


def test_columns_of_a_table(tmp_path: Path) -> None:
    path = table(tmp_path, "name,benchmark.MMLU,benchmark.A.B,benchmark.Old", "A, 69.80 ,-3,")
    assert scores(path) == {"MMLU": 69.8, "A.B": -3}


def test_json_and_columns_together(tmp_path: Path) -> None:
    path = table(tmp_path, "name,benchmarks,benchmark.B", 'A,"{""A"": 1}",2.5')
    assert scores(path) == {"A": 1, "B": 2.5}


@pytest.mark.parametrize(
    ("header", "cells", "field", "reason"),
    [
        ("benchmark.MMLU", "high", "benchmark.MMLU", "expected a number, found a text"),
        ("benchmark.MMLU", "nan", "benchmark.MMLU", "nan is not a finite number"),
        ("benchmark.MMLU", "1_000", "benchmark.MMLU", "expected a number, found a text"),
        ("benchmark.MMLU", "1e13", "benchmark.MMLU", "a score lies between -1e+12 and 1e+12"),
        ("benchmark.MMLU", "1e999", "benchmark.MMLU", "inf is not a finite number"),
        ("benchmark.", "1", "benchmark.", "a benchmark needs a name"),
        ("benchmarks,benchmark.A", '"{""A"": 1}",1', "benchmark.A", "stands in benchmarks as well"),
        ("benchmarks", "[1]", "benchmarks", "expected an object, found a list"),
        ("benchmarks", "{", "benchmarks", "the cell does not hold valid JSON"),
    ],
)
def test_what_is_refused_names_line_and_field(
    tmp_path: Path, header: str, cells: str, field: str, reason: str
) -> None:
    assert problems(table(tmp_path, f"name,{header}", f"A,{cells}")) == [(2, field, reason)]


def test_bad_values_of_an_object_are_named_each(tmp_path: Path) -> None:
    bad = {"ok": 1, "a": "1", "b": True, "c": None, "x" * 61: 1, "t\u202e": 1, "big": 10**400}
    found = problems(write_lines(tmp_path, "a.jsonl", {"name": "A", "benchmarks": bad}))
    assert found == [
        (1, "benchmarks.a", "expected a number, found a text"),
        (1, "benchmarks.b", "expected a number, found true or false"),
        (1, "benchmarks.c", "expected a number, found null"),
        (1, f"benchmarks.{'x' * 60}…", "a name of 61 characters; at most 60 fit"),
        (1, "benchmarks.t", "holds the invisible character U+202E"),
        (1, "benchmarks.big", "a score lies between -1e+12 and 1e+12"),
    ]


def test_twenty_fit_and_no_more() -> None:
    assert not list(benchmark_faults({str(n): n for n in range(20)}))
    assert [fault.reason for fault in benchmark_faults({str(n): n for n in range(21)})] == [
        "21 benchmarks; at most 20 fit"
    ]
    assert [fault.reason for fault in benchmark_faults({"a": math.inf})] == ["inf is not a finite number"]
