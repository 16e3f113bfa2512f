import json
from pathlib import Path
from typing import Any

from arena.data.formats.records import CompletionRecord, Note, PromptRecord
from tests.arena.data.formats.reading import problems, read, write_lines


def make_item(**overrides: Any) -> dict[str, Any]:
    return {
        "id": "task-1",
        "instruction": "Choose a title.",
        "input": "A text about herons.",
        "category": "Reports",
        "subset": "Easy_set",
        "decomposed_questions": ["Is it a title?"],
        "question_label": [["Format"]],
        "output": "Herons at dawn",
        "eval": [True],
        **overrides,
    }


def test_a_line_is_a_prompt_with_its_questions_and_an_output_by_nobody(tmp_path: Path) -> None:
    note, prompt, completion = read(write_lines(tmp_path, "easy.jsonl", json.dumps(make_item())))
    assert isinstance(note, Note)
    assert isinstance(prompt, PromptRecord)
    assert (prompt.id, prompt.subset, prompt.category, prompt.turns, prompt.input) == (
        "task-1",
        "Easy_set",
        "Reports",
        ("Choose a title.",),
        "A text about herons.",
    )
    assert prompt.extra == {"decomposed_questions": ["Is it a title?"], "question_label": [["Format"]]}
    assert isinstance(completion, CompletionRecord)
    assert (completion.prompt, completion.subset, completion.contestant, completion.turns) == (
        "task-1",
        "Easy_set",
        None,
        ("Herons at dawn",),
    )


def test_the_same_output_judged_twice_is_one_completion(tmp_path: Path) -> None:
    lines = [json.dumps(make_item(eval=answers)) for answers in ([True], [None])]
    ids = [
        item.id
        for item in read(write_lines(tmp_path, "a.jsonl", *lines))
        if isinstance(item, CompletionRecord)
    ]
    assert len(ids) == 2
    assert len(set(ids)) == 1


def test_a_line_may_have_no_output(tmp_path: Path) -> None:
    item = make_item()
    del item["output"]
    kinds = [type(record) for record in read(write_lines(tmp_path, "a.jsonl", json.dumps(item)))]
    assert kinds == [Note, PromptRecord]


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "a.jsonl", json.dumps(make_item(instruction="", output=["no"])))
    assert problems(path) == [(1, "output", "expected a text, found a list"), (1, "instruction", "missing")]
