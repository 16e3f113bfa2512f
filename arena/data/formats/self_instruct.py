"""Self-instruct: instructions with human demonstrations, and models' predictions. Pure.

Instruction and input tell a prediction's prompt, the file's name its model.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from arena.data.formats.files import InputFile
from arena.data.formats.ours import record_of
from arena.data.formats.reading import Fields, Format, Kind, Shape, read_rows
from arena.data.formats.records import CompletionRecord, ContestantRecord, Item, PromptRecord
from arena.data.formats.values import json_type

PEOPLE: Final = "Human demonstrations"

ENDING: Final = "_predictions"
Key = tuple[str, str]  # instruction and input, stripped


def _read_instructions(file: InputFile) -> Iterator[Item]:
    # Implied, so that predictions may still introduce their models.
    yield ContestantRecord(name=PEOPLE, kind="people", implied=True, place=file.place())
    yield from read_rows(file, _instruction)


def _read_predictions(file: InputFile) -> Iterator[Item]:
    known = _known(file)
    if not known:
        reason = "import user_oriented_instructions.jsonl together with the predictions, which have no ids"
        yield file.problem(0, reason)
        return
    yield from read_rows(file, partial(_prediction, file.cased_stem.removesuffix(ENDING), known))


def _instruction(fields: Fields) -> Iterator[Item]:
    """One prompt and its demonstration per instance."""
    name, instruction = fields.required_text("id"), fields.required_text("instruction")
    category, instances = fields.optional_text("motivation_app"), _instances(fields)
    about: dict[str, Any] = {"category": category, "extra": fields.rest(), "place": fields.place}
    for number, (material, demonstration) in enumerate(instances, start=1):
        prompt = name if len(instances) == 1 else f"{name}-{number}"
        yield PromptRecord(id=prompt, turns=(instruction,), input=material or None, **about)
        yield CompletionRecord(prompt=prompt, contestant=PEOPLE, turns=(demonstration,), place=fields.place)


def _instances(fields: Fields) -> list[tuple[str, str]]:
    """Input and demonstration of each instance."""
    value = fields.json("instances")
    if not isinstance(value, list) or not value:
        found = "an empty list" if value == [] else json_type(value)
        fields.problem("instances", f"expected a list of objects with input and output, found {found}")
        return []
    instances = []
    for number, instance in enumerate(value, start=1):
        texts = {}
        for name in ("input", "output"):
            text = instance.get(name) if isinstance(instance, dict) else None
            if not isinstance(text, str):
                fields.problem(f"instances[{number}].{name}", f"expected a text, found {json_type(text)}")
            texts[name] = str(text)
        instances.append((texts["input"], texts["output"]))
    return instances


def _known(predictions: InputFile) -> dict[Key, list[str]]:
    """The ids of the prompts by instruction and input."""
    found: dict[Key, list[str]] = {}
    for file in predictions.beside.get(Kind.PROMPTS, ()):
        for item in read_rows(file, _instruction):
            if isinstance(item, PromptRecord):
                key = (item.turns[0].strip(), (item.input or "").strip())
                found.setdefault(key, []).append(item.id)
    return found


def _prediction(model: str, known: Mapping[Key, list[str]], fields: Fields) -> Iterator[Item | None]:
    key = (fields.required_text("instruction").strip(), fields.text("input").strip())
    prompts = known.get(key, [])
    if not prompts and not fields.problems:
        fields.problem("instruction", "no instruction with this text and input is among the instructions")
    elif len(prompts) > 1:
        ids = ", ".join(prompts)
        fields.problem("instruction", f"several prompts have this text and input: {ids}")
    # These repeat the instructions.
    for name in ("prompt", "target"):
        fields.take(name)
    prompt = prompts[0] if prompts else ""
    yield record_of(Kind.COMPLETIONS, fields, {"turns": "response"}, prompt=prompt, contestant=model)


FORMAT = Format(
    "self-instruct",
    "Self-instruct evaluation",
    "instruction and instances, or instruction, response and target (self-instruct)",
    (
        Shape(Kind.PROMPTS, "instruction instances", _read_instructions),
        Shape(Kind.COMPLETIONS, "instruction response target", _read_predictions),
    ),
)
