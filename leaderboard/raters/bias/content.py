"""What a snapshot stores of position and length bias: the tables ``ratings`` and ``length``.

Intervals are NAME_low and NAME_high, over prompts, at the table's level in percent. None where undefined.
"""

from collections.abc import Sequence
from typing import Final, NotRequired, TypedDict

from leaderboard.stats.bias_results import Flips, Histogram, LengthEffect, Position, ScoreDifferences

MOST_IN_ONE_ORDER: Final = 0.75
"""Where more pairs came in the same order, what looks like a preference for a place may be one for models."""


def in_one_order(swapped: float, shown: float) -> bool:
    return max(swapped, shown - swapped) > MOST_IN_ONE_ORDER * shown


class Scale(Histogram):
    position: NotRequired[Position | None]


class Ratings(TypedDict):
    """The table ``ratings``. ``band`` is there where ties are not the usual ones."""

    band: NotRequired[str]
    comparisons: int
    swapped: int
    level: float
    scales: Sequence[Scale]
    flips: Flips | None
    scores: ScoreDifferences | None


class Measured(LengthEffect):
    name: str  # of the measure


class Length(TypedDict):
    """The table ``length``: ``n`` comparisons are of texts that are known, ``unknown`` are not."""

    n: int
    unknown: int
    level: float
    tokenizer: str
    measures: Sequence[Measured]
