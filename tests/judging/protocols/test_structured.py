"""Verdicts as JSON: every object that a schema allows is read, in every scale and place."""

import json
from itertools import product

import jsonschema_rs
import pytest

from arena.rules import scales
from judging.endpoints.adapting import JSON_WAYS, adapted
from judging.endpoints.costs import most_option_tokens, most_prompt_tokens
from judging.protocols.answer_scales import GRADES, LETTERS, AnswerScale, answer_scale
from judging.protocols.parsing import read_lines, read_verdict
from judging.protocols.replies import Place, ReplyText
from judging.protocols.structured import EXPLAINS_FIRST, MOST_TOKENS, asked_as_json, schema_of

OTHERS = {"binary": 2, "scores": 3, "grades": 5, "letters": 3, "yes_no": 8}
SCALES = (
    *(answer_scale("likert", points) for points in scales.POINTS),
    *(answer_scale(form, points) for form, points in OTHERS.items()),
    *(AnswerScale("score", 8, lowest, highest) for lowest, highest in ((0, 9), (1, 5), (1, 10), (0, 100))),
)
PLACES = tuple(place for place in Place if place is not Place.LINES)
WHY = 'The first says "3 of 8"; B\nis longer.'
SHAPES = ("{}", "```json\n{}\n```", "  {}\n", "<think>7</think>{}")


def verdicts(scale):
    """The fields of every object that a scale allows, with what each says."""
    if scale.form == "likert":
        return [({"rating": rating}, rating) for rating in range(1, scale.points + 1)]
    if scale.form == "score":
        return [({"score": score}, score) for score in range(scale.lowest, scale.highest + 1)]
    if scale.form == "scores":
        return [({"A": a, "B": b}, 2 + (b > a) - (a > b)) for a, b in product(range(1, 11), repeat=2)]
    named = {"binary": "AB", "letters": LETTERS, "grades": GRADES, "yes_no": ("yes", "no")}[scale.form]
    return [({"verdict": name}, rating) for rating, name in enumerate(named, 1)]


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{scale.name}-{scale.lowest}-{scale.highest}")
@pytest.mark.parametrize("place", PLACES)
def test_every_object_that_a_schema_allows_is_read(scale, place):
    schema = schema_of(scale, place)
    for fields, rating in verdicts(scale):
        explained = {"explanation": WHY} if place in EXPLAINS_FIRST else {}
        found = {**explained, **fields}
        assert jsonschema_rs.is_valid(schema, found)
        for shape in SHAPES:
            for indent in (None, 2):
                read = read_verdict(ReplyText(shape.format(json.dumps(found, indent=indent))), scale, place)
                assert read.rating == rating, (found, read)
                assert read.rationale.rstrip(".") == explained.get("explanation", "").rstrip(".")


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{scale.name}-{scale.lowest}-{scale.highest}")
def test_objects_that_a_schema_forbids_are_no_verdicts(scale):
    schema = schema_of(scale, Place.ONLY_LINE)
    wrong = ({}, {"rating": -1}, {"rating": 1000}, {"verdict": "both"}, {"verdict": None}, {"remark": "5"})
    for fields in wrong:
        assert not jsonschema_rs.is_valid(schema, fields)
        assert read_verdict(ReplyText(json.dumps(fields)), scale, Place.ONLY_LINE).rating is None


def test_requirements_are_answered_by_their_numbers():
    schema = schema_of(answer_scale("yes_no", 8), Place.LINES)
    said = {"1": "yes", "2": "no", "12": "yes"}
    assert jsonschema_rs.is_valid(schema, said)
    read = read_lines(ReplyText(json.dumps(said)), [1, 2, 12])
    assert {number: verdict.rating for number, verdict in read.items()} == {1: 1, 2: 2, 12: 1}


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{scale.name}-{scale.lowest}-{scale.highest}")
@pytest.mark.parametrize("place", Place)
def test_the_question_names_the_fields_and_less_is_sent_than_is_reserved(scale, place):
    messages = [{"role": "system", "content": "Be fair."}, {"role": "user", "content": "Which?"}]
    asked = asked_as_json(messages, scale, place)
    assert asked[0] == messages[0]
    assert messages[1]["content"] == "Which?", "the messages of the protocol are left as they are"
    words = asked[1]["content"]
    assert words.startswith("Which?\n\n")
    assert "JSON" in words, "endpoints refuse their JSON mode without the word"
    schema = schema_of(scale, place)
    assert all(json.dumps(name) in words for name in schema.get("properties", ()))
    beside = max(most_option_tokens(adapted({}, schema, {"json": way})) for way in JSON_WAYS)
    assert beside + most_prompt_tokens(asked) - most_prompt_tokens(messages) <= MOST_TOKENS
