"""Test and retest: one rater asked again about one pair in the same order, with nothing changed."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from leaderboard.stats.bias.clustered import mean_estimate, prompt_numbers, rounded, share_estimate, sums
from leaderboard.stats.bias.flips import verdicts
from leaderboard.stats.bias.orders import preference
from leaderboard.stats.games import IntArray
from leaderboard.stats.tie_bands import TieBand


@dataclass(frozen=True)
class Repeats:
    """``n`` answers beside the one the same rater gave before, on the same pair in the same order.

    ``exact`` is the share with the very rating, ``same`` that with the same verdict (first, tie or second),
    ``distance`` the mean distance of the two ratings as a share of the scale's length; each has its interval
    over prompts. None where a number does not exist.
    """

    n: int
    prompts: int
    exact: float | None
    exact_low: float | None
    exact_high: float | None
    same: float | None
    same_low: float | None
    same_high: float | None
    distance: float | None
    distance_low: float | None
    distance_high: float | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, rounded to 1e-6."""
        return rounded(asdict(self))


def repeats(
    pair: IntArray,
    rater: IntArray,
    prompt: IntArray,
    swapped: IntArray,
    rating: IntArray,
    points: IntArray,
    level: float = 95.0,
    band: TieBand | None = None,
) -> Repeats:
    """How alike answers are that were given twice, from ratings as shown in the order they were given.

    An answer given a third time is held against the second. ``band`` holds the ties of its scale, if not the
    usual ones.
    """
    order = np.lexsort((np.arange(len(pair)), swapped, rater, pair))  # stable: the earlier answer first
    asked = np.stack((pair, rater, swapped.astype(np.int64)))[:, order]
    again = np.flatnonzero((asked[:, 1:] == asked[:, :-1]).all(axis=0))
    before, after = order[again], order[again + 1]
    numbers = prompt_numbers(prompt[after], len(after))
    count = sums(numbers, np.ones(len(after)))
    lean, given = verdicts(rating, points, band), preference(rating, points)
    apart = np.abs(given[after] - given[before]) / 2.0
    exact = share_estimate(sums(numbers, (apart == 0).astype(np.float64)), count, level)
    same = share_estimate(sums(numbers, (lean[after] == lean[before]).astype(np.float64)), count, level)
    distance = mean_estimate(sums(numbers, apart), count, level)
    return Repeats(
        n=exact.n,
        prompts=exact.prompts,
        exact=exact.value,
        exact_low=exact.low,
        exact_high=exact.high,
        same=same.value,
        same_low=same.low,
        same_high=same.high,
        distance=distance.value,
        distance_low=None if distance.low is None else max(0.0, distance.low),
        distance_high=None if distance.high is None else min(1.0, distance.high),
    )
