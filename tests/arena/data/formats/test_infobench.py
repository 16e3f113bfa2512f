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
    assert (prompt.id, prompt.subset, prompt.category) == ("task-1", "Easy_set", "Reports")
    assert (prompt.turns, prompt.input) == (("Choose a title.",), "A text about herons.")
    assert prompt.extra == {"decomposed_questions": ["Is it a title?"], "question_label": [["Format"]]}
    assert (completion.prompt, completion.subset) == ("task-1", "Easy_set")
    assert (completion.contestant, completion.turns) == (None, ("Herons at dawn",))


def test_the_same_output_judged_twice_is_one_completion_and_a_line_may_have_none(tmp_path: Path) -> None:
    lines = [json.dumps(make_item(eval=answers)) for answers in ([True], [None])]
    items = read(write_lines(tmp_path, "a.jsonl", *lines))
    first, second = (item.id for item in items if isinstance(item, CompletionRecord))
    assert first == second
    item = make_item()
    del item["output"]
    kinds = [type(record) for record in read(write_lines(tmp_path, "b.jsonl", json.dumps(item)))]
    assert kinds == [Note, PromptRecord]


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "a.jsonl", json.dumps(make_item(instruction="", output=["no"])))
    assert problems(path) == [(1, "output", "expected a text, found a list"), (1, "instruction", "missing")]
