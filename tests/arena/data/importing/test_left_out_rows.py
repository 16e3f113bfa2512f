"""Rows that cannot be read do not hold a file: the others are imported, and these are counted by reason."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.data.formats.catalogue import gather
from arena.data.formats.reading import Kind
from arena.data.formats.records import NOWHERE, Problem
from arena.data.formats.table import ColumnMapping
from arena.data.importing.import_report import ImportReport, reason_of
from arena.data.importing.imports import import_files
from arena.models import Comparison, Completion, LeftOutRows, Pair, Prompt, Question, Study
from tests.arena.data.formats.reading import write_lines

pytestmark = pytest.mark.django_db

PROMPTS = [{"id": name, "instruction": f"Say {name}."} for name in ("p1", "p2", "p3")]
GOOD = [{"prompt": name, "contestant": model, "text": "Yes."} for name in ("p1", "p2") for model in "AB"]
VOTE = {"prompt": "p1", "first": "A", "second": "B", "rater": "ann", "rating": 1, "points": 8}


def leaving_out(*paths: Path, study: str = "s", **options: Any) -> ImportReport:
    return import_files(study, paths, leave_out_rows=True, **options)


def battle(**changed: Any) -> dict[str, Any]:
    turns = [{"role": "user", "content": "Name a lake."}, {"role": "assistant", "content": "Mjøsa"}]
    said = {"id": "b1", "model_a": "A", "model_b": "B", "winner": "model_a"}
    return {**said, "conversation_a": turns, "conversation_b": turns, **changed}


OBJECT = [{"role": "user", "content": {"text": "x"}}, battle()["conversation_a"][1]]
STRANGE = [*battle()["conversation_a"], {"role": "robot", "content": "4"}]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ('{"prompt": "p3", "contestant": "A", "text": "hi \\ud83d"}', "text: holds half of a surrogate pair"),
        ('{"prompt": "p3", "contestant": "A", "text": NaN}', "NaN is not a number"),
        ('{"prompt": "p3", "contestant": "A", "text": 1', "not valid JSON"),
        ('{"prompt": "p3", "contestant": "A"}', "text: missing"),
        ('{"prompt": "p9", "contestant": "A", "text": "x"}', "prompt: unknown prompt …"),
        ("[]", "expected a JSON object, found a list"),
    ],
)
def test_a_row_that_cannot_be_read_is_left_out(tmp_path: Path, row: str, reason: str) -> None:
    prompts = write_lines(tmp_path, "prompts.jsonl", *PROMPTS)
    answers = write_lines(tmp_path, "answers.jsonl", *GOOD[:2], row, *GOOD[2:])
    refused = import_files("s", [prompts, answers])
    assert not refused.applied
    assert refused.may_leave_out
    report = leaving_out(prompts, answers)
    assert report.applied
    ((file, _, said, rows),) = report.left_out
    assert (file, rows) == ("answers.jsonl", 1)
    assert said.startswith(reason)
    assert Completion.objects.count() == len(GOOD)
    assert report.added.endswith("Left out: 1 row.")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"conversation_a": OBJECT}, "conversation_a[…]: expected a text, or a list of parts"),
        ({"conversation_b": STRANGE}, "conversation_b"),
        ({"conversation_a": battle()["conversation_a"][:1]}, "conversation_a"),
        ({"winner": "the weather"}, "winner"),
        ({"model_b": "A"}, "model_b: the same model"),
    ],
)
def test_a_battle_that_cannot_be_read_is_left_out(
    tmp_path: Path, changed: dict[str, Any], reason: str
) -> None:
    rows = [battle(), battle(id="b2", **changed), battle(id="b3")]
    report = leaving_out(write_lines(tmp_path, "battles.jsonl", *rows))
    assert report.applied
    assert [(one.reason.startswith(reason), one.rows) for one in report.left_out] == [(True, 1)]
    assert sorted(Prompt.objects.values_list("external_id", flat=True)) == ["b1", "b3"]
    assert Comparison.objects.count() == 2


def test_what_only_names_a_row_left_out_goes_with_it_and_all_else_is_as_if_they_were_not_there(
    tmp_path: Path,
) -> None:
    """Imported without the rows, or from files without them: the same."""
    bad = '{"prompt": "p2", "contestant": "B", "text": "\\ud83d"}'
    votes = [VOTE, VOTE | {"prompt": "p2"}, VOTE | {"rating": 9}, VOTE | {"rater": "bo", "rating": 8}]
    twice = {"id": "p1", "instruction": "Say something else."}
    paths = [
        write_lines(tmp_path, "prompts.jsonl", *PROMPTS, twice),
        write_lines(tmp_path, "answers.jsonl", *GOOD[:3], bad),
        write_lines(tmp_path, "votes.jsonl", *votes),
    ]
    report = leaving_out(*paths)
    assert {(one.file, one.reason): one.rows for one in report.left_out} == {
        ("prompts.jsonl", "id: … is already in another row"): 1,
        ("answers.jsonl", "text: holds half of a surrogate pair, which cannot be stored"): 1,
        ("votes.jsonl", "second: … has no answer to prompt …"): 1,
        ("votes.jsonl", "rating: rating … is outside the scale …-…"): 1,
    }
    clean = tmp_path / "clean"
    clean.mkdir()
    others = [
        write_lines(clean, "prompts.jsonl", *PROMPTS),
        write_lines(clean, "answers.jsonl", *GOOD[:3]),
        write_lines(clean, "votes.jsonl", votes[0], votes[3]),
    ]
    assert import_files("t", others).counts == report.counts
    again = leaving_out(*paths)
    assert (again.applied, again.written) == (True, 0)
    assert sum(LeftOutRows.objects.values_list("rows", flat=True)) == 4, "the same file counts once"


def test_a_name_that_no_model_can_have_takes_all_its_rows_with_it(tmp_path: Path) -> None:
    rows = [{"prompt": "p1", "contestant": "A\u202e", "text": str(number)} for number in range(50)]
    prompts = write_lines(tmp_path, "prompts.jsonl", *PROMPTS)
    report = leaving_out(prompts, write_lines(tmp_path, "answers.jsonl", *GOOD, *rows))
    assert report.applied
    assert report.rows_left_out == 50


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cut.json", json.dumps(GOOD)[:-20]),
        ("unknown.csv", "colour,size\nred,3\n"),
        ("cut.csv", 'prompt,contestant,text\np1,A,x\np1,B,"x\n'),
    ],
)
def test_what_concerns_more_than_a_row_is_never_left_out(tmp_path: Path, name: str, content: str) -> None:
    """What follows a row at which a file breaks off would be lost without a word."""
    prompts = write_lines(tmp_path, "prompts.jsonl", *PROMPTS)
    (tmp_path / name).write_text(content)
    report = leaving_out(prompts, tmp_path / name)
    assert not report.applied
    assert not report.may_leave_out
    assert not Study.objects.exists()


def test_verdicts_whose_meaning_nobody_said_are_asked_about_and_never_left_out(tmp_path: Path) -> None:
    """Without the half of the ratings that says "0" the other half would win."""
    path = tmp_path / "votes.csv"
    path.write_text("one,two,better\nA,B,0\nA,B,1\nB,A,zero\n")
    mapping = ColumnMapping(Kind.COMPARISONS, {"first": "one", "second": "two", "winner": "better"})
    mapping = replace(mapping, constants={"rater": "ann", "rater_kind": "person"})
    report = leaving_out(path, format_name="table", mapping=mapping)
    assert not report.applied
    assert not report.may_leave_out
    assert "has no known meaning" in report.errors[0].reason


def test_requirements_that_count_by_their_order_are_not_left_out(tmp_path: Path) -> None:
    prompts = write_lines(tmp_path, "prompts.jsonl", *PROMPTS)
    rows = [{"prompt": "p1", "text": text, "required": True} for text in ("Kind?", " ", "Short?")]
    report = leaving_out(prompts, write_lines(tmp_path, "questions.jsonl", *rows))
    assert [problem.reason for problem in report.errors if not problem.place.line] == [
        "its rows count by their order, so none can be left out; give each a position"
    ]
    rows = [{**row, "position": number} for number, row in enumerate(rows, start=1)]
    assert leaving_out(prompts, write_lines(tmp_path, "questions.jsonl", *rows)).applied
    assert list(Question.objects.values_list("position", "text")) == [(1, "Kind?"), (3, "Short?")]


def test_verdicts_stay_with_their_pairs_where_the_order_of_lines_tells_them(tmp_path: Path) -> None:
    rows = [
        {"prompt": name, "response 1": f"{name} 1", "response 2": f"{name} 2", "label": 0, "scenario": "x"}
        for name in "abcd"
    ]
    rows[1]["prompt"] = None
    pairs = write_lines(tmp_path, "pairs.jsonl", *rows)
    verdicts = [{"output": output} for output in (0, 0, 1, 2)]
    report = leaving_out(pairs, write_lines(tmp_path, "pairwise_wren_output.jsonl", *verdicts))
    assert report.applied
    assert [one.rows for one in report.left_out] == [1, 1]
    said = Comparison.objects.values_list("pair__prompt__turns", "rating")
    assert sorted((turns[0], rating) for turns, rating in said) == [("a", 1), ("c", 3), ("d", 2)]
    assert Pair.objects.count() == 3


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (("rating", "rating 9 is outside the scale 1-8"), "rating: rating … is outside the scale …-…"),
        (
            ("kind", '"a "b" c@example.org "d"" is not one of model, people'),
            "kind: … is not one of model, people",
        ),
        (("", "'it's b@example.org' is neither"), "… is neither"),
        (("id", '"p" is already in /home/b/votes.csv, row 1,200'), "id: … is already in another row"),
        (("name", 'unknown model "Z"; add it or correct its name'), "name: unknown model …"),
        (
            ("a[2]", "expected a text, or a list of parts"),
            "a[…]: expected a text, or a list of parts",
        ),
    ],
)
def test_a_reason_names_no_value_of_the_file(problem: tuple[str, str], reason: str) -> None:
    """Everybody who sees the page of data reads it."""
    assert reason_of(Problem(NOWHERE, *problem)) == reason


def test_a_dry_run_counts_and_changes_nothing(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "prompts.jsonl", *PROMPTS, {"id": "", "instruction": "x"})
    report = leaving_out(path, dry_run=True)
    assert (report.ok, report.applied, report.rows_left_out) == (True, False, 1)
    assert not LeftOutRows.objects.exists()


def test_rows_are_numbered_as_a_spreadsheet_does(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text('prompt,contestant,text\np1,A,"one\ntwo\nthree"\n\np1,B,b,c\n')
    (problem,) = [item for item in gather([path]).items() if hasattr(item, "reason")]
    assert str(problem.place) == f"{path}, row 4"
