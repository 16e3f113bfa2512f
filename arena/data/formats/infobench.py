"""InFoBench: instructions with questions about the output, an output, and a judge's answers. Pure.

Files name neither the author, without whom a completion is named by its text, nor the judge, without whom
the answers are left out. An answer of null could not be read; a missing one was never asked for.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from arena.data.formats.files import InputFile
from arena.data.formats.reading import DataSet, Fields, Format, Kind, Shape, digest, judge_of, read_rows
from arena.data.formats.records import (
    AnswerRecord,
    CompletionRecord,
    ContestantRecord,
    Item,
    Note,
    Place,
    PromptRecord,
    QuestionRecord,
)
from arena.data.formats.values import json_type

UNNAMED: Final = "the checks (eval) are left out; name the judge who made them"
_VALUES: Final = {True: "yes", False: "no", None: None}


def _read(file: InputFile) -> Iterator[Item]:
    author, judge = file.about.contestant, file.about.judge
    if judge:
        yield judge_of(file, judge)
    elif "eval" in file.columns():
        yield Note(file.place(), UNNAMED)
    if author:
        yield ContestantRecord(name=author, implied=True, place=file.place())
    odd: list[Place] = []
    yield from read_rows(file, partial(_records, author, judge, odd))
    if odd:
        rows = f"1 row has ({odd[0].unit} {odd[0].line})" if len(odd) == 1 else f"{len(odd):,} rows have"
        text = "another number of lists of labels than of questions; these questions get none"
        yield Note(file.place(), f"{rows} {text}")


def _records(author: str, judge: str, odd: list[Place], fields: Fields) -> Iterator[Item]:
    prompt, subset = fields.required_text("id"), fields.text("subset")
    output = fields.optional_text("output")
    answers = _answers(fields, output)
    instruction = fields.required_text("instruction")
    given = fields.peek("question_label")
    questions = list(_questions(fields, prompt, subset, odd))
    beside = {"question_label": given} if odd and odd[-1] is fields.place else {}
    if len(answers) > len(questions):
        fields.problem("eval", f"{len(answers)} answers to {len(questions)} questions")
    named: dict[str, Any] = {"prompt": prompt, "subset": subset, "place": fields.place}
    yield PromptRecord(
        id=prompt,
        turns=(instruction,),
        subset=subset,
        category=fields.optional_text("category"),
        input=fields.optional_text("input"),
        extra={**fields.rest(), **beside},
        implied=True,
        place=fields.place,
    )
    yield from questions
    if output is None:
        return
    own_id = "" if author else digest(output)
    yield CompletionRecord(**named, contestant=author or None, id=own_id, turns=(output,), implied=True)
    by: dict[str, Any] = {"contestant": author, "completion": own_id, "rater": judge, "rater_kind": "judge"}
    for question, value in enumerate(answers if judge else [], start=1):
        reason = "unparsable" if value is None else ""
        yield AnswerRecord(**named, **by, question=question, answer=value, reason=reason)


def _answers(fields: Fields, output: str | None) -> list[str | None]:
    """Yes, no, or None for a reply that could not be read, of the questions that were asked."""
    values = fields.take("eval")
    if values is None:
        return []
    if not isinstance(values, list):
        fields.problem("eval", f"expected a list, found {json_type(values)}")
        return []
    if values and output is None:
        fields.problem("eval", "answers to questions about an output, which is missing")
    for number, value in enumerate(values, start=1):
        if value is not None and not isinstance(value, bool):
            fields.problem(f"eval[{number}]", f"expected true, false or null, found {json_type(value)}")
    return [_VALUES[value] if value is None or isinstance(value, bool) else None for value in values]


def _questions(fields: Fields, prompt: str, subset: str, odd: list[Place]) -> Iterator[QuestionRecord]:
    """The requirements; where labels differ from them in number, as in a published file, without labels."""
    texts, labels = fields.texts("decomposed_questions"), _labels(fields)
    if labels is not None and len(labels) != len(texts) and not fields.problems:
        odd.append(fields.place)
        labels = None
    for position, text in enumerate(texts, start=1):
        if not text.strip():
            fields.problem(f"decomposed_questions[{position}]", "empty")
        its_labels = labels[position - 1] if labels else None
        about: dict[str, Any] = {"prompt": prompt, "subset": subset, "implied": True, "place": fields.place}
        yield QuestionRecord(position=position, text=text, labels=its_labels, **about)


def _labels(fields: Fields) -> list[tuple[str, ...]] | None:
    values = fields.take("question_label")
    if values is None:
        return None
    if isinstance(values, list) and all(
        isinstance(one, list) and all(isinstance(label, str) for label in one) for one in values
    ):
        return [tuple(one) for one in values]
    fields.problem("question_label", "expected a list of texts for each question")
    return None


DATA_SET: Final = DataSet(
    "InFoBench",
    "MIT",
    "A judge checks each answer against the requirements of its instruction.\n\n"
    "Qin and others published the instructions and their requirements in 2024 as "
    "[InFoBench](https://github.com/qinyiwei/InfoBench) (MIT licence), with the paper "
    "[InFoBench: Evaluating Instruction Following Ability in Large Language Models]"
    "(https://arxiv.org/abs/2401.03601).",
)

FORMAT = Format(
    "infobench",
    "InFoBench",
    "id, instruction and decomposed_questions",
    (Shape(Kind.ANSWERS, "id instruction decomposed_questions", _read),),
    is_typed=True,
    told=frozenset({"contestant", "judge"}),
    data_set=DATA_SET,
)
