"""Whether a rater's votes keep going against those of others: a sequential test by betting.

As Chatbot Arena filters its voters (FastChat, lmsys; idea of e-values: Vovk and Wang 2021, Ville 1939). Each
vote for one of two contestants is compared with what others voted between the same two: p is the share of
them, this vote included, that are as far against the favourite. A bettor stakes everything on p being small
and is paid 1 / (2 p). Votes drawn like those of others lose or break even on average, so the money made from
1, the product M, exceeds 1 / alpha at any time with a probability of at most alpha.

Published is the product in both directions of a fixed order of the contestants (``oriented`` False), either
of which raises the alarm: at most 2 alpha. There the votes of somebody who clicks at random win in one order
of the names what they lose in the other. Oriented to the favourite there is one direction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.errors import LengthMismatchError, ParameterError
from leaderboard.stats.plain_values import FloatArray, IntArray

ALPHA: Final = 0.05
FEWEST_VOTES: Final = 5
"""Votes of a rater from which the alarm may be raised."""


@dataclass(frozen=True)
class Outlier:
    """What betting against a rater brought.

    ``votes`` could be compared with others'; ``most`` is the largest product there was from FEWEST_VOTES
    votes on, ``at`` the vote (from 1) at which the limit was first passed, None where it never was.
    """

    votes: int
    most: float
    at: int | None

    @property
    def flagged(self) -> bool:
        return self.at is not None


def outliers(
    rater: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    won: npt.ArrayLike,
    alpha: float = ALPHA,
    *,
    kept: npt.ArrayLike | None = None,
    oriented: bool = True,
) -> dict[int, Outlier]:
    """Every rater's test, from votes in the order they were given.

    ``first`` and ``second`` are contestants, ``won`` tells whether the first was preferred. Ties are no votes
    here and must be left out. A vote counts for its rater where others voted between the same contestants;
    ``kept`` says which votes count as those of others, all of them unless it is given.
    """
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha is {alpha}; it must lie between 0 and 1")
    who, one, other = (np.asarray(each, dtype=np.int64) for each in (rater, first, second))
    for_first = np.asarray(won, dtype=np.bool_)
    if not len(who) == len(one) == len(other) == len(for_first):
        raise LengthMismatchError("rater, first, second and won must have the same length")
    for_low = np.where(one <= other, for_first, ~for_first)
    key = np.minimum(one, other) * (max(one.max(initial=0), other.max(initial=0)) + 1) + np.maximum(
        one, other
    )
    match = np.unique(key, return_inverse=True)[1]
    counted = np.ones(len(who)) if kept is None else np.asarray(kept, dtype=np.float64)
    others, of_them_low = _others(who, match, for_low, counted)
    known = others > 0
    bets = bets_of(for_low[known], others[known], of_them_low[known], oriented=oriented)
    order = np.argsort(who[known], kind="stable")
    raters, start = np.unique(who[known][order], return_index=True)
    parts = np.split(bets[:, order], start[1:], axis=1) if len(raters) else []
    return {int(pk): _run(part, alpha) for pk, part in zip(raters, parts, strict=True)}


def _others(
    rater: IntArray, match: IntArray, for_low: npt.NDArray[np.bool_], counted: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """How many votes others gave between the contestants of each vote, and how many for the lower number."""
    own = np.unique(match * (rater.max(initial=0) + 1) + rater, return_inverse=True)[1]

    def by_others(weights: FloatArray) -> FloatArray:
        found = np.bincount(match, weights)[match] - np.bincount(own, weights)[own]
        return np.asarray(found, dtype=np.float64)

    return by_others(counted), by_others(counted * for_low)


def bets_of(
    for_low: npt.NDArray[np.bool_], others: FloatArray, low: FloatArray, *, oriented: bool
) -> FloatArray:
    """What each vote pays, as logarithms: one row for each direction.

    ``others`` voted between the same two contestants, ``low`` of them for the one of the lower number.
    """
    share = (np.where(for_low, low, others - low) + 1.0) / (others + 1.0)
    pays, loses = -np.log(2.0 * share), np.full(len(share), -np.log(2.0))
    if not oriented:
        return np.stack((np.where(for_low, pays, loses), np.where(for_low, loses, pays)))
    # With the vote itself: then who is the favourite says nothing about which of the votes is this one.
    ahead = 2.0 * (low + for_low) - (others + 1.0)
    favours_low, even = ahead > 0, ahead == 0
    against = (for_low != favours_low) & ~even
    return np.where(even, 0.0, np.where(against, pays, loses))[None, :]


def _run(bets: FloatArray, alpha: float) -> Outlier:
    made = np.cumsum(bets, axis=1).max(axis=0)
    late = made[FEWEST_VOTES - 1 :]
    passed: Sequence[int] = np.flatnonzero(late > -np.log(alpha)).tolist()
    at = passed[0] + FEWEST_VOTES if passed else None
    return Outlier(len(made), float(np.exp(min(late.max(), 700.0))) if len(late) else 1.0, at)
