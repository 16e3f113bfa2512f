"""How often each rating was given, as shown on screen: 1 is the first completion, whoever wrote it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.stats.errors import RatingError
from leaderboard.stats.tie_bands import TIE_BAND


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
    if points not in TIE_BAND:
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
