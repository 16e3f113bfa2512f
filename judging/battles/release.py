"""How much of both answers may be seen at a moment. Pure.

Both answers are released together, character by character, so that nothing tells which model was slow:

- Nothing is seen until both have begun.
- While both are being written, the shorter one holds both back, and none is faster than RATE.
- From where one of them ends, the other goes on at the mean pace so far, whichever was the slow one. So do
  both once both are complete.
- The end of an answer shows only once all of it is released.

Moments are in seconds.
"""

from dataclasses import dataclass, replace
from typing import Final

RATE: Final = 240.0  # characters a second, of each answer: faster than anybody reads
SHORTEST: Final = 1.0  # seconds, in which a pace can be told


@dataclass(frozen=True)
class Side:
    """An answer: how many characters of it may be released, and whether more of it can come."""

    length: int
    is_complete: bool = False


Sides = tuple[Side, Side]


@dataclass(frozen=True)
class Release:
    """Characters of each answer that could be seen at ``moment``. ``pace``: once it is settled."""

    begun: float
    moment: float
    released: int = 0
    pace: float | None = None


def released_at(moment: float, before: Release | None, sides: Sides) -> Release | None:
    """What may be seen at a moment, from what could be seen before it; None until both have begun."""
    if before is None:
        return Release(moment, moment) if all(side.length for side in sides) else None
    return _frozen(_gone_on(moment, before, sides), sides)


def _gone_on(moment: float, before: Release, sides: Sides) -> Release:
    pace = RATE if before.pace is None else before.pace
    steps = max(int((moment - before.moment) * pace), 0)
    there = max(_there(sides, is_settled=before.pace is not None), before.released)
    if before.released + steps >= there:
        return replace(before, released=there, moment=max(moment, before.moment))
    # The moment at which the last of them was released, so that no part of a character is lost.
    return replace(before, released=before.released + steps, moment=before.moment + steps / pace)


def _there(sides: Sides, *, is_settled: bool) -> int:
    """The characters up to which both answers can be seen: the end of one only goes by at a settled pace."""
    open_ends = [side.length for side in sides if not (side.is_complete and is_settled)]
    return min(open_ends) if open_ends else max(side.length for side in sides)


def _frozen(now: Release, sides: Sides) -> Release:
    has_ended = any(side.is_complete and side.length <= now.released for side in sides)
    if now.pace is not None or not (has_ended or all(side.is_complete for side in sides)):
        return now
    seconds = now.moment - now.begun
    mean = now.released / seconds if seconds >= SHORTEST else RATE
    return replace(now, pace=min(max(mean, 1.0), RATE))
