from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from arena.data.formats.catalogue import gather
from arena.data.formats.reading import Kind
from arena.data.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    ContestantRecord,
    Note,
    PromptRecord,
    ReferenceRecord,
    ScoreRecord,
)
from tests.arena.data.formats.reading import problems, read, write_lines

QUESTION = {"question_id": 81, "category": "writing", "turns": ["Write a post.", "Rewrite it."]}
ANSWER = {"question_id": 81, "answer_id": "a1", "model_id": "lark-7b:v1", "text": "A post."}
CHOICES: dict[str, Any] = {
    "question_id": 81,
    "answer_id": "a2",
    "model_id": "wren-13b",
    "choices": [{"index": 0, "turns": ["A post.", "Another."]}],
    "tstamp": 1686286924.8,
}
REVIEW: dict[str, Any] = {
    "review_id": "r1",
    "question_id": 81,
    "answer1_id": "a1",
    "answer2_id": "a2",
    "text": "9 8.5\nBoth are good.",
    "score": [9.0, 8.5],
}
JUDGMENT: dict[str, Any] = {
    "question_id": 81,
    "model_1": "lark-7b",
    "model_2": "wren-13b",
    "g1_winner": "model_1",
    "g2_winner": "tie",
    "judge": ["gpt-4", "pair-v2"],
    "g1_user_prompt": "Which?",
    "g1_judgment": "[[A]]",
    "g2_user_prompt": "Which one?",
    "g2_judgment": "[[C]]",
    "turn": 1,
    "tstamp": 1700000000,
}


def reviewed(folder: Path, **changes: Any) -> ComparisonRecord:
    (record,) = read(write_lines(folder, "review.jsonl", {**REVIEW, **changes}))
    assert isinstance(record, ComparisonRecord)
    return record


def judged(folder: Path, **changes: Any) -> list[ComparisonRecord]:
    records = read(write_lines(folder, "gpt-4_pair.jsonl", {**JUDGMENT, **changes}))
    return [record for record in records if isinstance(record, ComparisonRecord)]


def test_questions(tmp_path: Path) -> None:
    rows = [
        {**QUESTION, "reference": ["A fine post.", ""]},
        {"question_id": "x", "text": "Old?", "category": "c"},
    ]
    first, second = read(write_lines(tmp_path, "question.jsonl", *rows))
    assert (first.id, first.turns, first.category) == ("81", ("Write a post.", "Rewrite it."), "writing")
    assert first.references == (ReferenceRecord("reference", ("A fine post.", "")),)
    assert (second.id, second.turns, second.references) == ("x", ("Old?",), ())


def test_versions_of_a_model_are_contestants_of_their_own(tmp_path: Path) -> None:
    row = {"model_name": "lark", "model_metadata": "m"}
    rows = [{**row, "model_id": f"lark:{version}", "model_version": version} for version in ("v1", "v2")]
    records = read(write_lines(tmp_path, "model.jsonl", *rows))
    assert [(r.name, r.family) for r in records] == [("lark:v1", "lark"), ("lark:v2", "lark")]


def test_answers_keep_their_turns_of_the_first_choice(tmp_path: Path) -> None:
    old, new = read(write_lines(tmp_path, "answer.jsonl", ANSWER, CHOICES))
    assert (old.prompt, old.contestant, old.id, old.turns) == ("81", "lark-7b:v1", "a1", ("A post.",))
    assert (new.contestant, new.turns) == ("wren-13b", ("A post.", "Another."))
    assert new.extra == {"tstamp": 1686286924.8}
    choices = [{"index": 1, "turns": ["Second."]}, {"index": 0, "turns": ["First."]}]
    completion, note = read(write_lines(tmp_path, "answer.jsonl", {**CHOICES, "choices": choices}))
    assert completion.turns == ("First.",)
    assert isinstance(note, Note)
    assert str(note).endswith("line 1: 1 answer(s) with several choices; the first of each is imported")


@pytest.mark.parametrize("name", ["reference_answer/gpt-4.jsonl", "mt_bench_reference_gpt-4.jsonl"])
def test_reference_answers_go_to_the_question(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (prompt,) = read(write_lines(tmp_path, name, CHOICES))
    assert (prompt.id, prompt.turns, prompt.implied) == ("81", (), True)
    assert prompt.references == (ReferenceRecord("wren-13b", ("A post.", "Another.")),)
    # A folder of another name tells nothing.
    (tmp_path / "references").mkdir()
    (completion,) = read(write_lines(tmp_path, "references/answer.jsonl", CHOICES))
    assert isinstance(completion, CompletionRecord)


def test_a_review_names_answers(tmp_path: Path) -> None:
    record = reviewed(tmp_path, reviewer_id=1, metadata={})
    assert (record.prompt, record.first, record.second) == ("81", "", "")
    assert (record.first_id, record.second_id, record.id) == ("a1", "a2", "r1")
    assert (record.rater, record.rater_kind, record.points) == ("gpt-4", "judge", 3)
    assert (record.rating, record.scores) == (1, (Decimal("9.0"), Decimal("8.5")))
    assert record.raw_reply == "9 8.5\nBoth are good."
    assert record.extra == {"reviewer_id": 1, "metadata": {}}


@pytest.mark.parametrize(
    ("score", "rating"), [([8, 8.0], 2), ([0.0, 9.0], 3), ([0, 0], 2), ([7.5, 7], 1), ([7, 7.5], 3)]
)
def test_the_higher_score_wins(tmp_path: Path, score: list[float], rating: int) -> None:
    assert reviewed(tmp_path, score=score).rating == rating


def test_a_reply_that_fastchat_could_not_read_and_a_file_of_another_judge(tmp_path: Path) -> None:
    record = reviewed(tmp_path, score=[-1, -1], text="error")
    assert (record.rating, record.reason, record.scores) == (None, "unparsable", None)
    assert record.raw_reply == "error"
    (record,) = read(write_lines(tmp_path, "gpt-3.5-turbo_review_lark_wren.jsonl", REVIEW))
    assert record.rater == "gpt-3.5-turbo"


def test_a_judgment_is_two_games(tmp_path: Path) -> None:
    first, second = judged(tmp_path)
    assert (first.first, first.second, first.rating) == ("lark-7b", "wren-13b", 1)
    assert (second.first, second.second, second.rating) == ("wren-13b", "lark-7b", 2)
    assert (first.raw_reply, second.raw_reply) == ("[[A]]", "[[C]]")
    assert (first.rater, first.rater_kind, first.points) == ("gpt-4", "judge", 3)
    assert first.extra == {"judge_prompt": "pair-v2", "turn": 1, "user_prompt": "Which?"}
    assert first.created_at == second.created_at == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


@pytest.mark.parametrize(("winner", "ratings"), [("model_1", (1, 3)), ("model_2", (3, 1)), ("tie", (2, 2))])
def test_winners_are_mapped_to_the_order_shown(tmp_path: Path, winner: str, ratings: tuple[int, int]) -> None:
    first, second = judged(tmp_path, g1_winner=winner, g2_winner=winner)
    assert (first.rating, second.rating) == ratings


def test_a_judgment_of_the_second_turn_that_could_not_be_read(tmp_path: Path) -> None:
    first, second = judged(tmp_path, turn=2, g1_winner="error", g1_judgment="Hmm.")
    assert (first.rating, first.reason, first.raw_reply) == (None, "unparsable", "Hmm.")
    assert (second.rating, second.reason) == (2, "")
    assert first.rater == second.rater == "gpt-4-turn-2"


@pytest.mark.parametrize(
    "row",
    [
        {"reviewer_id": "gpt-4-0328-default", "prompt_id": 1, "metadata": {}, "category": "general"},
        {"prompt_id": 1, "system_prompt": "s", "prompt_template": "{question}", "defaults": {}},
        {"name": "pair-v2", "type": "pairwise", "system_prompt": "s", "prompt_template": "t"},
        {**JUDGMENT, "m1_score": 8, "m2_score": 8},
    ],
)
def test_what_is_left_out(tmp_path: Path, row: dict[str, Any]) -> None:
    path = write_lines(tmp_path, "file.jsonl", row)
    assert [source.kind for source in gather([path]).sources] == [Kind.NOTHING]
    (note,) = read(path)
    assert note.text == "left out, because it holds texts for judges, or winners that follow from scores"


GRADE: dict[str, Any] = {
    "question_id": 81,
    "model": "alder",
    "judge": ["gpt-4", "single-v1"],
    "user_prompt": "Rate it.",
    "judgment": "Rating: [[9]]",
    "score": 9,
    "turn": 1,
    "tstamp": 1687222975.5,
}


def test_grades_are_scores_of_a_turn_from_1_to_10(tmp_path: Path) -> None:
    rows = [GRADE, {**GRADE, "turn": 2, "score": -1}, {**GRADE, "model": "birch", "score": 11}]
    items = read(write_lines(tmp_path, "gpt-4_single.jsonl", *rows))
    assert [type(item).__name__ for item in items[:4]] == [
        *("PromptRecord", "CompletionRecord", "RaterRecord", "ScoreRecord")
    ]
    assert [item.turns for item in items if isinstance(item, PromptRecord | CompletionRecord)] == [()] * 3
    first, second, third = (item for item in items if isinstance(item, ScoreRecord))
    assert (first.prompt, first.contestant, first.rater, first.turn) == ("81", "alder", "gpt-4", 1)
    assert (first.score, first.lowest, first.highest) == (9, 1, 10)
    assert (first.raw_reply, first.extra["judge_prompt"]) == ("Rating: [[9]]", "single-v1")
    assert (second.turn, second.score, second.reason) == (2, None, "unparsable")
    assert (third.score, third.reason) == (None, "out_of_range")


MALFORMED: list[tuple[dict[str, Any], dict[str, Any], str, str]] = [
    (QUESTION, {"question_id": None}, "question_id", "missing"),
    (QUESTION, {"turns": "Hello"}, "turns", "expected a list of texts"),
    (QUESTION, {"turns": [{"text": "Hello"}]}, "turns", "expected a list of texts"),
    (QUESTION, {"category": 1.5}, "category", "expected a text, found a number"),
    (QUESTION, {"reference": "A post."}, "reference", "expected a list of texts"),
    (QUESTION, {"reference": [None]}, "reference", "expected a list of texts"),
    (ANSWER, {"question_id": ""}, "question_id", "missing"),
    (ANSWER, {"model_id": None}, "model_id", "missing"),
    (ANSWER, {"answer_id": []}, "answer_id", "expected a text, found a list"),
    (CHOICES, {"choices": []}, "choices", "expected a list of choices, found an empty list"),
    (CHOICES, {"choices": "x"}, "choices", "expected a list of choices, found a text"),
    (CHOICES, {"choices": [{"index": 0}]}, "choices[1].turns", "expected a list of texts"),
    (CHOICES, {"choices": [{"turns": [1]}]}, "choices[1].turns", "expected a list of texts"),
    (CHOICES, {"choices": [{"turns": []}]}, "choices[1].turns", "expected a list of texts"),
    (CHOICES, {"choices": ["x"]}, "choices[1].turns", "expected a list of texts"),
    (REVIEW, {"question_id": None}, "question_id", "missing"),
    (REVIEW, {"answer1_id": None}, "answer1_id", "missing"),
    (REVIEW, {"answer2_id": ""}, "answer2_id", "missing"),
    (REVIEW, {"answer2_id": "a1"}, "answer2_id", 'the same answer as answer1_id ("a1")'),
    (REVIEW, {"score": [9]}, "score", "expected a list of two numbers"),
    (REVIEW, {"score": ["9", "8"]}, "score", "expected a list of two numbers"),
    (REVIEW, {"score": [True, 8]}, "score", "expected a list of two numbers"),
    (REVIEW, {"score": [1e9, 8]}, "score", "expected a list of two numbers"),
    (REVIEW, {"score": None}, "score", "expected a list of two numbers"),
    (REVIEW, {"text": {}}, "text", "expected a text, found an object"),
    (REVIEW, {"review_id": 1.5}, "review_id", "expected a text, found a number"),
    (JUDGMENT, {"question_id": None}, "question_id", "missing"),
    (JUDGMENT, {"model_1": None}, "model_1", "missing"),
    (JUDGMENT, {"model_2": "lark-7b"}, "model_2", 'the same model as model_1 ("lark-7b")'),
    (JUDGMENT, {"g1_winner": "A"}, "g1_winner", '"A" is not one of model_1, model_2, tie, error'),
    (JUDGMENT, {"g2_winner": None}, "g2_winner", "missing"),
    (JUDGMENT, {"g1_judgment": []}, "g1_judgment", "expected a text, found a list"),
    (JUDGMENT, {"g2_user_prompt": {}}, "g2_user_prompt", "expected a text, found an object"),
    (JUDGMENT, {"turn": 0}, "turn", "0 is not between 1 and 2147483647"),
    (JUDGMENT, {"tstamp": "soon"}, "tstamp", "'soon' is neither an ISO 8601 time nor seconds since 1970"),
    (
        JUDGMENT,
        {"judge": "gpt-4"},
        "judge",
        "expected a list of two texts: the judge's model and the name of its prompt",
    ),
    ({"model_id": "lark", "model_name": "l", "model_version": "1"}, {"model_id": ""}, "model_id", "missing"),
]


@pytest.mark.parametrize(("good", "changes", "field", "reason"), MALFORMED)
def test_what_is_wrong(
    tmp_path: Path, good: dict[str, Any], changes: dict[str, Any], field: str, reason: str
) -> None:
    path = write_lines(tmp_path, "file.jsonl", good, {**good, **changes})
    assert problems(path) == [(2, field, reason)]


def test_reference_data_of_vicuna(reference_data: Path) -> None:
    folder = reference_data / "vicuna-blog-eval"
    items = read(folder, folder / "answer", folder / "review")
    kinds = Counter(type(item) for item in items)
    rows = {ContestantRecord: 7, PromptRecord: 80, CompletionRecord: 400, ComparisonRecord: 400}
    assert kinds == rows | {Note: 2}  # files that are not read
    answers = {item.id: item for item in items if isinstance(item, CompletionRecord)}
    reviews = [item for item in items if isinstance(item, ComparisonRecord)]
    assert {answers[review.first_id].prompt for review in reviews} == {str(number) for number in range(1, 81)}
    assert all(answers[review.second_id].prompt == review.prompt for review in reviews)
    assert {review.rater for review in reviews} == {"gpt-4"}
    assert Counter(review.rating for review in reviews) == {3: 267, 1: 99, 2: 34}
    assert sum(review.scores is not None and review.scores[0] == 0 for review in reviews) == 2


def test_reference_data_of_mt_bench(reference_data: Path) -> None:
    items = read(reference_data / "fastchat")
    prompts = [item for item in items if isinstance(item, PromptRecord)]
    assert len(items) - 1 == len(prompts) == 80 + 30  # the licence beside them is noted
    assert all(len(item.turns) == 2 for item in prompts if not item.implied)
    authors = Counter(reference.author for item in prompts for reference in item.references)
    assert authors == {"reference": 39, "gpt-4": 30}
