"""Flips: one rater asked about one pair in both orders, and the verdict changed with the order.

The verdict is who is better, or a tie: a rating in the band of ties of the scale. A rater who goes by the
contents prefers the same completion whichever stands first; one who prefers whatever stands first flips.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bias.clustered import prompt_numbers, rounded, share_estimate, sums
from leaderboard.stats.errors import LengthMismatchError
from leaderboard.stats.games import IntArray
from leaderboard.stats.tie_bands import TieBand, tied_ratings


@dataclass(frozen=True)
class Flips:
    """``pairs`` were asked about in both orders by one rater, ``flipped`` of them got another verdict.

    ``rate`` is their share with its interval over prompts; ``to_first`` of the flipped went to whatever was
    shown first, ``to_second`` to what was shown second. ``exact`` got the same rating, mirrored.
    """

    pairs: int
    prompts: int
    flipped: int
    rate: float | None
    low: float | None
    high: float | None
    to_first: int
    to_second: int
    exact: int

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, rounded to 1e-6."""
        return rounded(asdict(self))


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
    """Flips among ratings as shown, given as parallel arrays; None where nobody was asked in both orders.

    ``swapped`` tells which were shown the other way round. Of several ratings of a pair by a rater in one
    order the first counts. ``band`` holds the ties of its scale, if not the usual ones. Raises
    LengthMismatchError where the arrays differ in length.
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
    prompts = prompt_numbers(given[2][one], len(one))
    share = share_estimate(sums(prompts, place != 0), sums(prompts, np.ones(len(one))), level)
    preference, steps = 2 * ratings - scale - 1, scale - 1
    exact = preference[one] * steps[other] + preference[other] * steps[one] == 0
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


def verdicts(rating: IntArray, points: IntArray, band: TieBand | None = None) -> IntArray:
    """-1 where what is shown first is better, 1 where the second is, 0 for a tie.

    Ties are those of ``band`` on its scale, and the usual ones on others.
    """
    found: IntArray = np.sign(2 * rating - points - 1)
    for scale, ties in tied_ratings(band).items():
        found[(points == scale) & np.isin(rating, ties)] = 0
    return found


def both_orders(
    pair: npt.NDArray[Any], rater: npt.NDArray[Any], swapped: npt.NDArray[np.bool_]
) -> tuple[IntArray, IntArray]:
    """Places of the first rating in either order, for each pair and rater that have both."""
    pairs, raters = (np.unique(column, return_inverse=True)[1].reshape(-1) for column in (pair, rater))
    asked = pairs.astype(np.int64) * (int(raters.max(initial=0)) + 1) + raters
    found = []
    for order in (False, True):
        places = np.flatnonzero(swapped == order)
        key, first = np.unique(asked[places], return_index=True)
        found.append((key, places[first]))
    (keys, one), (other_keys, other) = found
    _, here, there = np.intersect1d(keys, other_keys, assume_unique=True, return_indices=True)
    return one[here], other[there]
