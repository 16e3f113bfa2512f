"""Intervals: percentiles of samples, Student's t around estimates, Fisher's z, exact ones of shares."""

from typing import Final

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from leaderboard.stats.checks import FloatArray, check_level
from leaderboard.stats.shares import Share, check_trials

# The ends of the intervals of LEVELS, and the median.
KEPT_PERCENTILES: Final = (0.5, 2.5, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 97.5, 99.5)


def bounds(interval: float) -> tuple[float, float]:
    """The lower and upper percentile of a central interval: 90 gives 5 and 95."""
    tail = (100.0 - check_level(interval)) / 2.0
    return round(tail, 9), round(100.0 - tail, 9)


def percentiles(samples: FloatArray, wanted: tuple[float, ...], units: int | None) -> FloatArray:
    """Percentiles (len(wanted), contestants), interpolated linearly, of samples that drew ``units`` units.

    Samples of n units vary less than other units would, by √((n - 1) / n), and percentiles take that as known
    without error (Hesterberg 2015). So each percentile lies as much farther from the median as Student's
    quantile by √(n / (n - 1)) is farther out than the normal one. None leaves them as they are.
    """
    *found, middle = np.percentile(samples, (*wanted, 50.0), axis=0)
    stretch = 1.0 if units is None else _stretch(np.array(wanted) / 100.0, max(2, units))[:, None]
    return np.asarray(middle + stretch * (np.array(found) - middle))


def _stretch(share: FloatArray, units: int) -> FloatArray:
    normal = ndtri(share)
    student = stdtrit(units - 1.0, share) * np.sqrt(units / (units - 1.0))
    return np.asarray(np.divide(student, normal, out=np.ones_like(share), where=normal != 0.0))


def central_interval(
    samples: FloatArray, interval: float, units: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper end (contestants,) of the central interval of the level in percent.

    ``units`` is how many units a round drew, as for ``percentiles``.
    """
    low, high = percentiles(samples, bounds(interval), units)
    return low, high


def student_quantiles(
    rating: FloatArray, standard_error: FloatArray, units: int, wanted: tuple[float, ...]
) -> FloatArray:
    """Percentiles (len(wanted), contestants) of Student's t around each strength, for ``units`` units."""
    reach = stdtrit(max(1, units - 1), np.array(wanted) / 100.0)
    return np.asarray(rating + np.multiply.outer(reach, standard_error))


def exact_share(count: int, n: int, level: float = 95.0) -> Share:
    """The share with the exact binomial interval of Clopper and Pearson (1934)."""
    check_trials(count, n, level)
    if n == 0:
        return Share(0, 0)
    tail = (1.0 - level / 100.0) / 2.0
    low = float(betaincinv(count, n - count + 1, tail)) if count else 0.0
    high = float(betaincinv(count + 1, n - count, 1.0 - tail)) if count < n else 1.0
    return Share(count, n, count / n, low, high)


def student_reach(prompts: float, level: float) -> float:
    """How many standard errors an interval of the level in percent reaches to either side."""
    return float(stdtrit(prompts - 1.0, 0.5 + level / 200.0))


def fisher_ends(value: float, reach: float) -> tuple[float, float]:
    """Both ends of the interval of a coefficient that reaches so far on Fisher's scale, z = artanh(r)."""
    low, high = np.tanh([np.arctanh(value) - reach, np.arctanh(value) + reach]).tolist()
    return low, high


def normal_interval(
    rating: FloatArray, standard_error: FloatArray, level: float, units: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Both ends of the interval of the level in percent; NaN where there is no standard error.

    With ``units``, Student's t with one degree of freedom less takes the place of the normal distribution.
    """
    tail = 0.5 + check_level(level) / 200.0
    reach = standard_error * (ndtri(tail) if units is None else stdtrit(max(1, units - 1), tail))
    return rating - reach, rating + reach
