"""What the order of two completions does to one rater: flips, shifts, and repeated answers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bias_results import Flips
from leaderboard.stats.checks import FloatArray, IntArray, LengthMismatchError
from leaderboard.stats.clustered_means import ClusteredMean, mean_over_prompts, share_over_prompts
from leaderboard.stats.plain_values import Estimate, Result
from leaderboard.stats.verdicts import TieBand, preference, verdicts


def flips(
    pair: npt.ArrayLike,
    rater: npt.ArrayLike,
    prompt: npt.ArrayLike,
    swapped: npt.ArrayLike,
    rating: npt.ArrayLike,
    points: npt.ArrayLike,
    level: float = 95.0,
    band: TieBand | None = None,
) -> Flips | None:
    """Flips among ratings as shown, from parallel arrays; None where nobody was asked in both orders.

    ``swapped`` marks those shown turned; the first rating of a pair in each order counts. ``band`` overrides
    the usual ties of its scale. Raises LengthMismatchError.
    """
    given = [np.asarray(column).reshape(-1) for column in (pair, rater, prompt, swapped, rating, points)]
    if len({len(column) for column in given}) > 1:
        raise LengthMismatchError("the arrays differ in length")
    one, other = both_orders(given[0], given[1], given[3].astype(bool))
    if not len(one):
        return None
    ratings, scale = given[4].astype(np.int64), given[5].astype(np.int64)
    lean = verdicts(ratings, scale, band)
    # In both orders a verdict on the contents has opposite signs, so what is left leans to a place.
    place = lean[one] + lean[other]
    share = share_over_prompts(place != 0, given[2][one], level)
    given_as = preference(ratings, scale)
    exact = given_as[one] + given_as[other] == 0
    return Flips(
        pairs=len(one),
        prompts=share.prompts,
        flipped=int((place != 0).sum()),
        rate=share.value,
        low=share.low,
        high=share.high,
        to_first=int((place < 0).sum()),
        to_second=int((place > 0).sum()),
        exact=int(exact.sum()),
    )


def both_orders(
    pair: npt.NDArray[Any], rater: npt.NDArray[Any], swapped: npt.NDArray[np.bool_]
) -> tuple[IntArray, IntArray]:
    """Places of the first rating in either order, for each pair and rater that have both."""
    pairs, raters = (np.unique(column, return_inverse=True)[1] for column in (pair, rater))
    asked = pairs.astype(np.int64) * (int(raters.max(initial=0)) + 1) + raters
    found = []
    for order in (False, True):
        places = np.flatnonzero(swapped == order)
        key, first = np.unique(asked[places], return_index=True)
        found.append((key, places[first]))
    (keys, one), (other_keys, other) = found
    _, here, there = np.intersect1d(keys, other_keys, assume_unique=True, return_indices=True)
    return one[here], other[there]


# One rater's preferences for a pair in its two orders would cancel if the order did not matter; half their
# sum is the shift.


def shift_in_both_orders(
    pair: IntArray,
    rater: IntArray,
    prompt: IntArray,
    swapped: npt.NDArray[Any],
    rating: IntArray,
    points: IntArray,
    level: float = 95.0,
) -> ClusteredMean:
    """The shift of the pairs that a rater was asked about in both orders, by the first rating in each."""
    one, other = both_orders(pair, rater, swapped.astype(bool))
    given = preference(rating, points)
    return shift((given[one] + given[other]) / 2.0, prompt[one], level)


def shift(preferences: FloatArray, prompt: IntArray, level: float = 95.0) -> ClusteredMean:
    """The mean of preferences as shown."""
    return mean_over_prompts(preferences, prompt, level).clipped(-1.0, 1.0)


@dataclass(frozen=True)
class Repeats(Result):
    """Answers against earlier ones by the same rater on the same pair in the same order."""

    n: int
    prompts: int
    exact: Estimate  # share with the same rating
    same: Estimate  # share with the same verdict
    distance: Estimate  # mean, as a share of the scale


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
    """How alike repeated answers are, from ratings as shown in the order they were given.

    A third answer is compared with the second. ``band`` overrides the usual ties of its scale.
    """
    order = np.lexsort((np.arange(len(pair)), swapped, rater, pair))  # stable: the earlier answer first
    asked = np.stack((pair, rater, swapped.astype(np.int64)))[:, order]
    again = np.flatnonzero((asked[:, 1:] == asked[:, :-1]).all(axis=0))
    before, after = order[again], order[again + 1]
    lean, given = verdicts(rating, points, band), preference(rating, points)
    apart = np.abs(given[after] - given[before]) / 2.0
    exact = share_over_prompts(apart == 0, prompt[after], level)
    same = share_over_prompts(lean[after] == lean[before], prompt[after], level)
    distance = mean_over_prompts(apart, prompt[after], level).clipped(0.0, 1.0)
    return Repeats(exact.n, exact.prompts, exact.estimate, same.estimate, distance.estimate)
