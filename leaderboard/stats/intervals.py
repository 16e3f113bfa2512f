"""Intervals: levels, percentiles of samples, Student's t around estimates, shares of trials."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from leaderboard.stats.checks import FloatArray, ParameterError

# Percent. Standings keep what depends on the level for each of these.
LEVELS: Final = (50.0, 80.0, 90.0, 95.0, 99.0)
# The ends of the intervals of LEVELS, and the median.
KEPT_PERCENTILES: Final = (0.5, 2.5, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 97.5, 99.5)


def check_level(interval: float, name: str = "interval") -> float:
    """The level of a central interval in percent; raises ParameterError outside 0..100."""
    # What rounds to 0 or 100 is neither, here and where it is written.
    if not (0.0 < 1.0 - interval / 100.0 < 1.0 and 0.0 < float(f"{interval:g}") < 100.0):
        raise ParameterError(f"{name} is {interval}; it must be a percentage between 0 and 100")
    return float(interval)


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


@dataclass(frozen=True)
class Share:
    """A share of trials with its interval; None without a trial."""

    count: int
    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None


def wilson_share(count: int, n: int, level: float = 95.0) -> Share:
    """The share with Wilson's score interval (1927)."""
    _check(count, n, level)
    if n == 0:
        return Share(0, 0)
    quantile = float(ndtri(0.5 + level / 200.0))
    return Share(count, n, count / n, *wilson(count / n, n, quantile))


def exact_share(count: int, n: int, level: float = 95.0) -> Share:
    """The share with the exact binomial interval of Clopper and Pearson (1934)."""
    _check(count, n, level)
    if n == 0:
        return Share(0, 0)
    tail = (1.0 - level / 100.0) / 2.0
    low = float(betaincinv(count, n - count + 1, tail)) if count else 0.0
    high = float(betaincinv(count + 1, n - count, 1.0 - tail)) if count < n else 1.0
    return Share(count, n, count / n, low, high)


def _check(count: int, n: int, level: float) -> None:
    check_level(level, "level")
    if not 0 <= count <= n:
        raise ParameterError(f"count is {count} of {n} trials; it must lie between 0 and their number")


def wilson(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's interval of a share of n observations."""
    squared = quantile**2 / n
    middle = (share + squared / 2.0) / (1.0 + squared)
    reach = quantile / (1.0 + squared) * float(np.sqrt(share * (1.0 - share) / n + squared / (4.0 * n)))
    return max(0.0, min(share, middle - reach)), min(1.0, max(share, middle + reach))


def student_reach(prompts: float, level: float) -> float:
    """How many standard errors an interval of the level in percent reaches to either side."""
    return float(stdtrit(prompts - 1.0, 0.5 + level / 200.0))


def normal_interval(
    rating: FloatArray, standard_error: FloatArray, level: float, units: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Both ends of the interval of the level in percent; NaN where there is no standard error.

    With ``units``, Student's t with one degree of freedom less takes the place of the normal distribution.
    """
    tail = 0.5 + check_level(level) / 200.0
    reach = standard_error * (ndtri(tail) if units is None else stdtrit(max(1, units - 1), tail))
    return rating - reach, rating + reach
