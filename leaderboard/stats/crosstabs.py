"""Two kinds of raters side by side: the table of their ratings, and their means as weighted points."""

from typing import Final

import numpy as np

from leaderboard.stats.agreement_opinions import OpinionRows, Topics
from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.correlation import Entries

# More distinct places are put on a grid of tenths, which has 441.
MOST_PLACES: Final = 400
COARSE: Final = 10


def confusion(topics: Topics, one: OpinionRows, other: OpinionRows) -> IntArray:
    """How often each rating of one kind stood against each of the other, in both orientations.

    Of shape (rows, points of the one, points of the other), on the commonest scales. Both must have ratings.
    """
    x, y = (_ratings_of_pairs(rows, len(topics.prompt)) for rows in (one, other))
    category = topics.of_pairs(np.arange(len(topics.prompt)))
    found = np.array([x[category == number].T @ y[category == number] for number in range(len(topics.names))])
    turned = found + found[:, ::-1, ::-1]
    return np.rint(np.tensordot(topics.chosen, turned, 1)).astype(np.int64)


def _ratings_of_pairs(rows: OpinionRows, pairs: int) -> FloatArray:
    """How often each pair got each rating of the commonest scale: (pairs, points)."""
    points = int(np.bincount(rows.points).argmax())
    own = rows.only(rows.points == points)
    counts = np.bincount(own.pair * points + own.rating - 1, minlength=pairs * points)
    return counts.reshape(pairs, points).astype(np.float64)


def scatters(topics: Topics, entries: Entries) -> list[list[list[float]]]:
    """Places [x, y, entries there in either orientation], for each row of the topics."""
    category = np.tile(topics.of_pairs(entries.pair), 2)
    x, y = (np.concatenate((values, -values)).round(4) for values in (entries.x, entries.y))
    places, where = np.unique(x + 1j * y, return_inverse=True)
    if len(places) > MOST_PLACES:
        places, where = np.unique(_coarse(x) + 1j * _coarse(y), return_inverse=True)
    found = []
    for taken in topics.chosen:
        times = np.bincount(where.reshape(-1), taken[category], len(places))
        times = np.where(places == 0, times / 2.0, times)  # the middle is its own mirror image
        own = np.flatnonzero(times)
        rows = np.stack((places.real[own] + 0.0, places.imag[own] + 0.0, times[own]), axis=1)
        found.append([[a, b, int(n)] for a, b, n in rows.tolist()])
    return found


def _coarse(values: FloatArray) -> FloatArray:
    # Halves go away from 0, so that a point and its mirror image stay opposite each other.
    return np.asarray(np.copysign(np.floor(np.abs(values) * COARSE + 0.5), values) / COARSE)
