"""Which outcome is played at which step of which round: the resampled sequences that Elo walks through.

Games: each step draws one of the n games, n steps (bootstrap of games, as in the published study).

Clusters: each round draws as many clusters (prompts) as there are, with replacement, takes all games of every
drawn cluster, a cluster drawn twice counting twice, and plays this pool in a random order of its own. Elo
weighs late games more than early ones, so a fixed order inside the pool would let the same prompts decide
every round; and drawing the games of the pool with replacement again would add the noise of games to the
noise of prompts. The order comes from a shuffle (Fisher and Yates 1938, as by Durstenfeld 1964) done while
walking: step t draws one of the places t.. of the pool, plays the game there, and puts the game at t there.
Where Elo remembers far fewer games than the pool has, only these are drawn (late_games.py).

Crossed clusters (raters who rate the same prompts): each round draws prompts as above and, independently, as
many raters as there are. A game is in the pool as often as its prompt was drawn times as often as its rater
was: the pigeonhole bootstrap (Owen 2007; Owen and Eckles 2012).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, repeat
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import IntArray, ParameterError, whole_number
from leaderboard.stats.outcomes import GAMES_AT_ONCE, Outcomes, distinct_values, parts

# A counter-based random stream: the number for (seed, round, step) depends on nothing else.
#
# So a result is the same for any size of block, any number of threads and any backend. The mixing function is
# the finaliser of splitmix64 (Steele, Lea and Flood 2014, *Fast splittable pseudorandom number generators*).


WordArray = npt.NDArray[np.uint64]

GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
LARGEST: Final = 2**32 - 1
"""The largest number of things one step can choose from."""


def mix(words: WordArray, spare: WordArray) -> None:
    """Scramble ``words`` in place; ``spare`` has the same shape and is overwritten."""
    for shift, factor in ((30, _FIRST), (27, _SECOND)):
        np.right_shift(words, np.uint64(shift), out=spare)
        np.bitwise_xor(words, spare, out=words)
        np.multiply(words, factor, out=words)
    np.right_shift(words, np.uint64(31), out=spare)
    np.bitwise_xor(words, spare, out=words)


def check_seed(seed: int) -> int:
    """Return the seed if it fits 64 bits without a sign; raise ParameterError otherwise."""
    if not 0 <= whole_number("seed", seed) < 2**64:
        raise ParameterError(f"seed is {seed}; it must be between 0 and 2**64 - 1")
    return seed


def round_keys(seed: int, rounds: npt.NDArray[np.int64], purpose: int = 0) -> WordArray:
    """One key for each round number; streams of different ``purpose`` have nothing in common."""
    start = np.array([check_seed(seed)], dtype=np.uint64)
    spare = np.empty_like(start)
    mix(start, spare)
    start ^= np.uint64(purpose * int(GOLDEN) % 2**64)
    mix(start, spare)
    keys = start + (rounds.astype(np.uint64) + np.uint64(1)) * GOLDEN
    mix(keys, np.empty_like(keys))
    return keys


def words(keys: WordArray, first_step: int, steps: int) -> WordArray:
    """Random 64-bit words of shape (steps, rounds) for the steps from ``first_step``."""
    counter = np.arange(first_step + 1, first_step + steps + 1, dtype=np.uint64) * GOLDEN
    block = keys[None, :] + counter[:, None]
    mix(block, np.empty_like(block))
    return block


def choices(
    keys: WordArray, first_step: int, steps: int, things: int | npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Numbers in 0..things-1 of shape (steps, rounds), equally likely to one part in 2**32 / things.

    ``things`` is one number, or one for each step and round.
    """
    block = words(keys, first_step, steps)
    np.right_shift(block, np.uint64(32), out=block)
    np.multiply(block, np.asarray(things).astype(np.uint64), out=block)
    np.right_shift(block, np.uint64(32), out=block)
    return block.view(np.int64)


GAME_DRAWS: Final = 0
CLUSTER_DRAWS: Final = 1
POOL_ORDER: Final = 2
CROSSED_DRAWS: Final = 4
"""3 is in late_games.py."""

DRAWS_AT_ONCE: Final = 2**15
_NUMBERS_AT_ONCE: Final = 2**20


@dataclass(frozen=True, eq=False)
class Clusters:
    """Outcomes arranged by cluster: those of cluster c are ``of_game[start[c] : start[c + 1]]``.

    ``crossed`` numbers the cluster of a second kind that each game is in, from 0 and in the same order; it is
    None where there is no second kind.
    """

    outcomes: Outcomes
    start: IntArray
    crossed: npt.NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def crossed_clusters(self) -> int | None:
        """The number of clusters of the second kind."""
        return None if self.crossed is None else int(self.crossed.max()) + 1

    @property
    def of_game(self) -> npt.NDArray[Any]:
        """The outcome number of each game, in the order of the clusters."""
        return self.outcomes.of_game

    @property
    def nbytes(self) -> int:
        """The bytes of what is kept for each game."""
        return self.of_game.nbytes + (0 if self.crossed is None else self.crossed.nbytes)

    @property
    def size(self) -> IntArray:
        """The number of games of each cluster."""
        return np.diff(self.start)


def group_by_cluster(
    outcomes: Outcomes, label: npt.NDArray[Any], other: npt.NDArray[Any] | None = None
) -> Clusters:
    """Arrange the outcomes of games by the label of their cluster, and in their order within it.

    ``other`` holds the labels of a second kind of cluster.
    """
    crossed = None if other is None else _numbered(other)
    moved = None if crossed is None else np.empty_like(crossed)
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
        if crossed is not None and moved is not None:
            moved[places] = crossed[part][order]
        free[found] += times
    return Clusters(replace(outcomes, of_game=arranged), start, moved)


def _numbered(label: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The labels numbered from 0 in sorted order, in as few bytes as hold the numbers."""
    labels = distinct_values(label.__getitem__, len(label))
    number = np.empty(len(label), dtype=np.min_scalar_type(len(labels)))
    for part in parts(len(label)):
        number[part] = np.searchsorted(labels, label[part])
    return number


def cluster_draws(
    seed: int, rounds: IntArray, clusters: int, purpose: int = CLUSTER_DRAWS
) -> Iterator[IntArray]:
    """For each round in turn the clusters drawn, as many as there are."""
    keys = round_keys(seed, rounds, purpose)
    together = max(1, DRAWS_AT_ONCE // clusters)
    for row in range(0, len(rounds), together):
        yield from np.ascontiguousarray(choices(keys[row : row + together], 0, clusters, clusters).T)


def times_drawn(seed: int, rounds: IntArray, clusters: int, purpose: int = CLUSTER_DRAWS) -> IntArray:
    """How often each cluster is drawn in each round, of shape (rounds, clusters)."""
    drawn = cluster_draws(seed, rounds, clusters, purpose)
    return np.array([np.bincount(one, minlength=clusters) for one in drawn])


def crossed_times(clusters: Clusters, seed: int, rounds: IntArray) -> Iterator[IntArray | None]:
    """For each round how often each cluster of the second kind is drawn; None where there is none."""
    number = clusters.crossed_clusters
    if number is None:
        yield from repeat(None, len(rounds))
        return
    for drawn in cluster_draws(seed, rounds, number, CROSSED_DRAWS):
        yield np.bincount(drawn, minlength=number)


def pool_sizes(clusters: Clusters, seed: int, rounds: IntArray) -> IntArray:
    """How many games each round plays."""
    if clusters.crossed is not None:
        return _crossed_sizes(clusters, clusters.crossed, seed, rounds)
    size = clusters.size
    return np.array([size[drawn].sum() for drawn in cluster_draws(seed, rounds, len(clusters))])


def _crossed_sizes(clusters: Clusters, crossed: npt.NDArray[Any], seed: int, rounds: IntArray) -> IntArray:
    """The sum of the products of how often the two clusters of each game are drawn."""
    from scipy.sparse import csr_array

    shape = len(clusters), int(crossed.max()) + 1
    contents = csr_array((np.ones(len(crossed)), crossed, clusters.start), shape=shape, copy=True)
    contents.sum_duplicates()
    sizes = []
    together = max(1, _NUMBERS_AT_ONCE // sum(shape))
    for some in (rounds[first : first + together] for first in range(0, len(rounds), together)):
        first_kind = times_drawn(seed, some, shape[0])
        second_kind = times_drawn(seed, some, shape[1], CROSSED_DRAWS)
        sizes.append((first_kind * (contents @ second_kind.T).T).sum(axis=1))
    return np.concatenate(sizes).astype(np.int64)


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
    pools = np.empty((int(sizes.max()), len(rounds)), dtype=clusters.of_game.dtype)
    fill_pools(pools.T, clusters, seed, rounds)
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


def fill_pools(pools: npt.NDArray[Any], clusters: Clusters, seed: int, rounds: IntArray) -> None:
    """Put the games of the drawn clusters of each round into its row; what is left as for cluster_steps."""
    draws = cluster_draws(seed, rounds, len(clusters))
    for pool, drawn, times in zip(pools, draws, crossed_times(clusters, seed, rounds), strict=True):
        done = 0
        for places in _places(clusters, drawn):
            played = places
            if times is not None and clusters.crossed is not None:
                played = places.repeat(times[clusters.crossed[places]])
            pool[done : done + len(played)] = clusters.of_game[played]
            done += len(played)
        pool[done:] = len(clusters.outcomes)


def _places(clusters: Clusters, drawn: IntArray) -> Iterator[IntArray]:
    """Where the games of the drawn clusters stand, one cluster after the other, some at a time."""
    sizes = clusters.size[drawn]
    ends = np.cumsum(sizes)
    cuts = [0, *(np.flatnonzero(np.diff(ends // GAMES_AT_ONCE)) + 1), len(drawn)]
    done = 0
    for first, last in pairwise(cuts):
        few, end = sizes[first:last], int(ends[last - 1])
        shift = clusters.start[drawn[first:last]] - (ends[first:last] - few)
        yield np.repeat(shift, few) + np.arange(done, end)
        done = end
