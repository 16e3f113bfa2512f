"""Ratings as opinions about pairs: which of the two is better and by how much, in the pair's own orientation.

Which completion of a pair is called its first is arbitrary. So every statistic of this folder enters each
pair twice, once as it is and once mirrored; ratings are mapped to [-1, 1] around the middle of their scale,
where mirroring is a change of sign. Renaming contestants then cannot change a number, and ratings on
different scales can be compared.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.errors import LengthMismatchError, RatingError
from leaderboard.stats.plain_values import FloatArray, IntArray
from leaderboard.stats.tie_bands import TIE_BAND, TieBand, tied_ratings

STEPS: Final = 28
"""Preferences are counted in steps of 1/28: whole numbers on every scale of 2, 3, 5 or 8 points."""

FIRST, TIE, SECOND = 0, 1, 2
"""Verdicts in the pair's own orientation."""


@dataclass(frozen=True, eq=False)
class OpinionRows:
    """Scored ratings as parallel arrays, in the order they were given.

    ``pair`` numbers the pair, ``rater`` names the rater by any integer, ``rating`` lies on 1..``points`` and
    is turned to the pair's own orientation: 1 says that the pair's first completion is much better. ``band``
    holds the ties of its scale, if not the usual ones.
    """

    pair: IntArray
    rater: IntArray
    rating: IntArray
    points: IntArray
    band: TieBand | None = None

    def __len__(self) -> int:
        return len(self.pair)

    def only(self, chosen: npt.NDArray[Any]) -> "OpinionRows":
        """Those of a mask, or at some places."""
        pair, rater, rating, points = self.pair, self.rater, self.rating, self.points
        return OpinionRows(pair[chosen], rater[chosen], rating[chosen], points[chosen], self.band)

    @property
    def preference(self) -> FloatArray:
        """In steps of 1/28 from -28 (the first is much better) to 28: whole numbers, so sums are exact."""
        steps = (2 * self.rating - self.points - 1) * (STEPS // (self.points - 1))
        return steps.astype(np.float64)

    @property
    def verdict(self) -> IntArray:
        """FIRST, TIE or SECOND, with the ties of each scale."""
        found = np.where(2 * self.rating < self.points + 1, FIRST, SECOND)
        for points, ties in tied_ratings(self.band).items():
            found[(self.points == points) & np.isin(self.rating, ties)] = TIE
        return found


def opinion_rows(
    pair: npt.ArrayLike,
    rater: npt.ArrayLike,
    rating: npt.ArrayLike,
    points: npt.ArrayLike,
    swapped: npt.ArrayLike,
    band: TieBand | None = None,
) -> OpinionRows:
    """Ratings as shown, turned to the orientation of their pairs; ``swapped`` says which were shown turned.

    ``pair`` holds numbers from 0; ``rater``, ``points`` and ``swapped`` may be one value for all. Raises a
    StatsError for arrays that do not fit together and for ratings off their scale.
    """
    number, given = np.asarray(pair).reshape(-1), np.asarray(rating).reshape(-1)
    if len(number) != len(given):
        raise LengthMismatchError(f"there are {len(number)} pairs but {len(given)} ratings")
    scale = np.broadcast_to(np.asarray(points), given.shape)
    on_scale = np.isin(scale, tuple(TIE_BAND)) & (given >= 1) & (given <= scale) & (given == np.floor(given))
    if not on_scale.all():
        raise RatingError("every rating must lie on a scale of 2, 3, 5 or 8 points")
    own, size = given.astype(np.int64), scale.astype(np.int64)
    turned = np.broadcast_to(np.asarray(swapped, dtype=bool), given.shape)
    return OpinionRows(
        number.astype(np.int64),
        np.broadcast_to(np.asarray(rater, dtype=np.int64), given.shape),
        np.where(turned, size + 1 - own, own),
        size,
        band,
    )


@dataclass(frozen=True, eq=False)
class PairSums:
    """What some raters said of each pair, summed: arrays of shape (pairs,), ``verdicts`` of (pairs, 3).

    ``total`` and ``squares`` are sums of preferences, and of their squares, in steps.
    """

    count: FloatArray
    total: FloatArray
    squares: FloatArray
    verdicts: FloatArray

    @property
    def mean(self) -> FloatArray:
        """The mean preference on [-1, 1]; 0 where nobody rated.

        One division of whole numbers, so means that are equal are equal to the last bit.
        """
        return np.asarray(self.total / (STEPS * np.maximum(self.count, 1.0)))


def pair_sums(rows: OpinionRows, pairs: int) -> PairSums:
    """Sum the opinions on each of the pairs 0..pairs-1."""
    preference, verdict = rows.preference, rows.verdict
    return PairSums(
        np.bincount(rows.pair, minlength=pairs).astype(np.float64),
        np.bincount(rows.pair, preference, pairs).astype(np.float64),
        np.bincount(rows.pair, preference**2, pairs).astype(np.float64),
        np.bincount(3 * rows.pair + verdict, minlength=3 * pairs).reshape(pairs, 3).astype(np.float64),
    )
