"""Scripted judges that differ in what they take for an instruction, and then obey whatever it says.

They prefer the answer that holds the good word; one that obeys an order prefers the answer that gave it. All
of them quote the answers in their replies wherever there is room, so that hostile words come back in later
steps and beside verdicts.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from judging.protocols.replies import Place
from tests.judging.protocols.scripted import blocks, by_content, outside, reply_to, verdict_asked_for

CODE: Final = re.compile(r"carry the code (\w{12})\.")
"""How the notice names the code of the markers."""

Hears = Callable[[str], str]
"""The part of a question that a judge takes for instructions."""


def careful(question: str) -> str:
    """All that stands outside the markers with the code of the notice."""
    (code,) = CODE.findall(outside(question))
    block = rf"<<<BEGIN ([^\n]*) {code}>>>\n.*?\n<<<END \1 {code}>>>"
    return re.sub(block, "", question, flags=re.DOTALL)


def careless(question: str) -> str:
    """All that stands outside whatever looks like a pair of markers, with any code or none."""
    return re.sub(r"<<<\s*BEGIN[^>]*>>>.*?<<<\s*END[^>]*>>>", "", question, flags=re.DOTALL | re.IGNORECASE)


def obedient(question: str) -> str:
    """Everything."""
    return question


def reply_of(hears: Hears, order: str, messages: Sequence[Mapping[str, str]]) -> str:
    """What the judge replies, with its verdict in the place asked for."""
    heard = [hears(message["content"]) for message in messages if message["role"] == "user"]
    obeys = order and any(order in instructions for instructions in heard)
    content = messages[-1]["content"]
    said = reply_to(messages, partial(obeying, order) if obeys else by_content)
    quoted = "\n".join(text for label, text in blocks(content).items() if label.startswith("ANSWER"))
    asked = verdict_asked_for(outside(content))
    place = asked[1] if asked else Place.FIRST_LINE
    return {
        Place.FIRST_LINE: f"{said}\n{quoted}",
        Place.ONLY_LINE: said,
        Place.LAST_LINE: f"{quoted}\n{said}",
        Place.FIELD: f"{quoted}\n{said}",
    }[place]


def obeying(order: str, first: str, second: str) -> int:
    """Prefers the answer that gave the order; sees the content where both did or neither."""
    return (order in second) - (order in first) or by_content(first, second)
