"""How much of both answers may be seen at a moment. Pure.

Both answers are released together, character by character, so that nothing tells which model was slow:

- Nothing is seen until both can be: each is complete, or has come as far as the first place to stop.
- The pace is a little under what the shorter one has had so far, so that both hardly ever stop for more: the
  slow one's whole sentences would show in where they stop. Where they do, it is at a round number.
- Once the shorter one is complete the pace stays, also where the other goes on alone.
- The end of an answer shows only once all of it is released.

Moments are in seconds.
"""

from dataclasses import dataclass, replace
from typing import Final

RATE: Final = 240.0  # characters a second, of each answer: faster than anybody reads
CAUTION: Final = 0.9  # of the pace so far
SHORTEST: Final = 1.0  # seconds, added to those so far: pieces come together
AT_ONCE: Final = 3.0  # seconds, in which both are complete that are not held to a pace
STOP: Final = 60  # characters, at a multiple of which both stop


@dataclass(frozen=True)
class Side:
    """An answer: how many characters of it may be released, whether more of it can come, when it began."""

    length: int
    is_complete: bool = False
    since: float | None = None


Sides = tuple[Side, Side]


@dataclass(frozen=True)
class Release:
    """Characters of each answer that could be seen at ``moment``, and how many a second from then on."""

    begun: float
    moment: float
    released: int = 0
    pace: float | None = None


def released_at(moment: float, before: Release | None, sides: Sides) -> Release | None:
    """What may be seen at a moment, from what could be seen before it; None until both can be seen."""
    if before is None:
        if not (all(side.length for side in sides) and _there(sides, 0)):
            return None
        before = Release(moment, moment)
    now = _gone_on(moment, before, sides)
    return replace(now, pace=_pace(moment, now, sides))


def _gone_on(moment: float, before: Release, sides: Sides) -> Release:
    pace = before.pace or RATE
    steps = max(int((moment - before.moment) * pace), 0)
    there = max(_there(sides, before.released), before.released)
    # The moment at which the last of them was released, so that no part of a character is lost.
    if before.released + steps < there:
        return replace(before, released=before.released + steps, moment=before.moment + steps / pace)
    if _there(sides, there) > there:  # one has ended here, and the other goes on
        reached = before.moment + (there - before.released) / pace
        return _gone_on(moment, replace(before, released=there, moment=reached), sides)
    return replace(before, released=there, moment=max(moment, before.moment))


def _there(sides: Sides, released: int) -> int:
    """The characters up to which both answers can be seen: the end of one first, then what the other has."""
    ahead = [side for side in sides if not (side.is_complete and side.length <= released)]
    ends = [side.length if side.is_complete else side.length // STOP * STOP for side in ahead]
    return min(ends) if ends else max(side.length for side in sides)


def _pace(moment: float, now: Release, sides: Sides) -> float:
    seconds = moment - min(now.begun if side.since is None else side.since for side in sides)
    if all(side.is_complete for side in sides) and (seconds < AT_ONCE or now.pace is None):
        return RATE
    shorter = min(sides, key=lambda side: side.length)
    if shorter.is_complete and now.pace is not None:
        return now.pace
    return min(max(CAUTION * shorter.length / (max(seconds, 0.0) + SHORTEST), 1.0), RATE)
