"""PandaLM's test set: pairs of two models' answers with three people's verdicts, and judges' verdicts. Pure.

A model that has several texts for one prompt keeps the first; each further one is an answer without a model,
by an id of its own. A judge's file names rows of the test set by number: both are imported together.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from arena.data.formats.files import InputFile
from arena.data.formats.reading import (
    SUBSET_AND_JUDGE,
    Companions,
    Fields,
    Format,
    Head,
    Kind,
    digest,
    judge_of,
    read_rows,
)
from arena.data.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    Item,
    Note,
    Place,
    PromptRecord,
    RaterRecord,
)
from arena.data.formats.values import json_type

ANNOTATORS: Final = ("annotator1", "annotator2", "annotator3")
RATINGS: Final = {1: 1, 0: 2, 2: 3}
"""Ratings on three points by the better response; 0 is a tie."""

RESULT: Final = "_result"  # the end of the field of a judge's verdict, which begins with its name
SAID: Final = {"1": 1, "tie": 2, "0": 2, "2": 3}
NOT_READ: Final = "garbage"

_TEST_SET: Final = frozenset({"idx", "cmp_key", "instruction", "response1", "response2", *ANNOTATORS})


def recognise(head: Head) -> Kind | None:
    if not head.is_typed:
        return None
    if head.fields >= _TEST_SET:
        return Kind.PAIRS
    return Kind.COMPARISONS if "idx" in head.fields and _verdict_of(head.fields) else None


def _verdict_of(fields: frozenset[str]) -> str:
    """The name of a judge's field, without its end; empty if there is none."""
    return next((name.removesuffix(RESULT) for name in sorted(fields) if name.endswith(RESULT)), "")


class Row(NamedTuple):
    number: int
    prompt: str
    answers: tuple[str, str]  # ids of the completions

    def rated(self, rater: str, kind: str, place: Place, **said: Any) -> ComparisonRecord:
        first, second = self.answers
        names: dict[str, Any] = {"first": "", "second": "", "first_id": first, "second_id": second}
        about: dict[str, Any] = {"rater": rater, "rater_kind": kind, "points": 3, "place": place}
        return ComparisonRecord(prompt=self.prompt, **names, **about, **said)


class Rows:
    """Gives the texts of a test set their names, row by row."""

    def __init__(self) -> None:
        self.rows: dict[int, Row] = {}
        self.flags: list[tuple[Place, str]] = []  # texts that are true or false
        self.further = 0
        self._texts: dict[tuple[str, str], list[str]] = {}

    def read(self, fields: Fields) -> Iterator[Item]:
        number = fields.integer("idx")
        if number is None:
            fields.problem("idx", "missing; it numbers the rows")
        models = fields.text("cmp_key").split("_")
        if len(models) != 2 or not all(models) or models[0] == models[1]:
            fields.problem("cmp_key", "expected the names of two models, such as llama-7b_opt-7b")
            models = ["", ""]
        instruction, given = fields.text("instruction"), fields.text("input")
        prompt = digest(instruction, given)
        if not instruction.strip():
            instruction, given = given, ""  # some rows have nothing but an input
        if not instruction.strip():
            fields.problem("instruction", "missing, and so is the input")
        yield PromptRecord(
            id=prompt,
            turns=(instruction,),
            category=fields.optional_text("motivation_app"),
            input=given or None,
            implied=True,
            place=fields.place,
        )
        answers = []
        for model, name in zip(models, ("response1", "response2"), strict=True):
            text = self._text(fields, name)
            own_id = self._id(prompt, model, text)
            contestant = model if own_id == model else None
            yield CompletionRecord(
                prompt=prompt,
                turns=(text,),
                contestant=contestant,
                id=own_id,
                implied=True,
                place=fields.place,
            )
            answers.append(own_id)
        row = Row(number or 0, prompt, (answers[0], answers[1]))
        if row.number in self.rows:
            fields.problem("idx", f"{row.number} numbers two rows")
        self.rows[row.number] = row
        for annotator in ANNOTATORS:
            found = fields.integer(annotator, least=0, most=2)
            if found is None and annotator not in {problem.field for problem in fields.problems}:
                fields.problem(annotator, "missing; 1 or 2 is the better response, 0 a tie")
            yield row.rated(annotator, "person", fields.place, rating=RATINGS[found or 0])

    def _text(self, fields: Fields, name: str) -> str:
        value = fields.take(name)
        if isinstance(value, bool):
            self.flags.append((fields.place, name))
            return str(value).lower()
        if not isinstance(value, str):
            fields.problem(name, f"expected a text, found {json_type(value)}")
            return ""
        return value

    def _id(self, prompt: str, model: str, text: str) -> str:
        """The model's name, or with a number if it has another text for the prompt."""
        texts = self._texts.setdefault((prompt, model), [])
        if text not in texts:
            texts.append(text)
            self.further += len(texts) > 1
        number = texts.index(text) + 1
        return model if number == 1 else f"{model} ({number})"


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    if kind is Kind.COMPARISONS:
        yield from _read_judge(file, companions)
        return
    tests = Rows()
    yield from read_rows(file, tests.read)
    if tests.flags:
        places = ", ".join(f"{place.unit} {place.line} {name}" for place, name in tests.flags[:5])
        text = f"{len(tests.flags)} response(s) are true or false instead of a text ({places})"
        yield Note(file.place(), f"{text}; they are taken as that word")
    if tests.further:
        text = f"{tests.further} answer(s) are another text of the same model for the same prompt"
        yield Note(file.place(), f"{text}; they are kept as answers without a model")


def _read_judge(file: InputFile, companions: Companions) -> Iterator[Item]:
    tests: dict[int, Row] = {}
    for other in companions.get(Kind.PAIRS, ()):
        rows = Rows()
        for _ in read_rows(other, rows.read):
            pass
        tests |= rows.rows
    if not tests:
        yield file.problem(0, "it names rows of the test set by number; import the test set with it")
        return
    name = _verdict_of(frozenset(file.columns()))
    model = file.cased_stem.partition("-testset")[0]
    judge = judge_of(file, model, model=model)
    yield judge
    yield from read_rows(file, lambda fields: _judged(fields, tests, judge, name))


def _judged(fields: Fields, tests: Mapping[int, Row], judge: RaterRecord, name: str) -> Iterator[Item]:
    number = fields.integer("idx")
    row = tests.get(-1 if number is None else number)
    if row is None:
        fields.problem("idx", f"the test set has no row {number}")
        return
    said = fields.required_text(f"{name}{RESULT}").lower()
    if said not in (*SAID, NOT_READ):
        fields.problem(f"{name}{RESULT}", f'"{said}" is not one of 1, 2, Tie, 0 and {NOT_READ}')
    yield row.rated(
        judge.slug,
        "judge",
        fields.place,
        rating=SAID.get(said),
        reason="" if said in SAID else "unparsable",
        rationale=fields.text(f"{name}_reason"),
        rater_from_path=True,
    )


FORMAT: Final = Format(
    "pandalm",
    "PandaLM test set",
    "idx, cmp_key, instruction, response1, response2 and annotator1 to annotator3 (test set), or idx and a "
    "field that ends in _result (a judge's verdicts)",
    recognise,
    read,
    told=SUBSET_AND_JUDGE,
)
