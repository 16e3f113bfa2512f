"""The thresholds of a symmetric ordinal scale, as linear functions of few free numbers.

A scale of n points has n - 1 thresholds tau_1 < ... < tau_(n-1) with tau_k = -tau_(n-k), so that a rating and
its mirror image are equally likely between equals. Free are the positive ones, smallest first: none of 2
points, one of 3, two of 5, three of 8. A rating and its mirror image form a level; level 0 is the middle.
"""

import numpy as np

from leaderboard.stats.games import FloatArray, IntArray


def free_thresholds(points: int) -> int:
    """How many thresholds of the scale are positive."""
    return (points - 1) // 2


def threshold_rows(points: int) -> FloatArray:
    """(points - 1, free): threshold k + 1 is row k times the free thresholds."""
    rows = np.zeros((points - 1, free_thresholds(points)))
    for free in range(free_thresholds(points)):
        rows[points - 2 - (free_thresholds(points) - 1 - free), free] = 1.0
    mirrored: FloatArray = rows - rows[::-1]
    return mirrored


def levels(points: int) -> int:
    """How many levels the scale has: half its points, and the middle of an odd scale."""
    return (points + 1) // 2


def level_of(rating: IntArray, points: int) -> IntArray:
    """The level of each rating: 0 is next to the middle, ``levels - 1`` holds 1 and n."""
    return np.abs(2 * rating - points - 1) // 2


def width_rows(points: int) -> FloatArray:
    """(levels - 1, free): the distance between the two thresholds around each rating of a level.

    The outermost level has one threshold, so no width.
    """
    thresholds = threshold_rows(points)
    ratings = np.arange(2, points)
    widths = thresholds[ratings - 1] - thresholds[ratings - 2]
    _, one_of_each = np.unique(level_of(ratings, points), return_index=True)
    return widths[one_of_each]
