"""Shares of trials with Wilson's score interval (1927)."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from leaderboard.stats.checks import ParameterError, check_level


@dataclass(frozen=True)
class Share:
    """A share of trials with its interval; None without a trial."""

    count: int
    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None


def wilson_share(count: int, n: int, level: float = 95.0) -> Share:
    check_trials(count, n, level)
    return Share(count, n, count / n, *wilson_ends(count / n, n, level)) if n else Share(0, 0)


def check_trials(count: int, n: int, level: float) -> None:
    """Raise ParameterError for a count or a level that cannot be."""
    check_level(level, "level")
    if not 0 <= count <= n:
        raise ParameterError(f"count is {count} of {n} trials; it must lie between 0 and their number")


def wilson_ends(share: float, n: float, level: float) -> tuple[float, float]:
    """The ends at ``level`` percent of a share of ``n`` independent trials.

    With ties counted half it is too wide: points then vary less than wins.
    """
    return wilson(share, n, NormalDist().inv_cdf(0.5 + level / 200.0))


def wilson(share: float, n: float, quantile: float) -> tuple[float, float]:
    """The ends for so many standard errors."""
    squared = quantile**2 / n
    middle = (share + squared / 2.0) / (1.0 + squared)
    reach = quantile / (1.0 + squared) * sqrt(share * (1.0 - share) / n + squared / (4.0 * n))
    return max(0.0, min(share, middle - reach)), min(1.0, max(share, middle + reach))
