from pathlib import Path
from typing import Any

import pytest

from arena.data.formats.records import PromptRecord
from tests.arena.data.formats.reading import problems, read, write_lines

INSTRUCTION: dict[str, Any] = {
    "id": "task_0",
    "motivation_app": "Grammarly",
    "instruction": "Shorten the sentence.",
    "instances": [{"input": "It is what it is.", "output": "So be it."}],
}
PREDICTION: dict[str, Any] = {
    "prompt": "Shorten the sentence.\n\nInput: It is what it is.\nOutput:",
    "instruction": "Shorten the sentence.\n",
    "input": "It is what it is. ",
    "response": " Fine.",
    "target": "So be it.",
}


def predicted(folder: Path, *instructions: dict[str, Any], **changes: Any) -> tuple[Path, Path]:
    """A file of instructions and one with a prediction."""
    return (
        write_lines(folder, "user_oriented_instructions.jsonl", *instructions),
        write_lines(folder, "Lark-7B_predictions.jsonl", {**PREDICTION, **changes}),
    )


def test_instructions_come_with_human_demonstrations(tmp_path: Path) -> None:
    people, prompt, completion = read(write_lines(tmp_path, "instructions.jsonl", INSTRUCTION))
    assert (people.name, people.kind, people.implied) == ("Human demonstrations", "people", True)
    assert (prompt.id, prompt.turns) == ("task_0", ("Shorten the sentence.",))
    assert (prompt.input, prompt.category) == ("It is what it is.", "Grammarly")
    assert (completion.prompt, completion.contestant) == ("task_0", "Human demonstrations")
    assert completion.turns == ("So be it.",)


def test_seed_tasks_have_the_same_shape(tmp_path: Path) -> None:
    instances = [{"input": "", "output": "One."}, {"input": "x", "output": "Two."}]
    row = {"id": "seed_1", "name": "n", "instruction": "Say.", "is_classification": False}
    row["instances"] = instances
    items = read(write_lines(tmp_path, "seed_tasks.jsonl", row))
    prompts = [item for item in items if isinstance(item, PromptRecord)]
    assert [(prompt.id, prompt.input) for prompt in prompts] == [("seed_1-1", None), ("seed_1-2", "x")]
    assert prompts[0].extra == {"name": "n", "is_classification": False}


def test_predictions_are_matched_by_their_texts(tmp_path: Path) -> None:
    other = {**INSTRUCTION, "id": "task_1", "instances": [{"input": "Else.", "output": "E."}]}
    completion = read(*predicted(tmp_path, other, INSTRUCTION))[-1]
    assert (completion.prompt, completion.contestant) == ("task_0", "Lark-7B")
    assert (completion.turns, completion.extra) == ((" Fine.",), {})


def test_predictions_need_one_instruction_each(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "lark_predictions.jsonl", PREDICTION)
    reason = "import user_oriented_instructions.jsonl together with the predictions, which have no ids"
    assert problems(path) == [(0, "", reason)]
    paths = predicted(tmp_path, INSTRUCTION, input="Something else.")
    reason = "no instruction with this text and input is among the instructions"
    assert problems(*paths) == [(1, "instruction", reason)]
    paths = predicted(tmp_path, INSTRUCTION, {**INSTRUCTION, "id": "task_9"})
    reason = "several prompts have this text and input: task_0, task_9"
    assert problems(*paths) == [(1, "instruction", reason)]


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"instruction": ""}, "instruction", "missing"),
        ({"input": 1.5}, "input", "expected a text, found a number"),
        ({"response": {"choices": []}}, "response", "expected a text, found an object"),
    ],
)
def test_a_wrong_prediction_is_named(
    tmp_path: Path, changes: dict[str, Any], field: str, reason: str
) -> None:
    assert problems(*predicted(tmp_path, INSTRUCTION, **changes)) == [(1, field, reason)]


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"id": None}, "id", "missing"),
        ({"instruction": " "}, "instruction", "missing"),
        ({"motivation_app": []}, "motivation_app", "expected a text, found a list"),
        (
            {"instances": []},
            "instances",
            "expected a list of objects with input and output, found an empty list",
        ),
        ({"instances": "x"}, "instances", "expected a list of objects with input and output, found a text"),
        ({"instances": [{"input": ""}]}, "instances[1].output", "expected a text, found null"),
        (
            {"instances": [{"input": 1, "output": ""}]},
            "instances[1].input",
            "expected a text, found a number",
        ),
    ],
)
def test_a_wrong_instruction_is_named(
    tmp_path: Path, changes: dict[str, Any], field: str, reason: str
) -> None:
    path = write_lines(tmp_path, "instructions.jsonl", INSTRUCTION, {**INSTRUCTION, **changes})
    assert problems(path) == [(2, field, reason)]
