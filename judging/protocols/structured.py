"""Verdicts as JSON: the schema of each answer scale, and the words that ask for it. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from arena.texts.dialogue import Message
from judging.protocols.answer_scales import GRADES, LETTERS, AnswerScale
from judging.protocols.replies import Place

Schema = Mapping[str, Any]

EXPLAINS_FIRST: Final = (Place.LAST_LINE, Place.FIELD)
"""Places of a verdict that stands after its explanation; elsewhere a judge gives the verdict alone."""

MOST_NAMED: Final = 20
"""A scale of more numbers is described by its ends."""

MOST_TOKENS: Final = 2000
"""More than what is sent beside a question in any form of JSON can be, with the words that ask for it."""

_AB: Final = 'where "A" is the answer shown first and "B" the one shown second'


def schema_of(scale: AnswerScale, place: Place | None) -> Schema:
    """The JSON schema of a verdict, with its explanation before it where the protocol asks for one."""
    if place is Place.LINES:  # a field for each requirement, named by its number
        return {"type": "object", "additionalProperties": {"type": "string", "enum": ["yes", "no"]}}
    explained = {"explanation": {"type": "string"}} if place in EXPLAINS_FIRST else {}
    fields = {**explained, **_verdict(scale)}
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def asked_as_json(messages: Sequence[Message], scale: AnswerScale, place: Place | None) -> list[Message]:
    """The messages of a question, the last of which says what object is wanted."""
    *before, last = messages
    return [*before, {**last, "content": f"{last['content']}\n\n{_instruction(scale, place)}"}]


def _verdict(scale: AnswerScale) -> dict[str, Schema]:
    if scale.form == "likert":
        return {"rating": _whole(1, scale.points)}
    if scale.form == "score":
        return {"score": _whole(scale.lowest, scale.highest)}
    if scale.form == "scores":
        return {name: _whole(scale.lowest, scale.highest) for name in "AB"}
    offered = {"binary": ("A", "B"), "letters": sorted(LETTERS), "grades": GRADES, "yes_no": ("yes", "no")}
    return {"verdict": {"type": "string", "enum": list(offered[scale.form])}}


def _whole(lowest: int, highest: int) -> Schema:
    if highest - lowest >= MOST_NAMED:
        return {"type": "integer", "minimum": lowest, "maximum": highest}
    return {"type": "integer", "enum": list(range(lowest, highest + 1))}  # some endpoints know no minimum


def _instruction(scale: AnswerScale, place: Place | None) -> str:
    begin = "Whatever was said about the form of your reply, reply with one JSON object and nothing else"
    if place is Place.LINES:
        return f'{begin}: "yes" or "no" under the number of each requirement, such as {{"1": "yes"}}.'
    fields = schema_of(scale, place)["properties"]
    shape = ", ".join(f"{json.dumps(name)}: {_shown(field)}" for name, field in fields.items())
    more = ', and "C" a tie' if scale.form == "letters" else ""
    named = f", {_AB}{more}" if scale.form in ("binary", "letters", "grades", "scores") else ""
    return f"{begin}: {{{shape}}}{named}."


def _shown(field: Schema) -> str:
    values = field.get("enum", ())
    if field["type"] == "integer":
        ends = (values[0], values[-1]) if values else (field["minimum"], field["maximum"])
        return f"a whole number from {ends[0]} to {ends[1]}"
    return " or ".join(map(json.dumps, values)) or '"..."'
