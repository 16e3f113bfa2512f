"""Descriptions: amounts, how often each rating was given, and matrices of wins, ties and games."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arena.rules.scales import POINTS
from leaderboard.stats.bias_results import Histogram
from leaderboard.stats.checks import FloatArray, IntArray, RatingError
from leaderboard.stats.games import Games
from leaderboard.stats.plain_values import Result


@dataclass(frozen=True)
class Summary(Result):
    """A description of the known amounts; None where a number needs more of them."""

    count: int
    mean: float | None
    sd: float | None  # divides by count - 1
    min: float | None
    q1: float | None  # type 7 of Hyndman and Fan (1996)
    median: float | None
    q3: float | None
    max: float | None


def describe(values: npt.ArrayLike) -> Summary:
    """Describe amounts, NaN standing for unknown ones."""
    given = np.asarray(values, dtype=np.float64).reshape(-1)
    known = given[~np.isnan(given)]
    if not len(known):
        return Summary(0, None, None, None, None, None, None, None)
    low, q1, median, q3, high = (float(each) for each in np.percentile(known, (0, 25, 50, 75, 100)))
    spread = float(known.std(ddof=1)) if len(known) > 1 else None
    return Summary(len(known), float(known.mean()), spread, low, q1, median, q3, high)


def on_scale(rating: npt.ArrayLike, points: int) -> IntArray:
    """The ratings; raises RatingError for an unknown scale or a rating outside it."""
    if points not in POINTS:
        raise RatingError(f"points is {points}; there are scales of 2, 3, 5 and 8 points")
    ratings = np.asarray(rating).reshape(-1)
    wrong = ~np.isin(ratings, np.arange(1, points + 1))
    if wrong.any():
        raise RatingError(f"rating {ratings[wrong][0]} is outside the scale 1-{points}")
    return ratings.astype(np.int64)


def rating_histogram(rating: npt.ArrayLike, points: int, unscored: Iterable[str] = ()) -> Histogram:
    """Count ratings as shown, and reasons for answers without one; raises RatingError."""
    counts = np.bincount(on_scale(rating, points), minlength=points + 1)[1:]
    first, second = int(counts[: points // 2].sum()), int(counts[(points + 1) // 2 :].sum())
    scored = int(counts.sum())
    return Histogram(
        points=points,
        counts=counts.tolist(),
        unscored=dict(sorted(Counter(unscored).items())),
        scored=scored,
        share_first=first / (first + second) if first + second else None,
        mean=float((counts * np.arange(1, points + 1)).sum() / scored) if scored else None,
    )


@dataclass(frozen=True, eq=False)
class Matrices:
    """Matrices (contestants, contestants): entry [i, j] is about i against j."""

    wins: IntArray
    ties: IntArray
    games: IntArray
    win_rate: FloatArray  # (wins + ties / 2) / games, NaN where two never met


def matrices(games: Games) -> Matrices:
    """Count the games of every pair of contestants."""
    wins = _count(games, games.score == 1.0) + _count(games, games.score == 0.0).T
    half = _count(games, games.score == 0.5)
    ties = half + half.T
    played = wins + wins.T + ties
    rate = np.full(played.shape, np.nan)
    np.divide(wins + 0.5 * ties, played, out=rate, where=played > 0)
    return Matrices(wins, ties, played, rate)


def _count(games: Games, chosen: "np.typing.NDArray[np.bool_]") -> IntArray:
    size = games.contestants
    code = games.a[chosen] * size + games.b[chosen]
    return np.bincount(code, minlength=size * size).reshape(size, size).astype(np.int64)
