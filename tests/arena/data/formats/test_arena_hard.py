from pathlib import Path
from typing import Any

import pytest

from arena.data.formats.records import ComparisonRecord, CompletionRecord, PromptRecord, RaterRecord
from tests.arena.data.formats.reading import problems, read, write_lines
from tests.arena.data.formats.test_messages import only, talk

QUESTION = {"uid": "u1", "category": "hard_prompt", "subcategory": "coding", "prompt": "Name a river."}
ANSWER: dict[str, Any] = {
    "uid": "u1",
    "ans_id": "a1",
    "model": "heron",
    "messages": [
        {"role": "user", "content": "Name a river."},
        {"role": "assistant", "content": {"answer": "The Rhine."}},
    ],
    "tstamp": 1.0,
    "metadata": {"token_len": 3},
}
JUDGMENT: dict[str, Any] = {
    "uid": "u1",
    "category": "hard_prompt",
    "judge": "jay-1",
    "model": "heron",
    "baseline": "stork",
    "games": [
        {"score": "A>B", "judgment": {"answer": "My final verdict is [[A>B]]"}, "prompt": talk("Compare.")},
        {"score": "B>>A", "judgment": {"answer": "[[B>>A]]"}, "prompt": talk("Compare.")},
    ],
}


def test_a_question_and_an_answer(tmp_path: Path) -> None:
    (prompt,) = read(write_lines(tmp_path, "question.jsonl", QUESTION))
    assert isinstance(prompt, PromptRecord)
    assert (prompt.id, prompt.turns, prompt.category, prompt.domain) == (
        *("u1", ("Name a river.",)),
        *("hard_prompt", "coding"),
    )
    thought = {"role": "assistant", "content": {"thought": "Hm.", "answer": "The Rhine."}}
    plain = {"role": "assistant", "content": "The Rhine."}
    rows = [{**ANSWER, "messages": [*talk("Name a river."), last]} for last in (thought, plain)]
    answers = read(write_lines(tmp_path, "heron.jsonl", ANSWER, *rows))
    assert [(each.contestant, each.turns) for each in only(answers, CompletionRecord)] == [
        ("heron", ("The Rhine.",))
    ] * 3
    assert [each.extra.get("thinking") for each in answers if isinstance(each, CompletionRecord)] == [
        *(None, ["Hm."], None)
    ]


def test_the_baseline_is_shown_first_in_the_first_game(tmp_path: Path) -> None:
    items = read(write_lines(tmp_path, "heron.jsonl", JUDGMENT))
    assert [each.slug for each in only(items, RaterRecord)] == ["jay-1"]
    assert [
        (each.first, each.second, each.points, each.rating) for each in only(items, ComparisonRecord)
    ] == [
        ("stork", "heron", 5, 2),
        ("heron", "stork", 5, 5),
    ]


@pytest.mark.parametrize(
    ("changes", "baseline"),
    [
        ({"baseline": None}, "o3-mini-2025-01-31"),
        ({"baseline": None, "category": "creative_writing"}, "gemini-2.0-flash-001"),
        ({"baseline": None, "category": None, "uid": None, "question_id": "q1"}, "gpt-4-0314"),
    ],
)
def test_a_judgment_may_leave_out_its_baseline(
    tmp_path: Path, changes: dict[str, Any], baseline: str
) -> None:
    row = {name: value for name, value in {**JUDGMENT, **changes}.items() if value is not None}
    first, second = only(read(write_lines(tmp_path, "heron.jsonl", row)), ComparisonRecord)
    assert (first.first, second.second) == (baseline, baseline)


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        ({"score": None, "judgment": "Both are fine."}, "unparsable"),
        ({"score": None, "judgment": {"answer": ""}}, "empty"),
        (None, "empty"),
    ],
)
def test_a_game_without_a_label_is_not_rated(tmp_path: Path, game: Any, reason: str) -> None:
    row = {**JUDGMENT, "games": [game, JUDGMENT["games"][1]]}
    first, second = only(read(write_lines(tmp_path, "heron.jsonl", row)), ComparisonRecord)
    assert (first.rating, first.reason, second.rating) == (None, reason, 5)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"games": [{"score": "A is better"}]}, "games[1].score"),
        ({"games": []}, "games"),
        ({"model": "stork"}, "model"),
        ({"judge": ""}, "judge"),
    ],
)
def test_what_is_wrong(tmp_path: Path, changes: dict[str, Any], field: str) -> None:
    path = write_lines(tmp_path, "heron.jsonl", JUDGMENT, {**JUDGMENT, **changes})
    assert [(line, name) for line, name, _ in problems(path)] == [(2, field)]


def test_the_first_version_writes_turns_as_objects(tmp_path: Path) -> None:
    question = {"question_id": "q1", "category": "arena-hard-v0.1", "turns": [{"content": "Name a river."}]}
    choices = [{"index": 0, "turns": [{"content": "The Rhine.", "token_len": 3}]}]
    answer = {"question_id": "q1", "answer_id": "a1", "model_id": "heron", "choices": choices, "tstamp": 1.0}
    (prompt,) = read(write_lines(tmp_path, "question.jsonl", question))
    (completion,) = read(write_lines(tmp_path, "heron.jsonl", answer))
    assert isinstance(prompt, PromptRecord)
    assert isinstance(completion, CompletionRecord)
    assert (prompt.turns, completion.turns) == (("Name a river.",), ("The Rhine.",))
