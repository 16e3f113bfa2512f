import csv
import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from arena.data.formats.messages import MAX_PYTHON
from arena.data.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    ContestantRecord,
    Item,
    PromptRecord,
)
from arena.data.formats.verdicts import unknown
from tests.arena.data.formats.reading import problems, read, write_lines


def talk(*texts: Any) -> list[dict[str, Any]]:
    """A conversation: the user begins."""
    return [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]


BATTLE: dict[str, Any] = {
    "question_id": "q1",
    "model_a": "lark",
    "model_b": "wren",
    "winner": "model_a",
    "conversation_a": talk("Hi.", "Hello.", "Bye.", "So long."),
    "conversation_b": talk("Hi.", "Hey.", "Bye.", "Ciao."),
}
PREFERENCE: dict[str, Any] = {
    "id": "30192",
    "model_a": "lark",
    "model_b": "wren",
    "prompt": '["Hi.", "Bye."]',
    "response_a": '["Hello.", "So long."]',
    "response_b": '["Hey.", null]',
    "winner_model_a": 0,
    "winner_model_b": 1,
    "winner_tie": 0,
}


def write_table(folder: Path, *rows: dict[str, Any]) -> Path:
    """The rows as CSV, each value as str() writes it."""
    path = folder / "battles.csv"
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def texts(items: Sequence[Item]) -> dict[str | None, tuple[str, ...]]:
    """The turns of the prompt (under None) and of each contestant."""
    found: dict[str | None, tuple[str, ...]] = {}
    for item in items:
        if isinstance(item, PromptRecord):
            found[None] = item.turns
        elif isinstance(item, CompletionRecord):
            found[item.contestant] = item.turns
    return found


VOTE = {"model_a": "lark", "model_b": "wren", "winner": "model_a"}


@pytest.mark.parametrize(
    ("beside", "option"),
    [
        ({"rater": "Ann"}, "--map rater=rater"),
        ({"annotator": "Ann"}, "--map rater=annotator"),
        ({"question_id": "q1", "Your name": "Ann"}, "--map 'rater=Your name'"),
        ({"prompt": "Name a river."}, "--map instruction=prompt"),
        ({"question": "Name a river.", "judge": "Ann"}, "--map instruction=question"),
        ({"prompt_id": "p1"}, "--map prompt=prompt_id"),
        (
            {"prompt": "Name a river.", "answer_a": "The Rhine runs.", "answer_b": "The Rhone."},
            "--map first_text=answer_a --map second_text=answer_b",
        ),
        (
            {"prompt": "Name a river.", "response_a": "The Rhine runs.", "response_b": "The Rhone."},
            "--map first_text=response_a --map second_text=response_b",
        ),
    ],
)
def test_raters_prompts_and_answers_in_other_columns_are_never_dropped(
    tmp_path: Path, beside: dict[str, str], option: str
) -> None:
    ((_, _, reason),) = problems(write_table(tmp_path, {**VOTE, **beside}))
    assert "Try --format table --kind comparisons --map first=model_a --map second=model_b" in reason
    assert option in reason


@pytest.mark.parametrize(
    "beside",
    [{}, {"judge": "Ann"}, {"question_id": "q1", "judge_hash": "9"}, {"language": "en", "turn": 1, "id": 3}],
)
def test_other_columns_of_battles_leave_them_battles(tmp_path: Path, beside: dict[str, Any]) -> None:
    items = read(write_table(tmp_path, {**VOTE, **beside}))
    assert sum(isinstance(item, ComparisonRecord) for item in items) == 1


def test_each_thing_is_named_once(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path,
        "battles.csv",
        "question_id,model_a,model_b,winner,judge,turn,language,tstamp",
        "q1,A,B,model_a,user_1,1,English,1700000000.5",
        "q1,B,A,tie (bothbad),user_2,1,English,1700000001",
    )
    items = read(path)
    answers = [ContestantRecord, CompletionRecord] * 2
    assert [type(item) for item in items] == [PromptRecord, *answers, *[ComparisonRecord] * 2]
    assert all(item.implied and item.turns == () for item in items if isinstance(item, CompletionRecord))
    first, second = items[-2:]
    assert (first.first, first.second, first.rating, first.points) == ("A", "B", 1, 3)
    assert (first.prompt, first.rater, first.rater_kind) == ("q1", "user_1", "")
    assert first.created_at == datetime(2023, 11, 14, 22, 13, 20, 500000, tzinfo=UTC)
    assert first.extra == {"turn": "1", "language": "English"}
    assert (second.rating, second.extra["winner"]) == (2, "tie (bothbad)")


@pytest.mark.parametrize(("winner", "rating"), [("model_a", 1), ("tie", 2), ("model_b", 3)])
def test_winners_without_question_or_judge(tmp_path: Path, winner: str, rating: int) -> None:
    row = {"model_a": "A", "model_b": "B", "winner": winner}
    record = read(write_lines(tmp_path, "battles.jsonl", row))[-1]
    assert (record.prompt, record.rater, record.rating) == ("battles", "anonymous", rating)


def test_an_unknown_winner_is_never_a_tie(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path, "battles.csv", "model_a,model_b,winner", "A,B,model_a", "A,B,Model C", "A,A,tie"
    )
    assert problems(path) == [
        (3, "winner", unknown("Model C")),
        (4, "model_b", 'the same model as model_a ("A")'),
    ]


TALKED = {None: ("Hi.", "Bye."), "lark": ("Hello.", "So long."), "wren": ("Hey.", "Ciao.")}


def test_conversations_and_the_parts_of_a_turn(tmp_path: Path) -> None:
    kept = {"category": "greeting", "language": "English", "full_conversation": []}
    items = read(write_lines(tmp_path, "battles.jsonl", {**BATTLE, **kept}))
    assert texts(items) == TALKED
    comparison = items[-1]
    assert (comparison.prompt, comparison.first, comparison.rating) == ("q1", "lark", 1)
    assert comparison.extra == {"category": "greeting", "language": "English"}
    # A turn may have parts.
    parts = [{"type": "text", "text": "Hello.", "image": None}, {"type": "text", "text": "There."}]
    row = {**BATTLE, "conversation_a": talk("Hi.", parts), "conversation_b": talk("Hi.", None)}
    expected = {None: ("Hi.",), "lark": ("Hello.\n\nThere.",), "wren": ("",)}
    assert texts(read(write_lines(tmp_path, "battles.jsonl", row))) == expected


@pytest.mark.parametrize("written", [json.dumps, str])
def test_conversations_in_cells(tmp_path: Path, written: Any) -> None:
    cells = {name: written(BATTLE[name]) for name in ("conversation_a", "conversation_b")}
    assert texts(read(write_table(tmp_path, {**BATTLE, **cells}))) == TALKED


def test_conversations_in_parquet(tmp_path: Path) -> None:
    path = tmp_path / "battles.parquet"
    parquet.write_table(pyarrow.Table.from_pylist([{**BATTLE, "turn": 2}]), path)
    items = read(path)
    assert texts(items) == TALKED
    assert items[-1].extra == {"turn": 2}


@pytest.mark.parametrize("in_table", [True, False])
def test_prompt_and_responses_with_winner_columns(tmp_path: Path, in_table: bool) -> None:
    path = write_table(tmp_path, PREFERENCE) if in_table else write_lines(tmp_path, "b.jsonl", PREFERENCE)
    items = read(path)
    assert texts(items) == {None: ("Hi.", "Bye."), "lark": ("Hello.", "So long."), "wren": ("Hey.", "")}
    assert (items[-1].prompt, items[-1].rating, dict(items[-1].extra)) == ("30192", 3, {})


def test_a_battle_without_an_id_is_known_by_its_question_and_its_judge_may_be_a_hash(tmp_path: Path) -> None:
    row = {name: value for name, value in BATTLE.items() if name != "question_id"} | {"judge_hash": "ab12"}
    comparison = read(write_lines(tmp_path, "battles.jsonl", row))[-1]
    assert comparison.prompt == hashlib.sha256(b"Hi.\n\nBye.").hexdigest()[:12]
    assert comparison.rater == "ab12"


def test_the_same_text_again_is_the_same_completion_and_may_come_later(tmp_path: Path) -> None:
    plain = {name: BATTLE[name] for name in ("question_id", "model_a", "model_b", "winner")}
    items = read(write_lines(tmp_path, "battles.jsonl", BATTLE, BATTLE, plain))
    assert [type(item) for item in items].count(CompletionRecord) == 2
    assert [type(item) for item in items].count(ComparisonRecord) == 3
    items = read(write_lines(tmp_path, "later.jsonl", plain, BATTLE))
    assert [item.turns for item in items if isinstance(item, PromptRecord)] == [(), ("Hi.", "Bye.")]
    assert texts(items) == TALKED


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"conversation_a": talk("Hi.", "Other."), "conversation_b": talk("Hi.", "Hey.")},
            'another text for prompt "q1" than in line 1',
        ),
        (
            {"conversation_a": talk("Hi.", "Other.", "Bye.", "So long.")},
            'another text for the answer of "lark" to prompt "q1" than in line 1',
        ),
    ],
)
def test_another_text_is_an_error(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    path = write_lines(tmp_path, "battles.jsonl", BATTLE, {**BATTLE, **changes})
    assert (2, "", reason) in problems(path)


TURNS = "expected a list of turns with role and content"
NOT_TEXT = "expected a text; images and other things cannot be imported"
ONE = "exactly one of winner_model_a, winner_tie, winner_model_b must be 1"
MALFORMED: list[tuple[dict[str, Any], dict[str, Any], str, str]] = [
    (BATTLE, {"conversation_a": []}, "conversation_a", TURNS),
    (BATTLE, {"conversation_b": None}, "conversation_b", TURNS),
    (BATTLE, {"conversation_b": {"role": "user"}}, "conversation_b", TURNS),
    (BATTLE, {"conversation_a": "Hi. Hello."}, "conversation_a", TURNS),
    (BATTLE, {"conversation_a": "[" * 100_000}, "conversation_a", TURNS),
    (BATTLE, {"conversation_a": "-" * 500_000 + "1"}, "conversation_a", TURNS),
    (BATTLE, {"conversation_a": f"['{'x' * MAX_PYTHON}']"}, "conversation_a", TURNS),
    (BATTLE, {"conversation_a": '[{"role": "user", "content": "\\ud800"}]'}, "conversation_a", "surrogate"),
    (BATTLE, {"conversation_a": ["Hi."]}, "conversation_a", "the roles are not user and assistant in turn"),
    (
        BATTLE,
        {"conversation_a": talk("Hi.")},
        "conversation_a",
        "the roles are not user and assistant in turn",
    ),
    (
        BATTLE,
        {"conversation_a": [{"role": "system", "content": "Be kind."}, *BATTLE["conversation_a"]]},
        "conversation_b",
        "the system message is not as in conversation_a",
    ),
    (
        BATTLE,
        {"conversation_a": [*talk("Hi.", "Hello."), {"role": "system", "content": "Be kind."}]},
        "conversation_a",
        "the roles are not user and assistant in turn",
    ),
    (BATTLE, {"conversation_a": talk("Hi.", 7)}, "conversation_a[2]", NOT_TEXT),
    (BATTLE, {"conversation_a": talk("Hi.", ["x"])}, "conversation_a[2]", NOT_TEXT),
    (BATTLE, {"conversation_b": talk([{"type": "image"}], "x")}, "conversation_b[1]", NOT_TEXT),
    (
        BATTLE,
        {"conversation_b": talk("Hi!", "Hello.")},
        "conversation_b",
        "the user's turns are not as in conversation_a",
    ),
    (BATTLE, {"winner": None}, "winner", "missing"),
    (BATTLE, {"model_a": ""}, "model_a", "missing"),
    (BATTLE, {"tstamp": "soon"}, "tstamp", "'soon' is neither an ISO 8601 time nor seconds since 1970"),
    (BATTLE, {"rater_kind": "robot"}, "rater_kind", '"robot" is not one of person, judge'),
    (PREFERENCE, {"winner_tie": 1}, "winner_model_a", ONE),
    (PREFERENCE, {"winner_model_b": 0}, "winner_model_a", ONE),
    (PREFERENCE, {"winner_model_b": 2}, "winner_model_b", "2 is not between 0 and 1"),
    (PREFERENCE, {"prompt": "Hi."}, "prompt", "expected a list of texts"),
    (PREFERENCE, {"response_a": None}, "response_a", "expected a list of texts"),
    (PREFERENCE, {"response_b": "[1, 2]"}, "response_b", "expected a list of texts"),
    (PREFERENCE, {"response_b": '["Hey."]'}, "response_b", "1 responses to 2 turns of the prompt"),
]


@pytest.mark.parametrize(("good", "changes", "field", "reason"), MALFORMED)
def test_what_is_wrong(
    tmp_path: Path, good: dict[str, Any], changes: dict[str, Any], field: str, reason: str
) -> None:
    (found,) = problems(write_lines(tmp_path, "battles.jsonl", good, {**good, **changes}))
    assert found[:2] == (2, field)
    assert reason in found[2]


@pytest.mark.parametrize("more", [{}, {"prompt": "p12", "prompt_id": "q1"}])
def test_games_for_evalica_are_battles(tmp_path: Path, more: dict[str, str]) -> None:
    rows = [
        {"left": "lark", "right": "wren", "winner": winner, **more} for winner in ("left", "tie", "right")
    ]
    found = [
        item
        for item in read(write_lines(tmp_path, "games.jsonl", *rows))
        if isinstance(item, ComparisonRecord)
    ]
    assert [(each.first, each.second, each.rating) for each in found] == [
        ("lark", "wren", rating) for rating in (1, 2, 3)
    ]
    assert {each.prompt for each in found} == {more.get("prompt_id", "battles")}
