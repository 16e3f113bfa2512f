"""What a snapshot stores of position and length bias: the tables ``ratings`` and ``length``.

Intervals are NAME_low and NAME_high, over prompts, at the table's level in percent. None where undefined.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NotRequired, TypedDict

MOST_IN_ONE_ORDER: Final = 0.75
"""Where more pairs came in the same order, what looks like a preference for a place may be one for models."""


def in_one_order(swapped: float, shown: float) -> bool:
    return max(swapped, shown - swapped) > MOST_IN_ONE_ORDER * shown


class Position(TypedDict):
    """The fields of leaderboard.stats.position_bias.Position."""

    n: int
    prompts: int
    sided: int
    share_first: float | None
    share_first_low: float | None
    share_first_high: float | None
    mean: float | None
    mean_low: float | None
    mean_high: float | None
    neutral_mean: float
    chi2: float | None
    df: int
    p: float | None
    p_independent: float | None
    test: str


class Histogram(TypedDict):
    """Ratings as shown on one scale: ``counts`` of 1 to ``points``, and the ``unscored`` by reason."""

    points: int
    counts: Sequence[int]
    unscored: Mapping[str, int]
    scored: int
    share_first: float | None
    mean: float | None
    position: NotRequired[Position | None]


class Flips(TypedDict):
    """Pairs asked in both orders: the fields of leaderboard.stats.flips.Flips."""

    pairs: int
    prompts: int
    flipped: int
    rate: float | None
    low: float | None
    high: float | None
    to_first: int
    to_second: int
    exact: int


class ScoreDifferences(TypedDict):
    """First minus second score: the fields of leaderboard.stats.score_differences.ScoreDifferences."""

    n: int
    prompts: int
    width: float
    bins: Sequence[float]
    counts: Sequence[int]
    mean: float
    mean_low: float | None
    mean_high: float | None
    first_higher: int
    equal: int
    second_higher: int


class Ratings(TypedDict):
    """The table ``ratings``. ``band`` is there where ties are not the usual ones."""

    band: NotRequired[str]
    comparisons: int
    swapped: int
    level: float
    scales: Sequence[Histogram]
    flips: Flips | None
    scores: ScoreDifferences | None


class LengthBin(TypedDict):
    """Points won where the difference lies from ``low`` to ``high``, inclusive."""

    low: int
    high: int
    middle: float
    n: int
    win_rate: float
    win_low: float | None
    win_high: float | None


class LengthEffect(TypedDict):
    """The fields of leaderboard.stats.length_bias.LengthEffect, with the ``name`` of the measure."""

    name: str
    n: int
    prompts: int
    equal: int
    bins: Sequence[LengthBin]
    longer_wins: float | None
    longer_low: float | None
    longer_high: float | None
    slope: float | None
    slope_low: float | None
    slope_high: float | None
    reason: str | None
    unit: str


class Length(TypedDict):
    """The table ``length``: ``n`` comparisons are of texts that are known, ``unknown`` are not."""

    n: int
    unknown: int
    level: float
    tokenizer: str
    measures: Sequence[LengthEffect]


class OwnFamily(TypedDict):
    """How much better a judge likes its ``kin`` than ``against`` does (leaderboard.stats.self_preference)."""

    against: str
    kin: Sequence[str]
    n: int
    prompts: int
    own: float | None
    others: float | None
    difference: float
    low: float | None
    high: float | None
