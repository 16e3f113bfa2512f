"""From files to tables and back: what is stored is what the files say."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from arena.data import export
from arena.data.importing.imports import import_files
from arena.models import Comparison, Completion, Pair, Study
from tests.arena.data.formats.reading import write_lines

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

PROMPTS: list[dict[str, Any]] = [
    {"id": "p1", "subset": "a", "category": "x", "domain": "d", "turns": ["Um?", "Größer ☂"], "input": "in"},
    {"id": "p1", "subset": "b", "instruction": "Same id, other subset.", "source": {"page": 1}},
]
PROMPTS[0]["references"] = [{"author": "Ann", "turns": ["r"]}, {"author": "Bob", "turns": ["s", "t"]}]
CONTESTANTS = [
    {"name": "Lapwing 34B", "slug": "lap", "kind": "model", "family": "Lapwing", "generation": {"t": 0.5}},
    {"name": "People", "kind": "people", "organisation": "Ours", "licence": "CC0", "size": ""},
]
CONTESTANTS[0]["benchmarks"] = {"MMLU": 69.8, "Chess": -12}
COMPLETIONS = [
    {"prompt": prompt["id"], "subset": prompt["subset"], "contestant": contestant["name"], "text": text}
    for prompt, text in zip(PROMPTS, ["One\n\ntwo", ""], strict=True)
    for contestant in CONTESTANTS
]
COMPARISONS = [
    {"prompt": "p1", "subset": "a", "first": "People", "second": "Lapwing 34B", "rating": 7, "points": 8},
    {"prompt": "p1", "subset": "b", "first": "Lapwing 34B", "second": "People", "rating": 2, "points": 3},
    {"prompt": "p1", "subset": "b", "first": "Lapwing 34B", "second": "People", "points": 8},
]
COMPARISONS[0] |= {"created_at": "2026-01-02T03:04:05+00:00"}
COMPARISONS[0] |= {"rater": "ann", "rater_kind": "person", "id": "v1", "seconds": 2.5, "rationale": "clearer"}
COMPARISONS[1] |= {
    "rater": "ann",
    "rater_kind": "person",
    "criteria": {"accuracy": 3, "tone": "empty"},
    "batch": "b",
}
COMPARISONS[2] |= {"rater": "j", "rater_kind": "judge", "reason": "unparsable", "raw_reply": "Both!"}
QUESTIONS = [
    {
        "prompt": "p1",
        "subset": "a",
        "position": 1,
        "text": "Größer ☂?",
        "labels": ["Style"],
        "required": True,
    },
    {"prompt": "p1", "subset": "a", "position": 2, "text": "Short?", "required": False, "proposed_by": "m"},
]
_PEOPLE = {"prompt": "p1", "subset": "a", "contestant": "People"}
SCORES = [
    {**_PEOPLE, "rater": "ann", "rater_kind": "person", "turn": 1, "lowest": -1.5, "highest": 10.0},
    {**_PEOPLE, "rater": "j", "rater_kind": "judge", "turn": 0, "lowest": 1.0, "highest": 5.0},
]
SCORES[0] |= {"score": 0.1, "seconds": 2.5, "rationale": "good", "id": "s1", "batch": "b"}
SCORES[1] |= {"reason": "refused", "raw_reply": "I cannot."}
ANSWERS = [
    {**_PEOPLE, "question": 1, "rater": "ann", "rater_kind": "person", "answer": "unknown"},
    {**_PEOPLE, "question": 2, "rater": "j", "rater_kind": "judge", "reason": "unparsable"},
]
ANSWERS[0] |= {"created_at": "2026-01-02T03:04:05+00:00"}
ANSWERS[1] |= {"raw_reply": "Maybe!"}
FEATURES = [
    {**_PEOPLE, "turn": 1, "name": "entropy", "variant": "paper", "value": 0.1 + 0.2, "source": "vllm"},
    {**_PEOPLE, "turn": 0, "name": "entropy_low.full", "variant": "bounds", "value": 0.0},
]
GIVEN = {
    "comparisons": COMPARISONS,
    "questions": QUESTIONS,
    "scores": SCORES,
    "answers": ANSWERS,
    "features": FEATURES,
}


def files(folder: Path, rows: dict[str, list[dict[str, Any]]]) -> Path:
    folder.mkdir()
    for name, lines in rows.items():
        write_lines(folder, f"{name}.jsonl", *lines)
    return folder


def stored(study: Study) -> dict[str, list[dict[str, Any]]]:
    """A study's rows as our files would hold them; fields in which nothing stands are left out."""
    return {
        what: [said({**row, **(row.get("extra") or {})}) for row in export.rows(study, what)]
        for what in ("prompts", "contestants", "completions", *GIVEN)
    }


def said(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
        if name not in ("extra", "repeat") and value not in (None, {}, [])
    }


def test_round_trip(tmp_path: Path) -> None:
    rows = {"prompts": PROMPTS, "contestants": CONTESTANTS, "completions": COMPLETIONS}
    report = import_files("one", [files(tmp_path / "one", {**rows, **GIVEN})])
    assert [str(problem) for problem in report.errors] == []
    first = stored(Study.objects.get(slug="one"))
    assert import_files("two", [files(tmp_path / "two", first)]).applied
    assert stored(Study.objects.get(slug="two")) == first
    assert first["prompts"][0] == PROMPTS[0]
    assert {name: first[name] for name in GIVEN} == GIVEN


def test_csv_and_jsonl_say_the_same(tmp_path: Path) -> None:
    rows = {"prompts": [{"id": "p1", "instruction": "Say, hello."}]}
    completions = [{"prompt": "p1", "contestant": name, "text": f'"{name}"\nsays'} for name in "AB"]
    vote = {"prompt": "p1", "first": "B", "second": "A", "rater": "ann", "rating": 3, "points": 8}
    as_jsonl = files(tmp_path / "jsonl", {**rows, "completions": completions, "votes": [vote]})
    as_csv = files(tmp_path / "csv", {})
    write_lines(as_csv, "p.csv", "id,instruction", 'p1,"Say, hello."')
    write_lines(as_csv, "c.csv", "prompt,contestant,text", 'p1,A,"""A""\nsays"', 'p1,B,"""B""\nsays"')
    write_lines(as_csv, "v.csv", ",".join(vote), ",".join(str(value) for value in vote.values()))
    import_files("jsonl", [as_jsonl])
    import_files("csv", [as_csv])
    one, two = (stored(Study.objects.get(slug=slug)) for slug in ("jsonl", "csv"))
    assert json.dumps(one) == json.dumps(two)


def test_battles_without_texts(tmp_path: Path) -> None:
    header = "question_id,model_a,model_b,winner,judge,tstamp"
    path = write_lines(
        tmp_path, "battles.csv", header, "q1,A,B,model_b,u1,1", "q1,B,A,tie,u2,2", "q2,A,C,tie (bothbad),u1,3"
    )
    report = import_files("battles", [path])
    assert report.applied
    study = Study.objects.get()
    assert (study.points, study.prompts.count(), study.contestants.count()) == (3, 2, 3)
    assert list(Comparison.objects.values_list("rating", "points")) == [(3, 3), (2, 3), (2, 3)]
    assert (Pair.objects.count(), report.missing.count) == (2, 0)
    assert not Completion.objects.rateable().exists()
    assert not Completion.objects.filter(is_empty=True).exists()
    assert import_files("battles", [path]).written == 0
