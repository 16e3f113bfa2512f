"""What is measured of position and length bias, as pages read it from a snapshot; the measures return it.

Intervals are NAME_low and NAME_high, over prompts. None where undefined.
"""

from collections.abc import Mapping, Sequence
from typing import TypedDict


class Position(TypedDict):
    """How one kind of rater leans to what is shown first, by the ratings on one scale."""

    n: int
    prompts: int
    sided: int  # ratings not in the exact middle
    share_first: float | None  # of those
    share_first_low: float | None
    share_first_high: float | None
    mean: float | None
    mean_low: float | None
    mean_high: float | None
    neutral_mean: float  # without bias
    chi2: float | None  # Bowker's
    df: int
    p: float | None  # taking ratings of one prompt together
    p_independent: float | None  # taking each rating alone
    test: str


class Histogram(TypedDict):
    """Ratings as shown on one scale."""

    points: int
    counts: Sequence[int]  # of the ratings from 1 on
    unscored: Mapping[str, int]  # answers without a rating, by reason
    scored: int
    share_first: float | None  # of the ratings with a side; 0.5 without bias
    mean: float | None  # (points + 1) / 2 without bias


class Flips(TypedDict):
    """Verdicts of one rater on pairs in both orders; the rate has its interval over prompts."""

    pairs: int
    prompts: int
    flipped: int  # pairs with different verdicts
    rate: float | None
    low: float | None
    high: float | None
    to_first: int  # flips to what was shown first
    to_second: int
    exact: int  # pairs with the same rating, mirrored


class ScoreDifferences(TypedDict):
    """First minus second score, as a histogram in bins of one width, one of them centred on 0."""

    n: int
    prompts: int
    width: float
    bins: Sequence[float]  # left edges
    counts: Sequence[int]
    mean: float  # 0 without position bias
    mean_low: float | None
    mean_high: float | None
    first_higher: int
    equal: int
    second_higher: int


class LengthBin(TypedDict):
    """The share of points won by completions that were larger than the other by ``low`` to ``high``."""

    low: int  # inclusive
    high: int  # inclusive
    middle: float  # median
    n: int
    win_rate: float
    win_low: float | None
    win_high: float | None


class LengthEffect(TypedDict):
    """What size has to do with winning."""

    n: int
    prompts: int
    equal: int  # comparisons of equal sizes
    bins: Sequence[LengthBin]
    longer_wins: float | None  # share of points, of the others
    longer_low: float | None
    longer_high: float | None
    slope: float | None  # logistic regression of points on log2((a + 1) / (b + 1))
    slope_low: float | None
    slope_high: float | None
    reason: str | None  # why there is no slope
    unit: str
