"""The middle of a sandwich covariance where units of two kinds run across each other.

Games are dependent that share a unit of either kind, such as the prompt or the rater: the spread of the
scores over the first kind, plus that over the second, less that over both, which stands in each of them
(Cameron, Gelbach and Miller 2011, *Robust inference with multiway clustering*).
"""

from collections.abc import Callable

import numpy as np

from leaderboard.stats.games import FloatArray, IntArray


def spread_of_units(
    spread: Callable[[IntArray | None], FloatArray],
    cluster: IntArray | None,
    crossed: IntArray | None,
    of_crossed: Callable[[IntArray], FloatArray] | None = None,
) -> FloatArray:
    """The ``spread`` over clusters, or over clusters of two kinds, without negative parts it may have then.

    ``cluster`` and ``crossed`` number the unit of each game; ``of_crossed`` is the spread over the second
    kind where that has scores of its own.
    """
    if cluster is None or crossed is None:
        return spread(cluster)
    kinds = int(crossed.max()) + 1
    both = np.unique(cluster * kinds + crossed, return_inverse=True)[1].reshape(-1)
    total = spread(cluster) + (of_crossed or spread)(crossed) - spread(both)
    if np.isnan(total).any():
        return total
    value, direction = np.linalg.eigh(total)
    positive: FloatArray = (direction * np.maximum(value, 0.0)) @ direction.T
    return positive
