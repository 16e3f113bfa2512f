"""How often each distinct outcome is drawn in each round, where the order of games does not matter.

Single games are a multinomial draw; clusters are drawn as for Elo, and their outcomes added up.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from scipy.sparse import coo_array, csr_array

from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.pair_table import Outcomes
from leaderboard.stats.resampling import (
    BLOCK,
    CLUSTER_DRAWS,
    CROSSED_DRAWS,
    GAME_DRAWS,
    each_round,
    exact_type,
    times_drawn,
)

# Rounds drawn and fitted at once: BLOCK, or several.
DRAWN_TOGETHER: Final = 64
_MOST_NUMBERS: Final = 2**20
_ROWS_AT_ONCE: Final = _MOST_NUMBERS // DRAWN_TOGETHER
# With more clusters hardly two of a thousand rounds draw the same ones.
MOST_CLUSTERS_COMPARED: Final = 12


def weights_of_rounds(
    outcomes: Outcomes, cluster: IntArray | None, seed: int, crossed: IntArray | None = None
) -> Callable[[IntArray], FloatArray]:
    """A function from round numbers to weights (outcomes, rounds)."""
    if cluster is None:
        return lambda rounds: _multinomial(outcomes, seed, rounds)
    if crossed is not None:
        return _crossed_weights(outcomes, cluster, crossed, seed)
    clusters = int(cluster.max()) + 1
    ones = np.ones(len(cluster))
    contents = coo_array((ones, (outcomes.of_game, cluster)), shape=(len(outcomes), clusters)).tocsr()
    number = exact_type(contents.data, clusters)
    contents = contents.astype(number)

    def draw(rounds: IntArray) -> FloatArray:
        drawn = times_drawn(seed, rounds, clusters).T
        return np.asarray((contents @ np.ascontiguousarray(drawn, dtype=number)).astype(np.float64))

    return draw


def rounds_together(outcomes: int) -> int:
    """How many rounds are fitted at once: fewer where arrays would pass 8 MB."""
    return max(1, min(DRAWN_TOGETHER, _MOST_NUMBERS // outcomes) // BLOCK) * BLOCK


def distinct_rounds(
    seed: int, rounds: int, clusters: int | None, crossed_clusters: int | None = None
) -> tuple[IntArray, IntArray]:
    """One round of each distinct draw, and for every round the place of its like among those."""
    numbers = np.arange(rounds)
    kinds = ((clusters, CLUSTER_DRAWS), (crossed_clusters, CROSSED_DRAWS))
    known = [(number, purpose) for number, purpose in kinds if number]
    if not 0 < sum(number for number, _ in known) <= MOST_CLUSTERS_COMPARED:
        return numbers, numbers
    drawn = [times_drawn(seed, numbers, number, purpose) for number, purpose in known]
    _, first, place = np.unique(np.concatenate(drawn, axis=1), axis=0, return_index=True, return_inverse=True)
    return first, place.reshape(-1)


def _multinomial(outcomes: Outcomes, seed: int, rounds: IntArray) -> FloatArray:
    """Weights of as many games as there are, drawn with replacement."""
    count = np.bincount(outcomes.of_game, minlength=len(outcomes))
    games, share = int(count.sum()), count / count.sum()
    rows = each_round(seed, rounds, GAME_DRAWS, lambda stream: stream.multinomial(games, share, size=BLOCK))
    return np.ascontiguousarray(np.array(list(rows), dtype=np.float64).T)


def _crossed_weights(
    outcomes: Outcomes, cluster: IntArray, crossed: IntArray, seed: int
) -> Callable[[IntArray], FloatArray]:
    """Weights where a game counts as often as both its clusters were drawn, multiplied."""
    clusters, others = (int(kind.max()) + 1 for kind in (cluster, crossed))
    rows, row = np.unique(outcomes.of_game * np.int64(others) + crossed, return_inverse=True)
    outcome, other = np.divmod(rows, others)
    contents = coo_array((np.ones(len(row)), (row, cluster)), shape=(len(rows), clusters)).tocsr()
    places = (outcome, np.arange(len(rows)))
    summed = csr_array((np.ones(len(rows)), places), shape=(len(outcomes), len(rows))).tocsc()
    cuts = [slice(at, at + _ROWS_AT_ONCE) for at in range(0, len(rows), _ROWS_AT_ONCE)]
    parts = [(contents[cut], other[cut], summed[:, cut]) for cut in cuts]

    def draw(rounds: IntArray) -> FloatArray:
        first_kind = times_drawn(seed, rounds, clusters).T.astype(np.float64)
        second_kind = times_drawn(seed, rounds, others, CROSSED_DRAWS).T
        weights = np.zeros((len(outcomes), len(rounds)))
        for games, kind, add in parts:
            weights += add @ ((games @ first_kind) * second_kind[kind])
        return weights

    return draw
