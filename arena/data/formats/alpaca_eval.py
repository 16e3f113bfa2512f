"""AlpacaEval: outputs of models, perhaps with scores, and preferences between two outputs. Pure.

Prompts are named by the digest of their text. The order shown is not recorded; a note says so.
"""

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from arena.data.formats.ours import record_of
from arena.data.formats.pairs import Pair, Side
from arena.data.formats.reading import Fields, Format, Kind, Shape, by_row, digest
from arena.data.formats.records import CompletionRecord, Item, PromptRecord
from arena.data.formats.text_scores import NO_SCORE

ANNOTATORS: Final = ("annotator", "annotator_index", "judge", "rater")
"""Who gave a score."""

TIE: Final = Decimal("1.5")
NO_ANSWER: Final = Decimal(-1)  # an unparsable reply in the annotator's cache; result files hold null


def _output(fields: Fields) -> Iterator[Item | None]:
    prompt = _prompt(fields)
    yield prompt
    contestant = fields.required_text("generator")
    yield record_of(Kind.COMPLETIONS, fields, {"turns": "output"}, prompt=prompt.id, contestant=contestant)


def _scored(fields: Fields) -> Iterator[Item | None]:
    """An output with a score, on the study's scale unless the row has one."""
    prompt = _prompt(fields)
    yield prompt
    whose: dict[str, Any] = {"prompt": prompt.id, "contestant": fields.required_text("generator")}
    yield CompletionRecord(**whose, turns=fields.answer("output"), implied=True, place=fields.place)
    rater = _rater(fields)
    number = fields.number("score", least=-1e9, most=1e9)
    whose["score"] = None if number is None or number == NO_SCORE else float(number)
    said = _said(fields, rater, has_value=whose["score"] is not None)
    yield record_of(Kind.SCORES, fields, {"lowest": "lowest", "highest": "highest"}, **whose, **said)


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
    # People's preferences may leave out who wrote the outputs, which then are known by their texts.
    is_named = "generator_1" in fields or "generator_2" in fields
    prompt = _prompt(fields)
    if is_named:
        names = fields.two_names("generator_1", "generator_2", "generator")
        pair = Pair.of(prompt, names, fields.answer("output_1"), fields.answer("output_2"))
    else:
        first, second = fields.turns("output_1"), fields.turns("output_2")
        pair = Pair(prompt, Side("", digest(*first), first), Side("", digest(*second), second))
        if first == second:
            fields.problem("output_2", "the same text as output_1, and no generators tell them apart")
    yield from pair.records()
    rater = _rater(fields)
    rating, preference = _weighed(fields)
    said = _said(fields, rater, has_value=rating is not None)
    extra = fields.rest()
    if preference is not None and rater[1] == "judge":
        said["expected"] = float(2 * preference - 1)  # so that its share of a win is AlpacaEval's weight
    if preference not in (None, 1, TIE, 2):
        extra["preference"] = float(preference)
        said["scores"] = (2 - preference, preference - 1)
    yield pair.rated(points=3, rating=rating, extra=extra, **said)


def _rater(fields: Fields) -> tuple[str, str]:
    """Name and kind: a number is a person, as in the files that several people annotated."""
    number = "annotator_index" if "annotator_index" in fields else "annotator"
    is_person = number == "annotator_index" or isinstance(fields.peek("annotator"), int)
    if number not in fields:
        number = next((name for name in ANNOTATORS if name in fields), number)
    name = fields.required_text(number)
    return (f"annotator-{name}", "person") if is_person else (name, "judge")


def _said(fields: Fields, rater: tuple[str, str], *, has_value: bool) -> dict[str, Any]:
    """The annotator of a row, and what it says beside the preference or score."""
    name, kind = rater
    seconds = fields.seconds("time_per_example")
    reply = fields.take("raw_completion")  # a text, or the JSON of an endpoint's response
    if not isinstance(reply, str | None):
        reply = json.dumps(reply, ensure_ascii=False)
    return {
        "rater": name,
        "rater_kind": kind,
        **({} if has_value else {"reason": "empty" if kind == "person" else "unparsable"}),
        "raw_reply": reply or "",
        "rationale": fields.text("concise_explanation"),
        "seconds": seconds,
    }


def _weighed(fields: Fields) -> tuple[int | None, Decimal | None]:
    """The rating of a preference, and the preference.

    1 is output_1, 2 is output_2, 1.5 (0 in old files) a tie.
    A value between is one plus the weight of output_2. The heavier side wins.
    """
    preference = fields.number("preference", least=-1e9, most=1e9)
    if preference is None or preference == NO_ANSWER:
        return None, None
    if preference == 0:
        preference = TIE
    if not 1 <= preference <= 2:
        reason = f"{preference} is not between 1 and 2; 0 is a tie, -1 and null no answer"
        fields.problem("preference", reason)
    rating = 2 if preference == TIE else 1 if preference < TIE else 3
    return rating, preference


_NO_ORDER: Final = (
    "the order in which two outputs were shown is not in the file; read no position bias from it"
)

FORMAT = Format(
    "alpaca-eval",
    "AlpacaEval outputs and annotations",
    "instruction, output and generator (AlpacaEval outputs); "
    "instruction, output_1, output_2 and preference (AlpacaEval annotations)",
    (
        Shape(Kind.COMPARISONS, "instruction output_1 output_2 preference", by_row(_annotation, _NO_ORDER)),
        Shape(Kind.SCORES, f"instruction output generator score {'|'.join(ANNOTATORS)}", by_row(_scored)),
        Shape(Kind.COMPLETIONS, "instruction output generator", by_row(_output)),
    ),
)
