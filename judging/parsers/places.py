"""Finding the one passage of an answer that is read."""

import re
from dataclasses import dataclass
from typing import Final

from judging.parsers.replies import Place

FIELD: Final = re.compile(
    r"[\s*_`#\[(]*(?:(?:my|the|final|overall)\s+)*verdict[\s*_`\"']*[:：]", re.IGNORECASE
)
"""What stands before a verdict in a field; one in a quotation is somebody else's."""


@dataclass(frozen=True)
class Passage:
    """A line of an answer: its text, its offset in the answer, and the rest, which explains it."""

    text: str
    start: int
    rest: str


def passage(answer: str, place: Place) -> Passage | None:
    """The passage of a non-empty answer that stands in this place; None where there is none."""
    body = answer.strip()
    start = answer.index(body)
    if place is Place.ONLY_LINE:
        return None if "\n" in body else Passage(body, start, "")
    if place is Place.FIRST_LINE:
        line, _, rest = body.partition("\n")
        return Passage(line, start, rest.strip())
    before, newline, line = body.rpartition("\n")
    found = Passage(line, start + len(before) + len(newline), before.strip())
    if place is Place.LAST_LINE:
        return found
    label = FIELD.match(line)
    return Passage(line[label.end() :], found.start + label.end(), found.rest) if label else None
