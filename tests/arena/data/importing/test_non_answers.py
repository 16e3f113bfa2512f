"""Errors, thinking and end tokens in imported answers: counted, and no part of what is rated or exported."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from arena.data import export
from arena.data.importing.import_report import ImportReport
from arena.data.importing.imports import import_files
from arena.models import Completion, Pair, Study
from arena.rating import pair_queue
from arena.texts.self_naming import shown_turns
from leaderboard.files.interchange import preferences
from leaderboard.files.selection import Selection
from tests.arena.data.formats.reading import write_lines
from tests.factories import make_comparison

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

QUESTION = {"id": "q1", "instruction": "Say hi."}
THOUGHT = "<think>\nI am heron.\n</think>\n\nhello<|im_end|>"


def imported(folder: Path, *texts: str, **more: Any) -> ImportReport:
    """A study with a prompt and these answers by the models heron, stork and so on."""
    prompts = write_lines(folder, "prompts.jsonl", QUESTION)
    names = ("heron", "stork", "crane")
    rows = [
        {"prompt": "q1", "contestant": name, "text": text, **more}
        for name, text in zip(names, texts, strict=False)
    ]
    return import_files("birds", [prompts, write_lines(folder, "answers.jsonl", *rows)])


def answer_of(name: str) -> Completion:
    return Completion.objects.get(contestant__name=name, is_current=True)


def test_an_error_is_no_answer(tmp_path: Path) -> None:
    report = imported(tmp_path, "$ERROR$", "hi")
    assert report.ok
    assert report.counts["completions"].failed == 1
    assert report.missing.examples == [("heron", "q1")]
    assert any("program that failed" in note.text for note in report.notes)
    assert (answer_of("heron").turns, answer_of("heron").is_empty) == ([], False)
    assert answer_of("heron").extra == {"failure": ["$ERROR$"]}
    assert [each.contestant.name for each in Completion.objects.offered()] == ["stork"]


def test_an_answer_fills_the_place_of_an_error_and_no_error_that_of_an_answer(tmp_path: Path) -> None:
    imported(tmp_path, "$ERROR$", "hi")
    assert imported(tmp_path, "$ERROR$", "hi").written == 0
    assert imported(tmp_path, "hello", "$ERROR$").ok
    assert (answer_of("heron").turns, answer_of("stork").turns) == (["hello"], ["hi"])
    assert "failure" not in answer_of("stork").extra


def test_a_reply_that_is_null_in_answers_of_mt_bench_is_an_error(tmp_path: Path) -> None:
    question = {"question_id": 81, "category": "writing", "turns": ["Say hi", "Again"]}
    answers = [
        {"question_id": 81, "answer_id": name, "model_id": name, "choices": [{"index": 0, "turns": turns}]}
        for name, turns in {"a": ["$ERROR$", "$ERROR$"], "b": [None, None], "c": ["hi", "$ERROR$"]}.items()
    ]
    files = [write_lines(tmp_path, "question.jsonl", question), write_lines(tmp_path, "m.jsonl", *answers)]
    report = import_files("mt", files)
    assert (report.ok, report.counts["completions"].failed, report.missing.count) == (True, 3, 3)
    assert not Completion.objects.offered()


def test_thinking_is_set_apart_and_told_in_exports(tmp_path: Path) -> None:
    report = imported(tmp_path, THOUGHT, "hi")
    counts = report.counts["completions"]
    assert (counts.thinking, counts.end_tokens, counts.empty) == (1, 1, 0)
    heron = answer_of("heron")
    assert (heron.turns, heron.telling) == (["hello"], [])
    assert [each.strip() for each in heron.thinking] == ["<think>\nI am heron.\n</think>"]
    assert shown_turns(heron, Study.objects.get()) == ["hello"]
    assert imported(tmp_path, THOUGHT, "hi").written == 0
    rows = [row for row in export.rows(Study.objects.get(), "completions") if row["contestant"] == "heron"]
    assert rows[0]["text"] == "hello"
    again = import_files("again", [tmp_path / "prompts.jsonl", write_lines(tmp_path, "out.jsonl", *rows)])
    assert (again.ok, again.counts["completions"].thinking) == (True, 1)
    copy = Completion.objects.get(prompt__study__slug="again")
    assert (copy.turns, copy.thinking, copy.extra) == (heron.turns, heron.thinking, heron.extra)


def test_the_choice_holds_for_the_next_pair(tmp_path: Path) -> None:
    imported(tmp_path, THOUGHT, "hi", "ho")
    study = Study.objects.get()
    for choice, pairs in ((Study.Thinking.HIDE, 3), (Study.Thinking.EXCLUDE, 1)):
        study.thinking = choice
        study.save()
        pair_queue.fill(study)
        assert Pair.rows.filter(queued_in=study).count() == pairs


def test_no_thinking_is_chosen_for_training(tmp_path: Path) -> None:
    imported(tmp_path, THOUGHT, "hi")
    heron, stork = answer_of("heron"), answer_of("stork")
    pair = Pair.objects.create(prompt=heron.prompt, first=heron, second=stork)
    make_comparison(pair=pair, rating=1)
    rows = list(preferences(Study.objects.get(), Selection("people"), Counter()))
    assert [(row["chosen"], row["rejected"]) for row in rows] == [("hello", "hi")]


def test_an_answer_that_is_thinking_alone_is_empty(tmp_path: Path) -> None:
    report = imported(tmp_path, "<think>Hm, so", "hi")
    assert report.counts["completions"].empty == 1
    assert answer_of("heron").is_empty


@pytest.mark.parametrize(
    ("given", "thinking", "extra"),
    [
        ("Hm.", ["Hm."], {}),
        (["Hm."], ["Hm."], {}),
        ({"steps": 2}, [], {"given_thinking": {"steps": 2}}),
        ([], [], {"given_thinking": []}),
    ],
)
def test_a_field_of_thinking(
    tmp_path: Path, given: object, thinking: list[str], extra: dict[str, Any]
) -> None:
    assert imported(tmp_path, "hello", "hi", thinking=given).ok
    assert (answer_of("heron").thinking, answer_of("heron").extra) == (thinking, extra)
    assert json.dumps(answer_of("heron").turns) == '["hello"]'


@pytest.mark.parametrize(
    "row",
    [
        {"instruction": "Say hi.", "output": None, "generator": "heron"},
        {"question_id": "q1", "answer_id": "a1", "model_id": "heron", "text": None, "metadata": {}},
        {"prompt": "q1", "contestant": "heron", "text": None},
        {"prompt": "q1", "contestant": "heron", "turns": ["hello", None]},
    ],
)
def test_an_answer_that_is_null_is_a_reply_that_failed(tmp_path: Path, row: dict[str, Any]) -> None:
    prompts = [write_lines(tmp_path, "prompts.jsonl", QUESTION)] if "instruction" not in row else []
    report = import_files("birds", [*prompts, write_lines(tmp_path, "answers.jsonl", row)])
    assert (report.ok, report.counts["completions"].failed) == (True, 1)
    assert answer_of("heron").turns == []
