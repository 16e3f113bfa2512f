"""Quantiles of bootstrap samples and central intervals of any level."""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import numpy as np

from leaderboard.stats.checks import FloatArray, IntArray, NoGamesError, ParameterError, whole_number
from leaderboard.stats.games import Games
from leaderboard.stats.resampling import LARGEST, check_seed

# What every bootstrap does with its rounds: check them, cut them into blocks, share those among threads.


T = TypeVar("T")

MOST_ROUNDS: Final = 1_000_000
"""Their ratings take 8 MB for each contestant; no interval needs as many."""


def in_blocks(run: Callable[[IntArray], T], rounds: int, size: int, threads: int) -> list[T]:
    """What ``run`` makes of each block of round numbers, in their order."""
    blocks = [np.arange(start, min(start + size, rounds)) for start in range(0, rounds, size)]
    if threads == 1 or len(blocks) == 1:
        return [run(block) for block in blocks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, blocks))


def resamplable(games: Games) -> Games:
    """The games, if there are some and not too many to draw from; raise a StatsError otherwise."""
    check_count(len(games))
    return games


def check_count(games: int) -> None:
    """Raise a StatsError if there is no game to draw, or too many to draw from."""
    if not games:
        raise NoGamesError("there are no games to resample")
    if games > LARGEST:
        raise ParameterError(f"there are {games} games; at most {LARGEST} can be resampled")


def check_rounds(rounds: int) -> int:
    """Return the number of rounds; raise ParameterError where there are none, or more than memory holds."""
    if whole_number("rounds", rounds) < 1:
        raise ParameterError(f"rounds is {rounds}; it must be at least 1")
    if rounds > MOST_ROUNDS:
        raise ParameterError(f"rounds is {rounds}; it must be at most {MOST_ROUNDS}")
    return rounds


def check_run(rounds: int, seed: int, threads: int | None) -> None:
    """Raise ParameterError for numbers no bootstrap can run with."""
    check_rounds(rounds)
    if threads is not None and whole_number("threads", threads) < 1:
        raise ParameterError(f"threads is {threads}; it must be at least 1")
    check_seed(seed)


LEVELS: Final = (50.0, 80.0, 90.0, 95.0, 99.0)
"""Percent; what depends on the level of an interval is kept with every standing for each of these."""

KEPT_PERCENTILES: Final = (0.5, 2.5, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 97.5, 99.5)
"""Kept with every standing, whatever the level shown: the ends of the intervals of LEVELS."""


def check_level(interval: float, name: str = "interval") -> float:
    """Return the level of a central interval in percent; raise ParameterError naming it outside 0..100."""
    if not (math.isfinite(interval) and 0 < interval < 100):
        raise ParameterError(f"{name} is {interval}; it must be a percentage between 0 and 100")
    return float(interval)


def bounds(interval: float) -> tuple[float, float]:
    """The lower and upper percentile of a central interval: 90 gives 5 and 95."""
    tail = (100.0 - check_level(interval)) / 2.0
    return round(tail, 9), round(100.0 - tail, 9)


def percentiles(samples: FloatArray, wanted: tuple[float, ...]) -> FloatArray:
    """Percentiles of shape (len(wanted), contestants), interpolated linearly between order statistics."""
    result: FloatArray = np.percentile(samples, wanted, axis=0)
    return result


def central_interval(samples: FloatArray, interval: float) -> tuple[FloatArray, FloatArray]:
    """Lower and upper end, each of shape (contestants,), of the central interval of the level in percent."""
    low, high = percentiles(samples, bounds(interval))
    return low, high


def student_quantiles(
    rating: FloatArray, standard_error: FloatArray, units: int, wanted: tuple[float, ...]
) -> FloatArray:
    """Percentiles of Student's t around each rating, of shape (len(wanted), contestants).

    ``units`` games or clusters give one degree of freedom less. NaN where the standard error is.
    """
    from scipy.special import stdtrit

    reach = stdtrit(max(1, units - 1), np.array(wanted) / 100.0)
    result: FloatArray = rating + np.multiply.outer(reach, standard_error)
    return result


def median(samples: FloatArray) -> FloatArray:
    """The median of each contestant's samples."""
    result: FloatArray = np.median(samples, axis=0)
    return result
