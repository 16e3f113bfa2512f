"""Intervals that hold at every look: the truth is inside all of them at once with the chance of the level.

Somebody who watches a board and stops when two contestants are told apart looks many times. An interval for
one look then misses far more often than its level says; a confidence sequence does not.
"""

import math
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, stdtrit

from leaderboard.stats.checks import FloatArray, check_level

# The number of units at which the sequence for estimates is narrowest.
NARROWEST_AT: Final = 100
_GRID: Final = 2001
# The largest share of the capital that one bet risks.
_MOST_STAKED: Final = 0.5


def every_look_reach(units: int, level: float) -> float:
    """How many standard errors an interval reaches that holds at every look, from so many units.

    The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024 ("Time-uniform
    central limit theory and asymptotic confidence sequences", *Annals of Statistics* 52(6)), for
    any estimate that is asymptotically a mean over units. Student's t with units - 1 degrees of freedom takes
    the place of the normal distribution.
    """
    alpha = 1.0 - check_level(level) / 100.0
    log = -2.0 * math.log(alpha)
    mixed = units * (log + math.log(log + 1.0)) / NARROWEST_AT
    reach = math.sqrt(2.0 * (mixed + 1.0) / mixed * math.log(math.sqrt(mixed + 1.0) / alpha))
    return float(-stdtrit(max(1, units - 1), ndtr(-reach)))


def share_at_every_look(shares: npt.ArrayLike, level: float) -> tuple[float, float]:
    """Both ends of an interval of a mean of numbers from 0 to 1, in the order they came; exact.

    Bets on and against every possible mean, and leaves out those on which the capital grew beyond 1 / alpha
    (the hedged capital of Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by
    betting", *JRSS B* 86(1)). Without any number it is 0 to 1.
    """
    alpha = 1.0 - check_level(level) / 100.0
    x = np.asarray(shares, dtype=np.float64)
    if not len(x):
        return 0.0, 1.0
    stake = _stakes(x, alpha)
    mean = np.linspace(0.0, 1.0, _GRID)
    grown = np.zeros((2, _GRID))
    for value, bet in zip(x.tolist(), stake.tolist(), strict=True):
        with np.errstate(divide="ignore"):
            above = np.minimum(bet, _MOST_STAKED / mean)
            below = np.minimum(bet, _MOST_STAKED / (1.0 - mean))
        grown[0] += np.log1p(above * (value - mean))
        grown[1] += np.log1p(-below * (value - mean))
    # Half the capital bets on larger means and half on smaller ones.
    possible = mean[grown.max(axis=0) + math.log(0.5) < -math.log(alpha)]
    step = 1.0 / (_GRID - 1)
    if not len(possible):
        middle = float(x.mean())
        return middle, middle
    return max(0.0, float(possible[0]) - step), min(1.0, float(possible[-1]) + step)


def _stakes(x: FloatArray, alpha: float) -> FloatArray:
    """What each bet risks, from the numbers before it alone."""
    count = np.arange(1, len(x) + 1)
    mean = (0.5 + np.cumsum(x)) / (count + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (count + 1)
    before = np.concatenate(([0.25], variance[:-1]))
    return np.asarray(np.sqrt(2.0 * math.log(2.0 / alpha) / (before * count * np.log1p(count))))
