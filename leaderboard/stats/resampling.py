"""Which outcome is played at which step of which round: the resampled sequences that Elo walks through.

Games: each step draws one of the n games, n steps (bootstrap of games, as in the published study).

Clusters: each round draws as many clusters (prompts) as there are, with replacement, takes all games of every
drawn cluster, a cluster drawn twice counting twice, and plays this pool in a random order of its own. Elo
weighs late games more than early ones, so a fixed order inside the pool would let the same prompts decide
every round; and drawing the games of the pool with replacement again would add the noise of games to the
noise of prompts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.games import IntArray
from leaderboard.stats.random_stream import WordArray, choices, round_keys, words

GAME_DRAWS: Final = 0
CLUSTER_DRAWS: Final = 1
POOL_ORDER: Final = 2


@dataclass(frozen=True, eq=False)
class Clusters:
    """The games of cluster c are ``games[start[c] : start[c] + size[c]]``."""

    games: IntArray
    start: IntArray
    size: IntArray

    def __len__(self) -> int:
        return len(self.size)


def group_by_cluster(cluster: IntArray) -> Clusters:
    """Group game numbers by their cluster, numbered 0.. without gaps."""
    size = np.bincount(cluster)
    return Clusters(np.argsort(cluster, kind="stable"), np.cumsum(size) - size, size)


def cluster_draws(seed: int, rounds: IntArray, clusters: int) -> Iterator[IntArray]:
    """For each round in turn the clusters drawn, as many as there are."""
    keys = round_keys(seed, rounds, CLUSTER_DRAWS)
    for row in range(len(rounds)):
        yield choices(keys[row : row + 1], 0, clusters, clusters)[:, 0]


def game_steps(
    of_game: npt.NDArray[Any], seed: int, rounds: IntArray, steps_at_once: int
) -> Iterator[npt.NDArray[Any]]:
    """Outcome numbers in blocks of shape (steps, rounds): every game drawn with replacement."""
    keys, games = round_keys(seed, rounds, GAME_DRAWS), len(of_game)
    for step in range(0, games, steps_at_once):
        yield of_game.take(choices(keys, step, min(steps_at_once, games - step), games))


def cluster_steps(
    of_game: npt.NDArray[Any],
    clusters: Clusters,
    seed: int,
    rounds: IntArray,
    steps_at_once: int,
    no_game: int,
) -> Iterator[npt.NDArray[Any]]:
    """Outcome numbers in blocks of shape (steps, rounds): whole clusters drawn, their games in random order.

    Rounds whose pool is shorter than the longest are filled with ``no_game``.
    """
    small = np.min_scalar_type(len(clusters))
    draws = [drawn.astype(small) for drawn in cluster_draws(seed, rounds, len(clusters))]
    length = max(int(clusters.size[drawn].sum()) for drawn in draws)
    in_order = of_game[clusters.games]
    pool = np.full((len(rounds), length), no_game, dtype=of_game.dtype)
    order_keys = round_keys(seed, rounds, POOL_ORDER)
    for row, drawn in enumerate(draws):
        outcomes = in_order[_positions(clusters, drawn)]
        pool[row, : len(outcomes)] = outcomes[_random_order(len(outcomes), order_keys[row : row + 1])]
    for step in range(0, length, steps_at_once):
        yield pool[:, step : step + steps_at_once].T


def _positions(clusters: Clusters, drawn: IntArray) -> IntArray:
    """Where the games of the drawn clusters stand in ``clusters.games``, one cluster after the other."""
    sizes = clusters.size[drawn]
    ends = np.cumsum(sizes)
    positions = np.repeat(clusters.start[drawn] - (ends - sizes), sizes)
    positions += np.arange(len(positions))
    return positions


def _random_order(length: int, key: WordArray) -> IntArray:
    """0..length-1 in an order given by the key alone: random words that end in the position, sorted."""
    mask = np.uint64(2 ** max(1, (length - 1).bit_length()) - 1)
    lots = words(key, 0, length)[:, 0] & ~mask
    lots |= np.arange(length, dtype=np.uint64)
    lots.sort()
    return (lots & mask).view(np.int64)
