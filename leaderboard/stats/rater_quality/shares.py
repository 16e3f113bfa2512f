"""Shares of independent trials with their intervals."""

from dataclasses import dataclass

from leaderboard.stats.bias.clustered import wilson
from leaderboard.stats.errors import ParameterError
from leaderboard.stats.intervals import check_level


@dataclass(frozen=True)
class Share:
    """``count`` of ``n`` trials, and the interval of the share; None where there was no trial."""

    count: int
    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None


def wilson_share(count: int, n: int, level: float = 95.0) -> Share:
    """The share with Wilson's score interval (1927)."""
    from scipy.special import ndtri

    _check(count, n, level)
    if n == 0:
        return Share(0, 0)
    quantile = float(ndtri(0.5 + level / 200.0))
    return Share(count, n, count / n, *wilson(count / n, n, quantile))


def exact_share(count: int, n: int, level: float = 95.0) -> Share:
    """The share with the exact binomial interval of Clopper and Pearson (1934).

    It holds the truth at least as often as it says, also for few trials; where chance alone is in question,
    as for the side that a rater prefers, that is the side to err on.
    """
    from scipy.special import betaincinv

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
