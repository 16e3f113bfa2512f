"""Which outcome is played at which step of which round: the resampled sequences that Elo walks through.

Games: each step draws one of the n games, n steps (bootstrap of games, as in the published study).

Clusters: each round draws as many clusters (prompts) as there are, with replacement, takes all games of every
drawn cluster, a cluster drawn twice counting twice, and plays this pool in a random order of its own. Elo
weighs late games more than early ones, so a fixed order inside the pool would let the same prompts decide
every round; and drawing the games of the pool with replacement again would add the noise of games to the
noise of prompts. The order comes from a shuffle (Fisher and Yates 1938, as by Durstenfeld 1964) done while
walking: step t draws one of the places t.. of the pool, plays the game there, and puts the game at t there.
Where Elo remembers far fewer games than the pool has, only these are drawn (late_games.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.games import IntArray
from leaderboard.stats.outcomes import GAMES_AT_ONCE, Outcomes, distinct_values, parts
from leaderboard.stats.random_stream import choices, round_keys

GAME_DRAWS: Final = 0
CLUSTER_DRAWS: Final = 1
POOL_ORDER: Final = 2
DRAWS_AT_ONCE: Final = 2**15


@dataclass(frozen=True, eq=False)
class Clusters:
    """Outcomes arranged by cluster: those of cluster c are ``of_game[start[c] : start[c + 1]]``."""

    outcomes: Outcomes
    start: IntArray

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def of_game(self) -> npt.NDArray[Any]:
        """The outcome number of each game, in the order of the clusters."""
        return self.outcomes.of_game

    @property
    def size(self) -> IntArray:
        """The number of games of each cluster."""
        return np.diff(self.start)


def group_by_cluster(outcomes: Outcomes, label: npt.NDArray[Any]) -> Clusters:
    """Arrange the outcomes of games by the label of their cluster, and in their order within it."""
    labels = distinct_values(label.__getitem__, len(label))
    size = np.zeros(len(labels), dtype=np.int64)
    for part in parts(len(label)):
        found, times = np.unique(label[part], return_counts=True)
        size[np.searchsorted(labels, found)] += times
    start = np.concatenate(([0], np.cumsum(size)))
    arranged, free = np.empty_like(outcomes.of_game), start[:-1].copy()
    for part in parts(len(label)):
        number = np.searchsorted(labels, label[part])
        order = np.argsort(number, kind="stable")
        found, first, times = np.unique(number[order], return_index=True, return_counts=True)
        places = np.repeat(free[found] - first, times) + np.arange(len(order))
        arranged[places] = outcomes.of_game[part][order]
        free[found] += times
    return Clusters(replace(outcomes, of_game=arranged), start)


def cluster_draws(seed: int, rounds: IntArray, clusters: int) -> Iterator[IntArray]:
    """For each round in turn the clusters drawn, as many as there are."""
    keys = round_keys(seed, rounds, CLUSTER_DRAWS)
    together = max(1, DRAWS_AT_ONCE // clusters)
    for row in range(0, len(rounds), together):
        yield from np.ascontiguousarray(choices(keys[row : row + together], 0, clusters, clusters).T)


def pool_sizes(clusters: Clusters, seed: int, rounds: IntArray) -> IntArray:
    """How many games each round plays."""
    size = clusters.size
    return np.array([size[drawn].sum() for drawn in cluster_draws(seed, rounds, len(clusters))])


def game_steps(
    of_game: npt.NDArray[Any], last: int, seed: int, rounds: IntArray, steps_at_once: int
) -> Iterator[npt.NDArray[Any]]:
    """Outcome numbers of the ``last`` steps, in blocks (steps, rounds): every game drawn with replacement."""
    keys, games = round_keys(seed, rounds, GAME_DRAWS), len(of_game)
    for step in range(games - last, games, steps_at_once):
        yield of_game.take(choices(keys, step, min(steps_at_once, games - step), games))


def cluster_steps(
    clusters: Clusters, sizes: IntArray, seed: int, rounds: IntArray, steps_at_once: int
) -> Iterator[npt.NDArray[Any]]:
    """Outcome numbers in blocks of shape (steps, rounds): whole clusters drawn, their games in random order.

    ``sizes`` are the pool_sizes of the rounds. Those with fewer games than the most are filled with
    ``len(clusters.outcomes)``.
    """
    pools = _pools(clusters, sizes, seed, rounds)
    keys, columns = round_keys(seed, rounds, POOL_ORDER), np.arange(len(rounds))
    flat = pools.reshape(-1)
    for first in range(0, len(pools), steps_at_once):
        steps = np.arange(first, min(first + steps_at_once, len(pools)))
        left = np.maximum(sizes[None, :] - steps[:, None], 1)
        places = (choices(keys, first, len(steps), left) + steps[:, None]) * len(rounds) + columns
        block = np.empty(places.shape, dtype=pools.dtype)
        for step, where, played in zip(steps, places, block, strict=True):
            flat.take(where, out=played, mode="clip")
            flat[where] = pools[step]
        yield block


def _pools(clusters: Clusters, sizes: IntArray, seed: int, rounds: IntArray) -> npt.NDArray[Any]:
    """The games of the drawn clusters, of shape (games, rounds)."""
    size = clusters.size
    pools = np.full((int(sizes.max()), len(rounds)), len(clusters.outcomes), dtype=clusters.of_game.dtype)
    for column, drawn in enumerate(cluster_draws(seed, rounds, len(clusters))):
        _fill(pools[:, column], clusters, drawn, size[drawn])
    return pools


def _fill(pool: npt.NDArray[Any], clusters: Clusters, drawn: IntArray, sizes: IntArray) -> None:
    """Put the outcomes of the drawn clusters into the pool, one cluster after the other, some at a time."""
    ends = np.cumsum(sizes)
    cuts = [0, *(np.flatnonzero(np.diff(ends // GAMES_AT_ONCE)) + 1), len(drawn)]
    done = 0
    for first, last in pairwise(cuts):
        few, end = sizes[first:last], int(ends[last - 1])
        shift = clusters.start[drawn[first:last]] - (ends[first:last] - few)
        pool[done:end] = clusters.of_game[np.repeat(shift, few) + np.arange(done, end)]
        done = end
