"""PandaLM's test set: pairs of two models' answers with three people's verdicts, and judges' verdicts. Pure.

A model that has several texts for one prompt keeps the first; each further one is an answer without a model,
by an id of its own. A judge's file names rows of the test set by number: both are imported together.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from arena.data.formats.files import InputFile
from arena.data.formats.pairs import Pair, Side
from arena.data.formats.reading import (
    SUBSET_AND_JUDGE,
    Fields,
    Format,
    Head,
    Kind,
    Shape,
    digest,
    judge_of,
    read_rows,
)
from arena.data.formats.records import Item, Note, Place, PromptRecord, RaterRecord
from arena.data.formats.values import json_type

ANNOTATORS: Final = ("annotator1", "annotator2", "annotator3")
RATINGS: Final = {1: 1, 0: 2, 2: 3}
"""Ratings on three points by the better response; 0 is a tie."""

RESULT: Final = "_result"  # the end of the field of a judge's verdict, which begins with its name
SAID: Final = {"1": 1, "tie": 2, "0": 2, "2": 3}
NOT_READ: Final = "garbage"


def _verdict_of(fields: frozenset[str]) -> str:
    """The name of a judge's field, without its end; empty if there is none."""
    return next((name.removesuffix(RESULT) for name in sorted(fields) if name.endswith(RESULT)), "")


def _is_judged(head: Head) -> bool:
    return _verdict_of(head.fields) != ""


class Rows:
    """Gives the texts of a test set their names, row by row."""

    def __init__(self) -> None:
        self.pairs: dict[int, Pair] = {}
        self.flags: list[tuple[Place, str]] = []  # texts that are true or false
        self.further = 0
        self._texts: dict[tuple[str, str], list[str]] = {}

    def read(self, fields: Fields) -> Iterator[Item]:
        number = fields.required_integer("idx", "it numbers the rows")
        models = fields.text("cmp_key").split("_")
        if len(models) != 2 or not all(models) or models[0] == models[1]:
            fields.problem("cmp_key", "expected the names of two models, such as llama-7b_opt-7b")
            models = ["", ""]
        prompt = self._prompt(fields)
        first, second = (
            self._side(prompt.id, model, self._text(fields, name))
            for model, name in zip(models, ("response1", "response2"), strict=True)
        )
        pair = Pair(prompt, first, second)
        yield from pair.records()
        if number in self.pairs:
            fields.problem("idx", f"{number} numbers two rows")
        self.pairs[number] = pair
        for annotator in ANNOTATORS:
            found = fields.required_integer(annotator, "1 or 2 is the better response, 0 a tie", 0, 2)
            yield pair.rated(annotator, "person", 3, RATINGS[found])

    def _prompt(self, fields: Fields) -> PromptRecord:
        instruction, given = fields.text("instruction"), fields.text("input")
        prompt = digest(instruction, given)
        if not instruction.strip():
            instruction, given = given, ""  # some rows have nothing but an input
        if not instruction.strip():
            fields.problem("instruction", "missing, and so is the input")
        category = fields.optional_text("motivation_app")
        turns = (instruction,)
        about: dict[str, Any] = {"input": given or None, "implied": True, "place": fields.place}
        return PromptRecord(id=prompt, turns=turns, category=category, **about)

    def _text(self, fields: Fields, name: str) -> str:
        value = fields.take(name)
        if isinstance(value, bool):
            self.flags.append((fields.place, name))
            return str(value).lower()
        if not isinstance(value, str):
            fields.problem(name, f"expected a text, found {json_type(value)}")
            return ""
        return value

    def _side(self, prompt: str, model: str, text: str) -> Side:
        """The answer of the model, or if it has another text for the prompt, one of nobody."""
        texts = self._texts.setdefault((prompt, model), [])
        if text not in texts:
            texts.append(text)
            self.further += len(texts) > 1
        number = texts.index(text) + 1
        return Side(model, model, (text,)) if number == 1 else Side("", f"{model} ({number})", (text,))


def _read_test_set(file: InputFile) -> Iterator[Item]:
    tests = Rows()
    yield from read_rows(file, tests.read)
    if tests.flags:
        places = ", ".join(f"{place.unit} {place.line} {name}" for place, name in tests.flags[:5])
        text = f"{len(tests.flags)} response(s) are true or false instead of a text ({places})"
        yield Note(file.place(), f"{text}; they are taken as that word")
    if tests.further:
        text = f"{tests.further} answer(s) are another text of the same model for the same prompt"
        yield Note(file.place(), f"{text}; they are kept as answers without a model")


def _read_verdicts(file: InputFile) -> Iterator[Item]:
    tests: dict[int, Pair] = {}
    for other in file.beside.get(Kind.PAIRS, ()):
        rows = Rows()
        for _ in read_rows(other, rows.read):
            pass
        tests |= rows.pairs
    if not tests:
        yield file.problem(0, "it names rows of the test set by number; import the test set with it")
        return
    name = _verdict_of(frozenset(file.columns()))
    model = file.cased_stem.partition("-testset")[0]
    judge = judge_of(file, model, model=model)
    yield judge
    yield from read_rows(file, lambda fields: _judged(fields, tests, judge, name))


def _judged(fields: Fields, tests: Mapping[int, Pair], judge: RaterRecord, name: str) -> Iterator[Item]:
    number = fields.integer("idx")
    pair = tests.get(-1 if number is None else number)
    if pair is None:
        fields.problem("idx", f"the test set has no row {number}")
        return
    said = fields.required_text(f"{name}{RESULT}").lower()
    if said not in (*SAID, NOT_READ):
        fields.problem(f"{name}{RESULT}", f'"{said}" is not one of 1, 2, Tie, 0 and {NOT_READ}')
    reason, comment = "" if said in SAID else "unparsable", fields.text(f"{name}_reason")
    about: dict[str, Any] = {"reason": reason, "rationale": comment, "rater_from_path": True}
    yield pair.rated(judge.slug, "judge", 3, SAID.get(said), **about, place=fields.place)


FORMAT: Final = Format(
    "pandalm",
    "PandaLM test set",
    "idx, cmp_key, instruction, response1, response2 and annotator1 to annotator3 (test set), or idx and a "
    "field that ends in _result (a judge's verdicts)",
    (
        Shape(
            Kind.PAIRS, f"idx cmp_key instruction response1 response2 {' '.join(ANNOTATORS)}", _read_test_set
        ),
        Shape(Kind.COMPARISONS, "idx", _read_verdicts, _is_judged),
    ),
    is_typed=True,
    told=SUBSET_AND_JUDGE,
)
