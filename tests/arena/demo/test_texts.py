"""The texts of the demo study are complete, varied and tell nobody who wrote them."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from arena.demo.load import CLOSED, OPEN


def read(name: str, folder: Path = OPEN) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


PROMPTS = read("prompts.jsonl")
COMPLETIONS = read("completions.jsonl")
NAMES = ("Lapwing 34B", "Human demonstrations", "Redshank 13B", "Dunnock 7B", "Turnstone 3B")


def text(row: dict[str, Any]) -> str:
    return "\n\n".join(row["turns"]) if "turns" in row else row["text"]


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
    words = dict.fromkeys(NAMES, 0)
    for completion in COMPLETIONS:
        words[completion["contestant"]] += len(text(completion).split())
    assert words["Dunnock 7B"] > words["Lapwing 34B"] > words["Human demonstrations"]


def test_answers_of_the_closed_demo_meet_requirements_that_their_prompts_have() -> None:
    asked = Counter(row["prompt"] for row in read("questions.jsonl", CLOSED))
    for row in read("completions.jsonl", CLOSED):
        assert set(row["extra"]["met"]) <= set(range(1, asked[row["prompt"]] + 1)), row["prompt"]
    assert set(asked) == {row["id"] for row in read("prompts.jsonl", CLOSED)}
