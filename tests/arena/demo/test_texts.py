"""The texts of the demo study are complete, varied and tell nobody who wrote them."""

import json
import re
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from arena.data.formats.records import AnswerRecord, ScoreRecord
from arena.demo import texts, votes
from arena.demo.load import CLOSED, OPEN


def read(name: str, folder: Path = OPEN) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


PROMPTS = read("prompts.jsonl")
CONTESTANTS = read("contestants.jsonl")
COMPLETIONS = read("completions.jsonl")
DESCRIPTION = (CLOSED / "description.md").read_text(encoding="utf-8")


def text(row: dict[str, Any]) -> str:
    return "\n\n".join(row["turns"]) if "turns" in row else row["text"]


def test_six_categories_have_six_prompts_each_answered_once_by_every_contestant() -> None:
    assert Counter(prompt["category"] for prompt in PROMPTS) == dict.fromkeys(votes.AGREEMENT, 6)
    assert len({prompt["id"] for prompt in PROMPTS}) == 36
    assert {contestant["name"] for contestant in CONTESTANTS} == set(votes.STRENGTHS)
    assert Counter(contestant["kind"] for contestant in CONTESTANTS) == {"model": 4, "people": 1}
    wanted = {(prompt["id"], contestant["name"]) for prompt in PROMPTS for contestant in CONTESTANTS}
    answered = Counter((completion["prompt"], completion["contestant"]) for completion in COMPLETIONS)
    assert answered == dict.fromkeys(wanted, 1)


@pytest.mark.parametrize("folder", [OPEN, CLOSED])
def test_no_text_names_a_contestant(folder: Path) -> None:
    contestants = read("contestants.jsonl", folder)
    words = {contestant[name] for contestant in contestants for name in ("family", "name")} - {""}
    for row in read("prompts.jsonl", folder) + read("completions.jsonl", folder):
        shown = f"{row.get('instruction', '')} {row.get('input', '')} {text(row) if 'prompt' in row else ''}"
        assert [word for word in words if word.lower() in shown.lower()] == [], shown


def test_prompts_have_turns_material_and_references() -> None:
    turns = {prompt["id"]: len(prompt.get("turns", ["one"])) for prompt in PROMPTS}
    assert max(turns.values()) == 2
    for completion in COMPLETIONS:
        assert len(completion.get("turns", ["one"])) == turns[completion["prompt"]]
    assert all(bool(prompt["input"]) == (prompt["category"] == "summarisation") for prompt in PROMPTS)
    references = [reference for prompt in PROMPTS for reference in prompt.get("references", [])]
    assert len(references) >= 3
    assert all(reference["author"] and reference["text"] for reference in references)


def test_the_forms_a_rater_may_meet_are_there() -> None:
    written = [text(completion) for completion in COMPLETIONS]
    forms = {
        "table": r"^\|---",
        "numbered list": r"^1\. ",
        "bullets": r"^- ",
        "heading": r"^#+ ",
        "code": r"^```\w+$",
        "mathematics": r"\$\$",
        "Arabic": r"[\u0600-\u06ff]",
        "Hebrew": r"[\u0590-\u05ff]",
    }
    for form, pattern in forms.items():
        assert any(re.search(pattern, each, re.MULTILINE) for each in written), form
    assert sum(not each for each in written) == 1
    assert max(len(each.split()) for each in written) > 700


def test_quality_is_not_a_matter_of_length() -> None:
    words = dict.fromkeys(votes.STRENGTHS, 0)
    for completion in COMPLETIONS:
        words[completion["contestant"]] += len(text(completion).split())
    assert words["Dunnock 7B"] > words["Lapwing 34B"] > words["Human demonstrations"]


def test_simulated_checks_are_wrong_and_undecided_as_often_as_the_study_says() -> None:
    right = [texts.Text("p", "Heron", 1000, range(1, 11), [1, 2, 3, 4])] * 600
    answers = [one for one in texts.simulate_texts(right) if isinstance(one, AnswerRecord)]
    for kind, wrong in (("person", 0.05), ("judge", 0.12)):
        said = [one for one in answers if one.rater_kind == kind and one.answer]
        known = [one for one in said if one.answer != "unknown"]
        share = sum((one.answer == "yes") != (one.question <= 4) for one in known) / len(known)
        assert share == pytest.approx(wrong, abs=0.015)
        assert 1 - len(known) / len(said) == pytest.approx(0.03, abs=0.01)
    by_judge = [one for one in answers if one.rater_kind == "judge"]
    assert sum(one.reason == "empty" for one in by_judge) / len(by_judge) == pytest.approx(0.02, abs=0.01)
    assert f"people are wrong in {texts.WRONG_SHARE[False]:.0%}" in DESCRIPTION
    assert f"the judge in {texts.WRONG_SHARE[True]:.0%}" in DESCRIPTION
    assert f"In {texts.UNKNOWN_SHARE:.0%} a rater cannot tell" in DESCRIPTION


def test_simulated_scores_follow_the_quality_and_the_same_texts_get_the_same_scores() -> None:
    asked = [texts.Text("p", name, quality, (), ()) for name, quality in (("Low", 800), ("High", 1200))] * 200
    scores = [one for one in texts.simulate_texts(asked) if isinstance(one, ScoreRecord)]
    assert scores == list(texts.simulate_texts(asked))
    mean = {
        name: fmean(one.score for one in scores if one.contestant == name and one.score is not None)
        for name in ("Low", "High")
    }
    # 400 points of quality in steps of 90, a little less at the ends of the scale.
    assert mean["High"] - mean["Low"] == pytest.approx(400 / 90, abs=0.4)
    assert all(one.score is None or 1 <= one.score <= 10 for one in scores)


def test_answers_of_the_closed_demo_meet_requirements_that_their_prompts_have() -> None:
    asked = Counter(row["prompt"] for row in read("questions.jsonl", CLOSED))
    for row in read("completions.jsonl", CLOSED):
        assert set(row["extra"]["met"]) <= set(range(1, asked[row["prompt"]] + 1)), row["prompt"]
    assert set(asked) == {row["id"] for row in read("prompts.jsonl", CLOSED)}
