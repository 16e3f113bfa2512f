"""What a panel of judges says, made of what its members said about the same showing of a pair. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena import scales

POINTS: Final = {"majority": 3, "mean": 8}
"""The rating scale of each rule: first, tie or second; and the full scale."""


@dataclass(frozen=True)
class Opinion:
    """A member's rating on a scale of so many points; None where it gave none."""

    rating: int | None
    points: int


@dataclass(frozen=True)
class PanelVerdict:
    """A rating on the scale of the panel's rule, None where no member gave one.

    mean is the mean before it was rounded to the scale, on the same scale; None under the majority rule.
    """

    rating: int | None
    points: int
    mean: float | None = None


def combined(rule: str, opinions: Sequence[Opinion], *, middle_to_second: bool) -> PanelVerdict:
    """The verdict of all members; those without a rating abstain.

    majority: the side that more than half of the voting members take, and a tie where neither side has
    that. mean: the mean of the members' preferences on the common axis from -1 to 1 (arena.scales), put on 8
    points and rounded, halves away from the middle so that the two sides are treated alike. A mean in
    the very middle has no point of its own there; ``middle_to_second`` says which side gets it, and whoever
    asks must draw that fairly.
    """
    given = [(one.rating, one.points) for one in opinions if one.rating is not None]
    points = POINTS[rule]
    if not given:
        return PanelVerdict(None, points)
    if rule == "majority":
        return PanelVerdict(_majority([2 * rating - (of + 1) for rating, of in given]), points)
    preference = math.fsum(scales.preference(rating, of) for rating, of in given) / len(given)
    middle = (points + 1) / 2
    distance = preference * (points - 1) / 2
    if abs(distance) < 1e-9:
        rating = math.ceil(middle) if middle_to_second else math.floor(middle)
        return PanelVerdict(rating, points, middle)
    side = math.copysign(1, distance)
    # From the first point beyond the middle on; 1e-9 takes what floats leave of an exact half.
    steps = max(0, math.floor(abs(distance) + 1e-9))
    return PanelVerdict(round(middle + side * (steps + 0.5)), points, middle + distance)


def _majority(sides: Sequence[int]) -> int:
    first, second = sum(side < 0 for side in sides), sum(side > 0 for side in sides)
    if 2 * first > len(sides):
        return 1
    return 3 if 2 * second > len(sides) else 2
