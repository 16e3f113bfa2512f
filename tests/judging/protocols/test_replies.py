"""Replies as models really send them, and what is read of each: ``replies.txt`` has every form and place.

A new protocol adds a row there where its form has not stood in its place before; the last test says so.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from judging.protocols.answer_scales import AnswerScale, answer_scale
from judging.protocols.parsing import read_verdict
from judging.protocols.replies import Place, ReplyText
from tests.judging.protocols.scripted import COMPARING, configured

LIKERT: Final = answer_scale("likert", 8)


class Case(NamedTuple):
    """A reply to a question of this form and place, and the rating or the reason that it comes to."""

    scale: AnswerScale
    place: Place
    text: str
    expected: int | str
    finish_reason: str = "stop"


SCALES: Final = {
    "LIKERT": LIKERT,
    "LIKERT_5": answer_scale("likert", 5),
    "BINARY": answer_scale("binary", 2),
    "SCORES": answer_scale("scores", 3),
    "GRADES": answer_scale("grades", 5),
    "LETTERS": answer_scale("letters", 3),
    "NINE": AnswerScale("score", 3, 0, 9),
    "FIVE": AnswerScale("score", 3, 1, 5),
    "TEN": AnswerScale("score", 3, 1, 10),
}
PLACES: Final = {
    "FIRST": Place.FIRST_LINE,
    "ONLY": Place.ONLY_LINE,
    "LAST": Place.LAST_LINE,
    "FIELD": Place.FIELD,
}
TEXTS: Final = {
    "{THINKING}": "<think>\nThe first is correct. Maybe 2, maybe 3.\n</think>\n\n",
    "{REASONS}": "Answer A forgets the units, answer B has them.\n\n",
}


def read_cases() -> Iterator[Case]:
    for line in Path(__file__).with_name("replies.txt").read_text(encoding="utf-8").split("\n"):
        if line and not line.startswith("#"):
            head, quote, said = line.partition('"')
            scale, place, expected, *ended = head.split()
            text = str(json.loads(quote + said))
            for name, shown in TEXTS.items():
                text = text.replace(name, shown)
            read = int(expected) if expected.isdecimal() else expected
            yield Case(SCALES[scale], PLACES[place], text, read, *ended)


LONG: Final = ("9" * 5000, f"It is clear. Rating: [[{'9' * 5000}]]", "Rating" + " " * 20000 + "x")
TABLE: Final = (
    *read_cases(),
    *(Case(LIKERT, Place.FIRST_LINE, text, "unparsable") for text in LONG),
)


def name_of(case: Case) -> str:
    return f"{case.scale.form}-{case.place.value}-{case.text[-24:]!r}"


@pytest.mark.parametrize("case", TABLE, ids=name_of)
def test_what_is_read(case: Case) -> None:
    verdict = read_verdict(ReplyText(case.text, case.finish_reason), case.scale, case.place)
    if isinstance(case.expected, int):
        assert (verdict.rating, verdict.reason, verdict.status) == (case.expected, "", "scored")
    else:
        assert (verdict.rating, verdict.reason, verdict.status) == (None, case.expected, "unscored")
        assert (verdict.rationale, verdict.scores) == ("", None)


def test_every_form_and_place_that_a_protocol_asks_for_has_good_and_bad_replies() -> None:
    asked = {
        (asking.scale_of(step).form, asking.place_of(step))
        for protocol in COMPARING.values()
        for form in protocol.forms
        for asking in [configured(protocol.name, form)]
        for step in asking.steps
        if step.asks_verdict
    }
    good = {(case.scale.form, case.place) for case in TABLE if isinstance(case.expected, int)}
    bad = {(case.scale.form, case.place) for case in TABLE if isinstance(case.expected, str)}
    assert asked <= good & bad
