"""Our own fields, as JSON Lines and as CSV."""

import csv
import math
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from arena.data.formats.ours import benchmark_faults
from arena.data.formats.records import (
    CompletionRecord,
    PromptRecord,
    RaterRecord,
    ReferenceRecord,
)
from arena.rating.subsets import TRAINING_SUBSET
from tests.arena.data.formats.reading import problems, read, write_lines

COMPARISON = {
    "prompt": "p1",
    "first": "A",
    "second": "B",
    "rater": "ann",
    "rater_kind": "person",
    "rating": 3,
    "points": 8,
}


VOTE_COLUMNS = "prompt,first,second,rater,rating,points"


def test_prompt(tmp_path: Path) -> None:
    row = {
        "id": 7,
        "subset": "hard",
        "category": "coding",
        "domain": "python",
        "instruction": "Sort it.",
        "input": "3 1 2",
        "references": [{"author": "Ann", "text": "1 2 3"}, {"author": "Bob", "turns": ["1", "2"]}],
        "source": {"page": 4},
    }
    record, bare = read(write_lines(tmp_path, "a.jsonl", row, {"id": "p", "turns": ["One", "Two"]}))
    assert record == PromptRecord(
        id="7",
        turns=("Sort it.",),
        subset="hard",
        category="coding",
        domain="python",
        input="3 1 2",
        references=(ReferenceRecord("Ann", ("1 2 3",)), ReferenceRecord("Bob", ("1", "2"))),
        extra={"source": {"page": 4}},
        place=record.place,
    )
    # What is not said is None.
    assert (bare.turns, bare.category, bare.input) == (("One", "Two"), None, None)


def test_contestants_and_raters(tmp_path: Path) -> None:
    row = {"name": "Rook 7B", "kind": "people", "generation": {"temperature": 0.5}, "site": "here"}
    (record,) = read(write_lines(tmp_path, "a.jsonl", row))
    assert (record.name, record.kind, record.slug) == ("Rook 7B", "people", None)
    assert (record.generation, record.extra) == ({"temperature": 0.5}, {"site": "here"})
    row = {"rater": "sim", "rater_kind": "judge", "name": "Sim", "simulated": True, "groups": ["panel"]}
    (record,) = read(write_lines(tmp_path, "a.jsonl", row))
    assert record == RaterRecord("sim", "judge", "Sim", True, ("panel",), place=record.place)
    facts = {"model": "m", "prices": {"prompt": 1}, "seconds": 2.0, "order_free": True}
    (record,) = read(write_lines(tmp_path, "a.jsonl", {**row, **facts}))
    assert record.facts == facts
    path = write_lines(tmp_path, "a.jsonl", {"rater": "ann", "rater_kind": "person", "model": "m"})
    assert problems(path) == [(1, "model", "only a judge has this")]


def test_comparison_with_everything(tmp_path: Path) -> None:
    row = {
        **COMPARISON,
        "subset": "hard",
        "first_score": 7.5,
        "second_score": 0,
        "raw_reply": "3",
        "rationale": "shorter",
        "seconds": 12.5,
        "repeat": 1,
        "created_at": "2025-01-02T03:04:05+00:00",
        "id": "v1",
        "criteria": {"accuracy": 8},
        "batch": 2,
    }
    unscored = {**COMPARISON, "rating": None, "reason": "refused"}
    record, without_rating = read(write_lines(tmp_path, "a.jsonl", row, unscored))
    assert (record.rating, record.points, record.scores) == (3, 8, (Decimal("7.5"), Decimal(0)))
    assert record.created_at == datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert (record.seconds, record.repeat, record.id) == (12.5, 1, "v1")
    assert (record.criteria, record.extra) == ({"accuracy": 8}, {"batch": 2})
    assert (without_rating.rating, without_rating.reason) == (None, "refused")


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"rating": 9}, "rating", "rating 9 is outside the scale 1-8"),
        ({"rating": 0}, "rating", "rating 0 is outside the scale 1-8"),
        ({"rating": 4, "points": 3}, "rating", "rating 4 is outside the scale 1-3"),
        ({"rating": 2.5}, "rating", "expected a whole number, found 2.5"),
        ({"rating": "3"}, "rating", "expected a whole number, found a text"),
        ({"rating": True}, "rating", "expected a whole number, found true or false"),
        ({"rating": None}, "rating", "missing; an answer without a rating needs a reason"),
        ({"reason": "refused"}, "reason", "given beside a rating"),
        ({"rating": None, "reason": "bored"}, "reason", '"bored" is not one of empty, out_of_range'),
        ({"points": 4}, "points", "no scale has 4 points; choose one of 2, 3, 5, 8"),
        ({"points": None}, "points", "missing"),
        ({"second": "A"}, "second", 'the same model as first ("A")'),
        ({"prompt": ""}, "prompt", "missing"),
        ({"rater": None}, "rater", "missing"),
        ({"rater_kind": "robot"}, "rater_kind", '"robot" is not one of person, judge'),
        ({"first": ["A"]}, "first", "expected a text, found a list"),
        ({"seconds": -1}, "seconds", "-1 is not between 0 and 1e+09"),
        ({"repeat": -1}, "repeat", "-1 is not between 0 and"),
        ({"first_score": 7}, "second_score", "missing; give both scores or none"),
        ({"first_score": 1e6, "second_score": 1}, "first_score", "1000000.0 is not between"),
        ({"created_at": "yesterday"}, "created_at", "'yesterday' is neither an ISO 8601 time nor seconds"),
        ({"created_at": "0001-01-01"}, "created_at", "is neither an ISO 8601 time"),
        ({"created_at": 1e30}, "created_at", "is neither an ISO 8601 time"),
        ({"criteria": {"accuracy": 9}}, "criteria.accuracy", "rating 9 is outside the scale 1-8"),
        (
            {"criteria": {"accuracy": "unsure"}},
            "criteria.accuracy",
            '"unsure" is neither a rating nor one of empty',
        ),
        ({"criteria": [1]}, "criteria", "expected an object, found a list"),
        ({"extra": "x"}, "extra", "expected an object, found a text"),
    ],
)
def test_wrong_comparison_fields(tmp_path: Path, change: dict[str, Any], field: str, reason: str) -> None:
    ((line, name, said),) = problems(write_lines(tmp_path, "a.jsonl", COMPARISON, {**COMPARISON, **change}))
    assert (line, name) == (2, field)
    assert reason in said


@pytest.mark.parametrize(
    ("row", "field", "reason"),
    [
        ({"id": "p", "instruction": " "}, "instruction", "empty"),
        ({"id": "", "instruction": "x"}, "id", "missing"),
        ({"id": "p", "instruction": "x", "turns": ["x"]}, "instruction", "either instruction or turns"),
        ({"id": "p", "turns": "x"}, "turns", "expected a list of texts"),
        ({"id": "p", "instruction": "x", "references": {}}, "references", "expected a list, found an object"),
        ({"id": "p", "instruction": "x", "references": ["y"]}, "references[1]", "found a text"),
        ({"id": "p", "instruction": "x", "references": [{"text": "y"}]}, "references[1].author", "missing"),
        (
            {"id": "p", "instruction": "x", "references": [{"author": "a", "text": "y"}] * 2},
            "references[2]",
            'the author "a" has two references',
        ),
    ],
)
def test_a_wrong_prompt_field_is_named(tmp_path: Path, row: dict[str, Any], field: str, reason: str) -> None:
    found = problems(write_lines(tmp_path, "a.jsonl", {"id": "p0", "instruction": "x"}, row))
    assert [(line, name) for line, name, _ in found] == [(2, field)]
    assert reason in found[0][2]


def test_every_error_of_a_line_is_listed_and_a_text_may_be_empty_but_not_missing(tmp_path: Path) -> None:
    row = {**COMPARISON, "rating": 9, "rater_kind": "robot", "seconds": "soon"}
    fields = [field for _, field, _ in problems(write_lines(tmp_path, "a.jsonl", row))]
    assert sorted(fields) == ["rater_kind", "rating", "seconds"]
    rows = [{"prompt": "p", "contestant": "A", "text": ""}, {"prompt": "p", "contestant": "B"}]
    path = write_lines(tmp_path, "a.jsonl", *rows)
    assert read(path)[0] == CompletionRecord("p", ("",), contestant="A", place=read(path)[0].place)
    assert problems(path) == [(2, "text", "missing")]


class TestCsv:
    def test_comparisons(self, tmp_path: Path) -> None:
        path = write_lines(
            tmp_path,
            "votes.csv",
            "prompt,first,second,rater,rating,points,seconds,criteria,batch,reason",
            'p1,A,B,ann,3,8,2.5,"{""accuracy"": 7}",x,',
            "p1,B,A,ann,,8,,,,refused",
        )
        scored, unscored = read(path)
        assert (scored.rating, scored.seconds, scored.criteria) == (3, 2.5, {"accuracy": 7})
        assert scored.extra == {"batch": "x"}
        assert (unscored.rating, unscored.reason, unscored.extra) == (None, "refused", {})

    def test_cells_hold_line_breaks_and_empty_texts(self, tmp_path: Path) -> None:
        path = write_lines(
            tmp_path, "c.csv", "prompt,contestant,text", 'p1,A,"one', 'two"', "p2,A,", "p3,A,=1+1"
        )
        *records, note = read(path)
        text = '1 cell begins like a formula (row 4, column "text"); it is kept as text'
        assert str(note) == f"{path}: {text}"
        expected = [(2, ("one\ntwo",)), (3, ("",)), (4, ("=1+1",))]
        assert [(record.place.line, record.turns) for record in records] == expected

    def test_the_apostrophe_of_an_export_is_taken_away(self, tmp_path: Path) -> None:
        texts = ["'=1+1", "''=1+1", "'-", "'tis", "'", "don't", "'@you", "'\tx", "-5"]
        path = tmp_path / "c.csv"
        with path.open("w", newline="", encoding="utf-8-sig") as file:
            csv.writer(file).writerows(
                [("prompt", "contestant", "text"), *(("p1", name, name) for name in texts)]
            )
        records = read(path)
        wanted = ["=1+1", "'=1+1", "-", "'tis", "'", "don't", "@you", "\tx", "-5"]
        assert [(record.contestant, *record.turns) for record in records] == [(name, name) for name in wanted]

    def test_many_cells_like_formulas_make_one_note(self, tmp_path: Path) -> None:
        rows = [f"p{number},A,- a bullet" for number in range(1234)]
        *_, note = read(write_lines(tmp_path, "c.csv", "prompt,contestant,text", "p,@A,-1.5", *rows))
        assert note.text == (
            '1,235 cells begin like a formula (first: row 2, column "contestant"); they are kept as text'
        )

    def test_what_spreadsheets_make_of_it(self, tmp_path: Path) -> None:
        # Semicolons, a byte order mark, cells of JSON, and whole numbers with a point.
        (record,) = read(write_lines(tmp_path, "c.csv", "\ufeffprompt;contestant;text", "p1;A;Hi, you"))
        assert (record.prompt, record.turns) == ("p1", ("Hi, you",))
        cells = 'p1,"[""a"", ""b""]","[{""author"": ""Ann"", ""text"": ""c""}]"'
        (record,) = read(write_lines(tmp_path, "p.csv", "id,turns,references", cells))
        assert (record.turns, record.references) == (("a", "b"), (ReferenceRecord("Ann", ("c",)),))
        (record,) = read(write_lines(tmp_path, "v.csv", VOTE_COLUMNS, "p1,A,B,ann,3.0, 8"))
        assert (record.rating, record.points) == (3, 8)

    @pytest.mark.parametrize(
        ("row", "field", "reason"),
        [
            ("p1,A,B,ann,3", "", "the row has 5 cells, the header has 6"),
            ("p1,A,B,ann,3,8,9", "", "the row has 7 cells, the header has 6"),
            ("p1,A,B,ann,three,8", "rating", '"three" is not a whole number'),
            ("p1,A,B,ann,1_0,8", "rating", '"1_0" is not a whole number'),
            ("p1,A,B,ann,3.5,8", "rating", '"3.5" is not a whole number'),
            ("p1,A,B,ann,9,8", "rating", "rating 9 is outside the scale 1-8"),
            ("p1,A,B,ann,,8", "rating", "missing"),
            ("p1,A,,ann,3,8", "second", "missing"),
            ('p1,A,B,"ann,3,8', "", "the row cannot be read (unexpected end of data)"),
        ],
    )
    def test_a_wrong_row_is_named(self, tmp_path: Path, row: str, field: str, reason: str) -> None:
        path = write_lines(tmp_path, "v.csv", VOTE_COLUMNS, row)
        ((line, name, said),) = problems(path)
        assert (line, name) == (2, field)
        assert reason in said

    @pytest.mark.parametrize(
        ("content", "line", "field", "reason"),
        [
            ("prompt,contestant,text\np1,A,é\n".encode() + b"p2,A,caf\xe9\n", 3, "", "not UTF-8 (byte 0xe9"),
            (
                b"prompt,contestant,text\np1,A,a\0b\n",
                2,
                "text",
                "holds a NUL character, which cannot be stored",
            ),
            (b"prompt,text,text\np1,a,b\n", 1, "", "the column text appears twice in the header; rename one"),
        ],
    )
    def test_wrong_files(self, tmp_path: Path, content: bytes, line: int, field: str, reason: str) -> None:
        path = tmp_path / "c.csv"
        path.write_bytes(content)
        ((found_line, found_field, said),) = problems(path)
        assert (found_line, found_field) == (line, field)
        assert said.startswith(reason)

    def test_wrong_columns(self, tmp_path: Path) -> None:
        path = write_lines(tmp_path, "c.csv", "question,answer", "a,b")
        ((line, _, reason),) = problems(path, format_name="csv")
        assert line == 1
        assert reason.startswith("no format has these columns: answer, question. Try --format table ")


PAIR = {"prompt": "p1", "first": "A", "second": "B", "gold": "first", "gold_source": "editors"}
VOTE = {"prompt": "p1", "first": "A", "second": "B", "rater": "ann", "rating": 1, "points": 2}


def without(row: dict[str, Any], *names: str, **more: Any) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names} | more


def test_gold_labels_and_votes_name_completions_by_their_own_ids(tmp_path: Path) -> None:
    by_id = without(PAIR, "first", "second", first_id="1", second_id="2", gold="tie", subset="s")
    first, second = read(write_lines(tmp_path, "pairs.jsonl", PAIR, by_id))
    assert (first.first, first.second, first.gold, first.source) == ("A", "B", "first", "editors")
    assert (second.first, second.first_id, second.second_id, second.gold) == ("", "1", "2", "tie")
    assert second.subset == "s"
    both_ids = without(VOTE, "first", "second", first_id="1", second_id="2")
    mixed = without(VOTE, "second", second_id="2")
    first, second = read(write_lines(tmp_path, "votes.jsonl", both_ids, mixed))
    assert (first.first, first.second, first.first_id, first.second_id) == ("", "", "1", "2")
    assert (second.first, second.second, second.first_id, second.second_id) == ("A", "", "", "2")


@pytest.mark.parametrize(
    ("row", "field", "reason"),
    [
        (without(PAIR, gold="left"), "gold", '"left" is not one of first, tie, second'),
        (without(PAIR, gold=None), "gold", "missing; one of first, tie, second"),
        (without(PAIR, "gold_source"), "gold_source", "missing"),
        (without(PAIR, "prompt", prompt=""), "prompt", "missing"),
        (without(PAIR, why="x"), "why", "unknown field; a pair has prompt, subset, first, second, gold and"),
        (without(PAIR, second="A"), "second", 'the same model as first ("A")'),
        (
            without(VOTE, first_id="1"),
            "first_id",
            "given beside first; give one of them",
        ),
        (without(VOTE, "first", first_id=""), "first", "missing"),
        (without(VOTE, "first", first_id=None), "first", "missing"),
        (
            without(VOTE, "first", "second", first_id="1", second_id="1"),
            "second_id",
            'the same answer as first_id ("1")',
        ),
    ],
)
def test_wrong_sides_of_a_pair(tmp_path: Path, row: dict[str, Any], field: str, reason: str) -> None:
    ((line, name, said),) = problems(write_lines(tmp_path, "rows.jsonl", row))
    assert (line, name) == (1, field)
    assert said.startswith(reason)


# Scores on other benchmarks, from every way of writing a file.


def scores(path: Path) -> Any:
    (record,) = read(path)
    assert not any(name.startswith("benchmark") for name in record.extra)
    return record.benchmarks


def table(folder: Path, header: str, row: str) -> Path:
    path = folder / "contestants.csv"
    path.write_text(f"{header}\n{row}\n")
    return path


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"benchmarks": {"MMLU": 69.8, "Chess Elo": 1200}}, {"MMLU": 69.8, "Chess Elo": 1200}),
        ({}, None),
        ({"benchmarks": {}}, {}),
        (["family,benchmark.MMLU", "F,"], None),
        (["benchmark.MMLU,benchmark.A.B,benchmark.Old", " 69.80 ,-3,"], {"MMLU": 69.8, "A.B": -3}),
        (["benchmarks,benchmark.B", '"{""A"": 1}",2.5'], {"A": 1, "B": 2.5}),
    ],
)
def test_scores_of_an_object_and_of_columns(
    tmp_path: Path, row: dict[str, Any] | list[str], expected: dict[str, float] | None
) -> None:
    """A list: the header and the row of a table. Nothing said is not an empty object."""
    if isinstance(row, list):
        path = table(tmp_path, *(f"{cell},{more}" for cell, more in zip(("name", "A"), row, strict=True)))
    else:
        path = write_lines(tmp_path, "a.jsonl", {"name": "A"} | row)
    assert scores(path) == expected


@pytest.mark.parametrize(
    ("header", "cells", "field", "reason"),
    [
        ("benchmark.MMLU", "high", "benchmark.MMLU", "expected a number, found a text"),
        ("benchmark.MMLU", "nan", "benchmark.MMLU", "nan is not a finite number"),
        ("benchmark.MMLU", "1_000", "benchmark.MMLU", "expected a number, found a text"),
        ("benchmark.MMLU", "1e13", "benchmark.MMLU", "a score lies between -1e+12 and 1e+12"),
        ("benchmark.MMLU", "1e999", "benchmark.MMLU", "inf is not a finite number"),
        ("benchmark.", "1", "benchmark.", "a benchmark needs a name"),
        ("benchmarks,benchmark.A", '"{""A"": 1}",1', "benchmark.A", "also given in benchmarks; give it once"),
        ("benchmarks", "[1]", "benchmarks", "expected an object, found a list"),
        ("benchmarks", "{", "benchmarks", "the cell does not hold valid JSON"),
    ],
)
def test_what_is_refused_is_named(tmp_path: Path, header: str, cells: str, field: str, reason: str) -> None:
    assert problems(table(tmp_path, f"name,{header}", f"A,{cells}")) == [(2, field, reason)]


def test_bad_values_of_an_object_are_named_each(tmp_path: Path) -> None:
    bad = {"ok": 1, "a": "1", "b": True, "c": None, "x" * 61: 1, "t\u202e": 1, "big": 10**400}
    found = problems(write_lines(tmp_path, "a.jsonl", {"name": "A", "benchmarks": bad}))
    assert found == [
        (1, "benchmarks.a", "expected a number, found a text"),
        (1, "benchmarks.b", "expected a number, found true or false"),
        (1, "benchmarks.c", "expected a number, found null"),
        (1, f"benchmarks.{'x' * 60}…", "a name of 61 characters; at most 60 fit"),
        (1, "benchmarks.t", "contains the invisible character U+202E"),
        (1, "benchmarks.big", "a score lies between -1e+12 and 1e+12"),
    ]


def test_twenty_fit_and_no_more() -> None:
    assert not list(benchmark_faults({str(n): n for n in range(20)}))
    for bad, reason in (
        ({str(n): n for n in range(21)}, "21 benchmarks; at most 20 fit"),
        ({"a": math.inf}, "inf is not a finite number"),
    ):
        assert [fault.reason for fault in benchmark_faults(bad)] == [reason]


# Training pairs and hidden checks, in our own words for them.


TRAINING_PAIR = {"prompt": "Name a river.", "first": "Glomma", "second": "", "gold": "first"}
TRAINING_PAIR["explanation"] = "B is empty."


def test_a_pair_brings_its_texts(tmp_path: Path) -> None:
    more = {"id": "rivers", "category": "facts", "input": "In Norway.", "gold_source": "an atlas"}
    prompt, first, second, label = read(write_lines(tmp_path, "t.jsonl", TRAINING_PAIR | more))
    assert (prompt.id, prompt.subset, prompt.turns) == ("rivers", TRAINING_SUBSET, ("Name a river.",))
    assert (prompt.category, prompt.input, prompt.implied) == ("facts", "In Norway.", False)
    assert (first.id, first.turns, first.contestant) == ("first", ("Glomma",), None)
    assert (second.id, second.turns, second.contestant) == ("second", ("",), None)
    assert (label.gold, label.use, label.source) == ("first", "train", "an atlas")
    assert label.explanation == "B is empty."


def test_a_table_is_read_alike_and_rows_without_an_id_are_told_apart(tmp_path: Path) -> None:
    rows = ["prompt,first,second,gold,use", "Name a river.,Glomma,Danube,first,check"]
    prompt, *_, label = read(write_lines(tmp_path, "checks.csv", *rows))
    assert (prompt.subset, label.gold, label.use) == (TRAINING_SUBSET, "first", "check")
    other = {**TRAINING_PAIR, "second": "Danube"}
    items = read(write_lines(tmp_path, "t.jsonl", TRAINING_PAIR, TRAINING_PAIR, other))
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
    path = write_lines(tmp_path, "t.jsonl", TRAINING_PAIR, {**TRAINING_PAIR, **change})
    assert problems(path) == [(2, *problem)]


def test_an_unknown_field_or_a_contestant_is_no_part_of_a_pair(tmp_path: Path) -> None:
    ((line, field, reason),) = problems(write_lines(tmp_path, "t.jsonl", {**TRAINING_PAIR, "golden": "left"}))
    assert (line, field) == (1, "golden")
    assert reason.startswith("unknown field; a pair to learn on has id, prompt,")
    row = {"prompt": "p1", "first": "Heron", "second": "Rook", "gold": "tie", "gold_source": "us"}
    (label,) = read(write_lines(tmp_path, "gold.jsonl", row))
    assert (label.first, label.use) == ("Heron", None)


SCORE: dict[str, Any] = {"prompt": "p1", "contestant": "A", "score": 4}
CHECK: dict[str, Any] = {"prompt": "p1", "contestant": "A", "question": 1, "rater": "ann", "answer": "no"}
REQUIREMENT: dict[str, Any] = {"prompt": "p1", "position": 2, "text": "Is it short?"}


def test_a_score_without_a_rater_is_by_the_judge_after_whom_the_file_is_named(tmp_path: Path) -> None:
    rows = [SCORE, {**SCORE, "rater": "ann", "turn": 2, "lowest": 0, "highest": 9.5, "tokens": 3}]
    prompt, completion, first, second = read(write_lines(tmp_path, "Judge-7B.jsonl", *rows))
    assert (prompt.id, prompt.turns, completion.contestant, completion.turns) == ("p1", (), "A", ())
    assert (first.rater, first.rater_kind, first.rater_from_path) == ("Judge-7B", "judge", True)
    assert (first.score, first.lowest, first.highest, first.turn) == (4, None, None, 0)
    assert (second.rater, second.rater_kind, second.turn, second.extra) == ("ann", "", 2, {"tokens": 3})
    assert (second.lowest, second.highest) == (0, 9.5)


def test_labels_of_a_requirement_in_a_cell(tmp_path: Path) -> None:
    rows = ["p1,Is it kind?,Content; Style,", 'p1,Is it short?,"[""Format""]",false', "p1,Is it?,,true"]
    records = read(write_lines(tmp_path, "q.csv", "prompt,text,labels,required", *rows))
    assert [record.labels for record in records] == [("Content", "Style"), ("Format",), None]
    assert [(record.position, record.required) for record in records] == [
        *((None, None), (None, False), (None, True))
    ]


@pytest.mark.parametrize(
    ("row", "field", "reason"),
    [
        ({**SCORE, "score": "good"}, "score", "expected a number, found a text"),
        ({**SCORE, "score": None}, "score", "missing; without one a reason is needed: empty, out_of"),
        ({**SCORE, "reason": "refused"}, "reason", "given beside the score"),
        ({**SCORE, "lowest": 5, "highest": 1}, "highest", "1 is not above the lowest score, 5"),
        ({**SCORE, "completion": "x", "turn": 1}, "completion", "given beside contestant"),
        ({**SCORE, "contestant": "", "turn": 1}, "contestant", "missing; give the model, or the id"),
        ({**SCORE, "turn": 1001}, "turn", "1001 is not between 0 and 1000"),
        ({**CHECK, "answer": "maybe"}, "answer", '"maybe" is not one of yes, no, unknown'),
        ({**CHECK, "answer": None}, "answer", "missing; without one a reason is needed"),
        ({**CHECK, "question": 0}, "question", "0 is not between 1 and 1000"),
        ({**CHECK, "question": None}, "question", "missing; give the position of the requirement"),
        ({**CHECK, "rater": ""}, "rater", "missing"),
        ({**REQUIREMENT, "text": " "}, "text", "missing"),
        ({**REQUIREMENT, "labels": [1]}, "labels", "expected a list of texts"),
        ({**REQUIREMENT, "required": "no"}, "required", "expected true or false"),
        ({"prompt": "p", "text": "Is it short?"}, "contestant", "If the rows are requirements, give each"),
        ({**REQUIREMENT, "level": 1}, "level", "unknown field; a requirement has prompt, subset, position"),
    ],
)
def test_wrong_fields_of_scores_checks_and_requirements(
    tmp_path: Path, row: dict[str, Any], field: str, reason: str
) -> None:
    ((_, name, said),) = problems(write_lines(tmp_path, "a.jsonl", row))
    assert name == field
    assert reason in said
