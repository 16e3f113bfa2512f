"""Who can be compared with whom: connected groups, and contestants that nobody takes points off."""

from typing import Final

import numpy as np

from leaderboard.stats.checks import FloatArray, IntArray

ABOVE: Final = "above"
"""No upper limit: nobody outside its set has taken even half a point from the set."""

BELOW: Final = "below"
"""No lower limit: its set has taken no point from anybody outside."""


def connected_components(a: IntArray, b: IntArray, contestants: int) -> IntArray:
    """The connected group of each contestant: 0 is the largest, equal sizes by their first member."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components as label

    edges = csr_array((np.ones(len(a)), (a, b)), shape=(contestants, contestants))
    found = label(edges, directed=False)[1]
    _, first, size = np.unique(found, return_index=True, return_counts=True)
    order = np.lexsort((first, -size))
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    numbered: IntArray = number[found].astype(np.int64)
    return numbered


def unbounded(
    a: IntArray, b: IntArray, won: FloatArray, lost: FloatArray, contestants: int
) -> tuple[str | None, ...]:
    """Which contestants' ratings the games leave open: ``ABOVE``, ``BELOW`` or None for each.

    ``won`` and ``lost`` (pairs,) are the points of each side of the pairs a, b. Contestants who have taken
    at least half a point from each other, directly or around a circle, form a set. A set that has given no
    point to the others it met is ``ABOVE`` them by any amount, one that has taken none is ``BELOW``. Sets in
    between get None although their distance to those sets is open too.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components as label

    giver = np.concatenate((b[won > 0], a[lost > 0]))
    taker = np.concatenate((a[won > 0], b[lost > 0]))
    points = csr_array((np.ones(len(giver)), (giver, taker)), shape=(contestants, contestants))
    sets, number = label(points, directed=True, connection="strong")
    across = number[giver] != number[taker]
    gives, takes = np.zeros(sets, dtype=bool), np.zeros(sets, dtype=bool)
    gives[number[giver[across]]] = True
    takes[number[taker[across]]] = True
    return tuple(
        ABOVE if takes[own] and not gives[own] else BELOW if gives[own] and not takes[own] else None
        for own in number.tolist()
    )
