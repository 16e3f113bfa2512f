"""WildBench: judges' scores of single answers from 1 to 10, and grades of pairs. Pure.

Of a released file only the folder (``eval=JUDGE``) tells the judge.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from arena.data.formats.files import InputFile
from arena.data.formats.pairs import Pair
from arena.data.formats.reading import DataSet, Fields, Format, Kind, Read, Shape, by_row, judge_of, read_rows
from arena.data.formats.records import CompletionRecord, Item, PromptRecord, RaterRecord
from arena.data.formats.text_scores import graded, judge_by_model, unknown_texts

DATA_SET: Final = DataSet(
    "WildBench",
    "Apache-2.0",
    "Judges score each answer from 1 to 10.\n\n"
    "Lin and others published the scores in 2024 as [WildBench](https://github.com/allenai/WildBench), with "
    "the paper [WildBench: Benchmarking LLMs with Challenging Tasks from Real Users in the Wild]"
    "(https://arxiv.org/abs/2406.04770).",
)

CHOICES: Final = {"A++": 1, "A+": 2, "A=B": 3, "B+": 4, "B++": 5}
"""Grades of pairs on five points; the first files say A, tie and B."""

_FIRST_CHOICES: Final = {"A": 1, "tie": 2, "B": 3}
_FOLDER: Final = re.compile(r"eval=(.+)")


def _by_judge(build: Callable[[InputFile, RaterRecord, Fields], Iterable[Item]]) -> Read:
    """Reading of released files."""

    def read(file: InputFile) -> Iterator[Item]:
        named = next((found[1] for name in file.folders if (found := _FOLDER.fullmatch(name))), "")
        if not (named or file.about.judge):
            reason = "only its folder, such as eval=gpt-4o, says who the judge is; name the judge"
            yield file.problem(0, reason)
            return
        judge = judge_of(file, named, model=named)
        yield judge
        yield from read_rows(file, partial(build, file, judge))

    return read


def _released(file: InputFile, judge: RaterRecord, fields: Fields) -> Iterator[Item]:
    prompt, model = fields.required_text("session_id"), file.cased_stem
    yield PromptRecord(id=prompt, turns=(), implied=True, place=fields.place)
    turns = fields.answer("model_output")
    yield CompletionRecord(prompt=prompt, contestant=model, turns=turns, implied=True, place=fields.place)
    said = fields.mapping("parsed_result") or {}
    yield graded(fields, prompt, model, judge.slug, raw_reply=json.dumps(said, ensure_ascii=False))


def _pair(file: InputFile, judge: RaterRecord, fields: Fields) -> Iterator[Item]:
    """A grade of two models' answers, A of which was shown first."""
    prompt, said = fields.required_text("session_id"), fields.mapping("parsed_result") or {}
    shown = fields.mapping("assignment")
    for side in "AB" if shown else "":
        fields.put(f"model_{side}", shown[side] if shown and side in shown else None)
    models = fields.two_names("model_A", "model_B", "model")
    texts = fields.mapping("model_outputs") or {
        fields.text(who): fields.take(text)
        for who, text in (("generator", "model_output"), ("ref_generator", "ref_output"))
    }
    outputs = [texts.get(model) for model in models]
    for model, text in zip(models, outputs, strict=True):
        if not isinstance(text, str | None):
            fields.problem("model_outputs", f'expected a text of "{model}"')
            return
    turns = [() if text is None else (text,) for text in outputs]
    pair = Pair.of(PromptRecord(id=prompt, turns=(), implied=True, place=fields.place), models, *turns)
    yield from pair.records()
    choice = str(said.get("choice"))
    points, grades = (3, _FIRST_CHOICES) if choice in _FIRST_CHOICES else (5, CHOICES)
    fields.take("prompt")  # that of the judge, with all texts
    about: dict[str, Any] = {"raw_reply": json.dumps(said, ensure_ascii=False), "extra": fields.rest()}
    reason = "" if choice in grades else "unparsable"
    yield pair.rated(judge.slug, "judge", points, grades.get(choice), reason=reason, **about)


def _row(fields: Fields) -> Iterator[Item]:
    judge, prompt = fields.required_text("judge"), fields.required_text("prompt")
    subset, model = fields.text("subset"), fields.required_text("model")
    yield from unknown_texts(fields, prompt, model, subset=subset)
    yield from judge_by_model(fields, judge)
    yield graded(fields, prompt, model, judge, subset=subset)


FORMAT: Final = Format(
    "wildbench",
    "Scores and grades of WildBench",
    "session_id, parsed_result, model_output and score, or prompt, model, judge, score and "
    "output_characters; session_id, parsed_result, model_A and model_B or assignment (of pairs)",
    (
        Shape(Kind.COMPARISONS, "session_id parsed_result model_A model_B", _by_judge(_pair)),
        Shape(Kind.COMPARISONS, "session_id parsed_result assignment", _by_judge(_pair)),
        Shape(Kind.SCORES, "session_id parsed_result model_output score", _by_judge(_released)),
        Shape(Kind.SCORES, "prompt model judge score output_characters", by_row(_row)),
    ),
    told=frozenset({"judge"}),
    data_set=DATA_SET,
)
