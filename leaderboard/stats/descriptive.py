"""How often each rating was given, as shown on screen: 1 is the first completion, whoever wrote it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.rating.scales import POINTS
from leaderboard.stats.checks import FloatArray, IntArray, RatingError
from leaderboard.stats.games import Games

# Describing amounts: how many, how large, how spread.


@dataclass(frozen=True)
class Summary:
    """``count`` amounts that are known; None where a number needs more of them.

    ``sd`` divides by count - 1. Quartiles are interpolated linearly (type 7 of Hyndman and Fan 1996, as in
    NumPy and R).
    """

    count: int
    mean: float | None
    sd: float | None
    min: float | None
    q1: float | None
    median: float | None
    q3: float | None
    max: float | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, rounded to 1e-6."""
        return {
            name: round(value, 6) + 0.0 if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }


def describe(values: npt.ArrayLike) -> Summary:
    """Describe amounts; NaN stands for one that is not known and is left out."""
    given = np.asarray(values, dtype=np.float64).reshape(-1)
    known = given[~np.isnan(given)]
    if not len(known):
        return Summary(0, None, None, None, None, None, None, None)
    low, q1, median, q3, high = (float(each) for each in np.percentile(known, (0, 25, 50, 75, 100)))
    spread = float(known.std(ddof=1)) if len(known) > 1 else None
    return Summary(len(known), float(known.mean()), spread, low, q1, median, q3, high)


@dataclass(frozen=True)
class Histogram:
    """Ratings as shown, on one scale.

    ``counts[r - 1]`` is how often rating r was given, ``unscored`` counts the answers without a rating by
    their reason, ``scored`` is the sum of counts. ``share_first`` is the share of ratings on the first
    completion's side among those on either side (None without any), ``mean`` the mean rating (None
    without any); without any bias they are 0.5 and (points + 1) / 2.
    """

    points: int
    counts: tuple[int, ...]
    unscored: Mapping[str, int]
    scored: int
    share_first: float | None
    mean: float | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, rounded to 1e-6."""
        return {
            "points": self.points,
            "counts": list(self.counts),
            "unscored": dict(self.unscored),
            "scored": self.scored,
            "share_first": None if self.share_first is None else round(self.share_first, 6),
            "mean": None if self.mean is None else round(self.mean, 6),
        }


def rating_histogram(rating: npt.ArrayLike, points: int, unscored: Iterable[str] = ()) -> Histogram:
    """Count ratings in presentation order; ``unscored`` holds one reason for each answer without a rating.

    Raises RatingError for a scale that does not exist or a rating outside it.
    """
    if points not in POINTS:
        raise RatingError(f"points is {points}; there are scales of 2, 3, 5 and 8 points")
    ratings = np.asarray(rating)
    wrong = ~np.isin(ratings, np.arange(1, points + 1))
    if wrong.any():
        raise RatingError(f"rating {ratings[wrong][0]} is outside the scale 1-{points}")
    counts = np.bincount(ratings.astype(np.int64), minlength=points + 1)[1:]
    first, second = int(counts[: points // 2].sum()), int(counts[(points + 1) // 2 :].sum())
    scored = int(counts.sum())
    return Histogram(
        points,
        tuple(int(count) for count in counts),
        dict(sorted(Counter(unscored).items())),
        scored,
        first / (first + second) if first + second else None,
        float((counts * np.arange(1, points + 1)).sum() / scored) if scored else None,
    )


# Win, tie and game-count matrices. Read across a row: entry [i, j] is about i against j.


@dataclass(frozen=True, eq=False)
class Matrices:
    """Square matrices of shape (contestants, contestants).

    ``wins[i, j]`` counts the games i won against j, ``ties`` and ``games`` are symmetric, and
    ``win_rate[i, j]`` is (wins + ties / 2) / games, NaN where the two never met.
    """

    wins: IntArray
    ties: IntArray
    games: IntArray
    win_rate: FloatArray


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
