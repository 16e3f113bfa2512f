"""AlpacaEval: outputs of models, perhaps with scores, and preferences between two outputs. Pure.

Prompts are named by the digest of their text. The order shown is not recorded; a note says so.
"""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Final, NamedTuple

from arena.data.formats.files import InputFile
from arena.data.formats.ours import scale
from arena.data.formats.reading import Companions, Fields, Format, Head, Kind, digest, read_rows
from arena.data.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    Item,
    Note,
    PromptRecord,
    ScoreRecord,
)
from arena.data.formats.text_scores import NO_SCORE

OUTPUT: Final = frozenset({"instruction", "output", "generator"})
ANNOTATION: Final = frozenset({"instruction", "output_1", "output_2", "preference"})

ANNOTATORS: Final = ("annotator", "annotator_index", "judge", "rater")
"""Who gave a score."""

TIE: Final = Decimal("1.5")
NO_ANSWER: Final = Decimal(-1)  # an unparsable reply in the annotator's cache; result files hold null


class Preference(NamedTuple):
    """A rating on three points, with scores if the outputs were weighed."""

    rating: int | None
    scores: tuple[Decimal, Decimal] | None = None


def recognise(head: Head) -> Kind | None:
    if head.fields >= ANNOTATION:
        return Kind.COMPARISONS
    if head.fields >= OUTPUT:
        is_scored = "score" in head.fields and not head.fields.isdisjoint(ANNOTATORS)
        return Kind.SCORES if is_scored else Kind.COMPLETIONS
    return None


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    if kind is Kind.COMPARISONS:
        text = "the order in which two outputs were shown is not in the file; read no position bias from it"
        yield Note(file.place(), text)
    builders = {Kind.COMPARISONS: _annotation, Kind.COMPLETIONS: _output, Kind.SCORES: _scored}
    yield from read_rows(file, builders[kind])


def _output(fields: Fields) -> Iterator[Item]:
    prompt = _prompt(fields)
    yield prompt
    yield CompletionRecord(
        prompt=prompt.id,
        contestant=fields.required_text("generator"),
        turns=fields.answer("output"),
        extra=fields.rest(),
        place=fields.place,
    )


def _scored(fields: Fields) -> Iterator[Item]:
    """An output with a score, on the study's scale unless the row has one."""
    prompt = _prompt(fields)
    yield prompt
    generator = fields.required_text("generator")
    turns = fields.answer("output")
    yield CompletionRecord(
        prompt=prompt.id, contestant=generator, turns=turns, implied=True, place=fields.place
    )
    rater, kind = _rater(fields)
    lowest, highest = scale(fields)
    score = _score(fields)
    seconds = fields.number("time_per_example", least=0, most=1e9)
    yield ScoreRecord(
        prompt=prompt.id,
        contestant=generator,
        rater=rater,
        rater_kind=kind,
        score=score,
        reason="" if score is not None else "empty" if kind == "person" else "unparsable",
        lowest=lowest,
        highest=highest,
        raw_reply=_raw_reply(fields),
        rationale=fields.text("concise_explanation"),
        seconds=None if seconds is None else float(seconds),
        extra=fields.rest(),
        place=fields.place,
    )


def _score(fields: Fields) -> float | None:
    """A number; null and -1 are none."""
    score = fields.number("score", least=-1e9, most=1e9)
    return None if score is None or score == NO_SCORE else float(score)


def _prompt(fields: Fields) -> PromptRecord:
    """The prompt of a row, joined as AlpacaEval asks it."""
    parts = fields.required_text("instruction"), fields.text("input")
    instruction = "\n\n".join(part for part in parts if part)
    return PromptRecord(
        id=digest(instruction),
        turns=(instruction,),
        category=fields.optional_text("dataset"),
        implied=True,
        place=fields.place,
    )


def _annotation(fields: Fields) -> Iterator[Item]:
    prompt = _prompt(fields)
    yield prompt
    # People's preferences may leave out who wrote the outputs, which then are known by their texts.
    is_named = "generator_1" in fields or "generator_2" in fields
    names = fields.two_names("generator_1", "generator_2", "generator") if is_named else ("", "")
    ids = []
    for name, field in zip(names, ("output_1", "output_2"), strict=True):
        turns = fields.answer(field) if is_named else fields.turns(field)
        own_id = "" if is_named else digest(*turns)
        yield CompletionRecord(
            prompt=prompt.id,
            contestant=name or None,
            id=own_id,
            turns=turns,
            implied=True,
            place=fields.place,
        )
        ids.append(own_id)
    if ids[0] and ids[0] == ids[1]:
        fields.problem("output_2", "the same text as output_1, and no generators tell them apart")
    rater, kind = _rater(fields)
    preference = fields.number("preference", least=-1e9, most=1e9)
    rating, scores = _weighed(fields, preference)
    seconds = fields.number("time_per_example", least=0, most=1e9)
    exact = {} if scores is None else {"preference": float(preference or 0)}
    yield ComparisonRecord(
        prompt=prompt.id,
        first=names[0],
        second=names[1],
        first_id=ids[0],
        second_id=ids[1],
        rater=rater,
        rater_kind=kind,
        points=3,
        rating=rating,
        reason="" if rating is not None else "empty" if kind == "person" else "unparsable",
        scores=scores,
        raw_reply=_raw_reply(fields),
        rationale=fields.text("concise_explanation"),
        seconds=None if seconds is None else float(seconds),
        extra={**fields.rest(), **exact},
        place=fields.place,
    )


def _rater(fields: Fields) -> tuple[str, str]:
    """Name and kind: a number is a person, as in the files that several people annotated."""
    number = "annotator_index" if "annotator_index" in fields else "annotator"
    is_person = number == "annotator_index" or isinstance(fields.peek("annotator"), int)
    if number not in fields:
        number = next((name for name in ANNOTATORS if name in fields), number)
    name = fields.required_text(number)
    return (f"annotator-{name}", "person") if is_person else (name, "judge")


def _weighed(fields: Fields, preference: Decimal | None) -> Preference:
    """The rating of a preference: 1 is output_1, 2 is output_2, 1.5 (0 in old files) is a tie.

    A value between is one plus the weight of output_2. The heavier side wins; both weights are the scores.
    """
    if preference is None or preference == NO_ANSWER:
        return Preference(None)
    if preference == 0:
        return Preference(2)
    if not 1 <= preference <= 2:
        fields.problem(
            "preference", f"{preference} is not between 1 and 2; 0 is a tie, -1 and null no answer"
        )
    rating = 2 if preference == TIE else 1 if preference < TIE else 3
    if preference in (1, TIE, 2):
        return Preference(rating)
    return Preference(rating, (2 - preference, preference - 1))


def _raw_reply(fields: Fields) -> str:
    """The annotator's reply: a text, or the JSON of its endpoint's response."""
    reply = fields.take("raw_completion")
    if reply is None or isinstance(reply, str):
        return reply or ""
    return json.dumps(reply, ensure_ascii=False)


FORMAT = Format(
    "alpaca-eval",
    "AlpacaEval outputs and annotations",
    "instruction, output and generator (AlpacaEval outputs); "
    "instruction, output_1, output_2 and preference (AlpacaEval annotations)",
    recognise,
    read,
)
