import hashlib
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from arena.data.formats.records import ComparisonRecord, CompletionRecord, PromptRecord, ScoreRecord
from tests.arena.data.formats.reading import problems, read, write_lines

INSTRUCTION = "Name a bird that sings at night."
OUTPUT = {"dataset": "koala", "instruction": INSTRUCTION, "output": "A nightingale.", "generator": "lark-7b"}
ANNOTATION: dict[str, Any] = {
    "instruction": INSTRUCTION,
    "output_1": "A nightingale.",
    "generator_1": "lark-7b",
    "output_2": "An owl.",
    "generator_2": "wren-13b",
    "annotator": "alpaca_eval_gpt4",
    "preference": 1,
}


def annotated(folder: Path, **changes: Any) -> ComparisonRecord:
    record = read(write_lines(folder, "annotations.jsonl", {**ANNOTATION, **changes}))[-1]
    assert isinstance(record, ComparisonRecord)
    return record


def test_outputs(tmp_path: Path) -> None:
    prompt, completion = read(write_lines(tmp_path, "model_outputs.jsonl", {**OUTPUT, "samples": 1}))
    assert prompt.id == hashlib.sha256(INSTRUCTION.encode()).hexdigest()[:12]
    assert (prompt.turns, prompt.category, prompt.subset) == ((INSTRUCTION,), "koala", "")
    assert (completion.prompt, completion.contestant) == (prompt.id, "lark-7b")
    assert (completion.turns, completion.extra) == (("A nightingale.",), {"samples": 1})
    assert not completion.implied


def test_instruction_and_input_are_one_text_also_in_a_list(tmp_path: Path) -> None:
    path = tmp_path / "model_outputs.json"
    whole = f"{INSTRUCTION}\n\nIn Europe."
    rows = [{**OUTPUT, "input": "In Europe."}, {**OUTPUT, "instruction": whole, "generator": "owl"}]
    path.write_text(json.dumps(rows, indent=2))
    items = read(path)
    assert [type(item) for item in items] == [PromptRecord, CompletionRecord] * 2
    assert items[0].turns == items[2].turns == (whole,)
    assert items[0].id == items[2].id


def test_an_annotation_names_its_texts_in_passing(tmp_path: Path) -> None:
    note, prompt, first, second, comparison = read(write_lines(tmp_path, "annotations.jsonl", ANNOTATION))
    assert (note.place.line, note.text) == (
        0,
        "the order in which two outputs were shown is not in the file; read no position bias from it",
    )
    assert prompt.implied
    assert first.implied
    assert (first.contestant, first.turns) == ("lark-7b", ("A nightingale.",))
    assert (second.contestant, second.turns) == ("wren-13b", ("An owl.",))
    assert (comparison.prompt, comparison.first, comparison.second) == (prompt.id, "lark-7b", "wren-13b")
    assert (comparison.rater, comparison.rater_kind, comparison.points) == ("alpaca_eval_gpt4", "judge", 3)


@pytest.mark.parametrize(
    ("preference", "rating", "scores"),
    [
        *[(preference, rating, ()) for preference, rating in [(1, 1), (1.0, 1), (2, 3), (1.5, 2), (0, 2)]],
        (1.0000048889123456, 1, ("0.9999951110876544", "0.0000048889123456")),
        (1.25, 1, ("0.75", "0.25")),
        (1.75, 3, ("0.25", "0.75")),
    ],
)
def test_a_preference_is_rated_by_its_side_and_a_weighted_one_scored(
    tmp_path: Path, preference: float, rating: int, scores: tuple[str, ...]
) -> None:
    record = annotated(tmp_path, preference=preference)
    assert (record.rating, record.reason) == (rating, "")
    assert record.scores == (tuple(map(Decimal, scores)) or None)
    assert record.extra == ({"preference": preference} if scores else {})


@pytest.mark.parametrize("preference", [None, -1])
def test_no_answer_is_unscored(tmp_path: Path, preference: float | None) -> None:
    record = annotated(tmp_path, preference=preference, raw_completion="Both are fine.")
    assert (record.rating, record.reason, record.raw_reply) == (None, "unparsable", "Both are fine.")


def test_what_else_an_annotation_says(tmp_path: Path) -> None:
    reply = {"message": {"content": "é"}, "logprobs": None}
    said = {"raw_completion": reply, "time_per_example": 0.5, "concise_explanation": "It sings."}
    record = annotated(tmp_path, **said, price_per_example=0.01, is_switched_outputs=True)
    assert json.loads(record.raw_reply) == reply
    assert "é" in record.raw_reply
    assert (record.seconds, record.rationale) == (0.5, "It sings.")
    assert record.extra == {"price_per_example": 0.01, "is_switched_outputs": True}
    assert (record.first, record.rating) == ("lark-7b", 1)


MALFORMED: list[tuple[dict[str, Any], dict[str, Any], str, str]] = [
    (
        ANNOTATION,
        {"preference": 3},
        "preference",
        "3 is not between 1 and 2; 0 is a tie, -1 and null no answer",
    ),
    (
        ANNOTATION,
        {"preference": 0.5},
        "preference",
        "0.5 is not between 1 and 2; 0 is a tie, -1 and null no answer",
    ),
    (ANNOTATION, {"preference": "1"}, "preference", "expected a number, found a text"),
    (ANNOTATION, {"instruction": " "}, "instruction", "missing"),
    (ANNOTATION, {"instruction": ["x"]}, "instruction", "expected a text, found a list"),
    (ANNOTATION, {"input": {}}, "input", "expected a text, found an object"),
    (ANNOTATION, {"dataset": []}, "dataset", "expected a text, found a list"),
    (ANNOTATION, {"output_2": {}}, "output_2", "expected a text, found an object"),
    (ANNOTATION, {"generator_1": None}, "generator_1", "missing"),
    (ANNOTATION, {"generator_2": ""}, "generator_2", "missing"),
    (ANNOTATION, {"generator_2": "lark-7b"}, "generator_2", 'the same generator as generator_1 ("lark-7b")'),
    (ANNOTATION, {"annotator": None}, "annotator", "missing"),
    (ANNOTATION, {"time_per_example": -1}, "time_per_example", "-1 is not between 0 and 1e+09"),
    (ANNOTATION, {"concise_explanation": []}, "concise_explanation", "expected a text, found a list"),
    (OUTPUT, {"instruction": ""}, "instruction", "missing"),
    (OUTPUT, {"output": 7.5}, "output", "expected a text, found a number"),
    (OUTPUT, {"generator": " "}, "generator", "missing"),
]


@pytest.mark.parametrize(("good", "changes", "field", "reason"), MALFORMED)
def test_what_is_wrong(
    tmp_path: Path, good: dict[str, Any], changes: dict[str, Any], field: str, reason: str
) -> None:
    path = write_lines(tmp_path, "file.jsonl", good, {**good, **changes})
    assert problems(path) == [(2, field, reason)]


def test_numbers_are_people_and_unnamed_outputs_are_known_by_their_texts(tmp_path: Path) -> None:
    row = {"instruction": "Hi?", "output_1": "A", "output_2": "B"}
    told = [
        ("annotator_index", 0, 1.0),
        ("annotator_index", 1, 1.5),
        ("annotator", 7, None),
        ("annotator", "jay", None),
    ]
    rows = [{**row, "preference": said, name: who} for name, who, said in told]
    found = [
        item for item in read(write_lines(tmp_path, "a.json", *rows)) if isinstance(item, ComparisonRecord)
    ]
    assert [(said.rater, said.rater_kind, said.rating, said.reason) for said in found] == [
        ("annotator-0", "person", 1, ""),
        ("annotator-1", "person", 2, ""),
        ("annotator-7", "person", None, "empty"),
        ("jay", "judge", None, "unparsable"),
    ]
    assert len({(said.first_id, said.second_id) for said in found}) == 1
    path = write_lines(tmp_path, "b.json", {**rows[0], "output_2": "A"})
    assert problems(path) == [
        (1, "output_2", "the same text as output_1, and no generators tell them apart"),
    ]


def test_outputs_with_a_score_are_texts_and_scores(tmp_path: Path) -> None:
    row = {"instruction": "Name a river.", "output": "The Glomma.", "generator": "alder", "annotator": "jay"}
    rows = [{**row, "score": score} for score in (4.5, -1, None)]
    people = {**row, "annotator": 3, "score": None, "lowest": 1, "highest": 10}
    items = read(write_lines(tmp_path, "scores.jsonl", *rows, people))
    said = [item for item in items if isinstance(item, ScoreRecord)]
    assert [(one.rater, one.score, one.reason, one.highest) for one in said] == [
        *(("jay", 4.5, "", None), ("jay", None, "unparsable", None), ("jay", None, "unparsable", None)),
        ("annotator-3", None, "empty", 10),
    ]
    assert items[1].turns == ("The Glomma.",)
    bad = write_lines(tmp_path, "bad.jsonl", {**row, "score": "good"}, {**people, "lowest": 10})
    assert problems(bad) == [
        (1, "score", "expected a number, found a text"),
        (2, "highest", "10 is not above the lowest score, 10"),
    ]
