"""Which outcome each step of each round of bootstrapped Elo plays.

Games: each of n steps draws one of the n games. Clusters: a round draws as many as there are, with
replacement, and plays all their games (the pool) in a random order (Fisher and Yates 1938, as by Durstenfeld
1964), because Elo weighs late games more. Crossed clusters: a game is in the pool as often as its prompt was
drawn times as often as its rater was, the pigeonhole bootstrap (Owen 2007; Owen and Eckles 2012).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, repeat
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from leaderboard.stats.checks import IntArray
from leaderboard.stats.outcomes import GAMES_AT_ONCE, Outcomes, distinct_values, parts
from leaderboard.stats.resampling import (
    CROSSED_DRAWS,
    GAME_DRAWS,
    GOLDEN,
    LATE_GAMES,
    POOL_ORDER,
    choices,
    cluster_draws,
    mix,
    round_keys,
    times_drawn,
)

_NUMBERS_AT_ONCE: Final = 2**20


@dataclass(frozen=True, eq=False)
class Clusters:
    """Outcomes by cluster: those of cluster c are ``of_game[start[c] : start[c + 1]]``."""

    outcomes: Outcomes
    start: IntArray
    crossed: npt.NDArray[Any] | None = None  # cluster of a second kind of each game

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def crossed_clusters(self) -> int | None:
        return None if self.crossed is None else int(self.crossed.max()) + 1

    @property
    def of_game(self) -> npt.NDArray[Any]:
        """The outcome number of each game, in the order of the clusters."""
        return self.outcomes.of_game

    @property
    def nbytes(self) -> int:
        return self.of_game.nbytes + (0 if self.crossed is None else self.crossed.nbytes)

    @property
    def size(self) -> IntArray:
        return np.diff(self.start)


def group_by_cluster(
    outcomes: Outcomes, label: npt.NDArray[Any], other: npt.NDArray[Any] | None = None
) -> Clusters:
    """The outcomes of games arranged by cluster; ``other`` labels a second kind of cluster."""
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
    """The labels numbered from 0 in sorted order, in as few bytes as possible."""
    labels = distinct_values(label.__getitem__, len(label))
    number = np.empty(len(label), dtype=np.min_scalar_type(len(labels)))
    for part in parts(len(label)):
        number[part] = np.searchsorted(labels, label[part])
    return number


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
    """Outcome numbers of the ``last`` steps, in blocks (steps, rounds): games drawn with replacement."""
    keys, games = round_keys(seed, rounds, GAME_DRAWS), len(of_game)
    for step in range(games - last, games, steps_at_once):
        yield of_game.take(choices(keys, step, min(steps_at_once, games - step), games))


def cluster_steps(
    clusters: Clusters, sizes: IntArray, seed: int, rounds: IntArray, steps_at_once: int
) -> Iterator[npt.NDArray[Any]]:
    """Outcome numbers in blocks (steps, rounds): whole clusters drawn, their games in random order.

    Rounds shorter than the longest end in ``len(clusters.outcomes)``.
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
    """Put the games of the drawn clusters of each round into its row, the rest as in cluster_steps."""
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
    """The places of the games of the drawn clusters, cluster by cluster, some at a time."""
    sizes = clusters.size[drawn]
    ends = np.cumsum(sizes)
    cuts = [0, *(np.flatnonzero(np.diff(ends // GAMES_AT_ONCE)) + 1), len(drawn)]
    done = 0
    for first, last in pairwise(cuts):
        few, end = sizes[first:last], int(ends[last - 1])
        shift = clusters.start[drawn[first:last]] - (ends[first:last] - few)
        yield np.repeat(shift, few) + np.arange(done, end)
        done = end


# The last games of a pool, drawn without making the pool.
#
# They are games drawn without replacement. Attempt t draws one of the round's clusters by the first half of
# a random word, and one of as many places as the largest cluster has by the second. A place that is not
# there, or was drawn before, is passed over, so every game left is equally likely to be the next. Of
# crossed clusters a game has as many places as the second cluster drawn most often was drawn, of which as
# many are there as its own was.

# With fewer of the places there, most attempts would be in vain.
FEWEST_PLACES: Final = 1 / 8
MOST_PLACES: Final = 2**26
_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(2**32 - 1)


def worth_drawing(clusters: Clusters, sizes: IntArray, games: int, seed: int) -> npt.NDArray[np.bool_]:
    """The rounds from 0, by the ``sizes`` of their pools, whose last ``games`` are better drawn singly."""
    places = len(clusters) * int(clusters.size.max())
    if places > MOST_PLACES or len(clusters.of_game) < FEWEST_PLACES * places:
        return np.zeros(len(sizes), dtype=bool)
    numbers = np.arange(len(sizes))
    copies = np.array([_most_copies(times) for times in crossed_times(clusters, seed, numbers)])
    return (sizes >= 2 * games * copies) & (places * copies <= MOST_PLACES)


def late_games(clusters: Clusters, games: int, seed: int, rounds: IntArray) -> npt.NDArray[Any]:
    """Outcome numbers (rounds, games) of the last ``games`` games of each round."""
    found = np.empty((len(rounds), games), dtype=clusters.of_game.dtype)
    keys, draws = round_keys(seed, rounds, LATE_GAMES), cluster_draws(seed, rounds, len(clusters))
    drawing = _Drawing(clusters, games)
    for row, key, drawn, times in zip(found, keys, draws, crossed_times(clusters, seed, rounds), strict=True):
        row[:] = drawing.last_games(key, drawn, times)
    return found


class _Drawing:
    """Draws the last games of one round after the other, in memory that the rounds share."""

    def __init__(self, clusters: Clusters, games: int) -> None:
        self.clusters, self.games = clusters, games
        self.size = clusters.size
        self.largest = int(self.size.max())
        self.earliest_at = np.empty(0, dtype=np.int32)
        self._make_room(0)

    def last_games(self, key: np.uint64, drawn: IntArray, times: IntArray | None) -> npt.NDArray[Any]:
        """Outcome numbers of the round with this key, these clusters and ``times`` of the second kind."""
        places = len(drawn) * self.largest * _most_copies(times)
        needed = int(self.games * places / len(self.clusters.of_game) * 1.05) + 64
        while True:
            if len(self.number) < needed:
                self._make_room(needed)
            found = self._try(key, drawn, times)[: self.games]
            if len(found) == self.games:
                return self.clusters.of_game.take(found)
            needed = len(self.number) + len(self.number) // 4

    def _make_room(self, attempts: int) -> None:
        # The last attempt first: of those at one place the earliest is written last.
        self.counter = np.arange(attempts, 0, -1, dtype=np.uint64) * GOLDEN
        self.number = np.arange(attempts, dtype=np.int32)
        self.word, self.spare = np.empty_like(self.counter), np.empty_like(self.counter)

    def _try(self, key: np.uint64, drawn: IntArray, times: IntArray | None) -> IntArray:
        """The games that the attempts find, the first one first."""
        copies = _most_copies(times)
        start, size = self.clusters.start.take(drawn), self.size.take(drawn) * copies
        slot, offset = self._attempts(key, len(drawn), self.largest * copies)
        there = np.flatnonzero(offset < size.take(slot))
        slot, offset = slot.take(there), offset.take(there)
        game = start.take(slot)
        game += offset if copies == 1 else offset // copies
        if times is not None and self.clusters.crossed is not None:
            there = np.flatnonzero(offset % copies < times[self.clusters.crossed[game]])
            slot, offset, game = slot.take(there), offset.take(there), game.take(there)
        # Only places that are there get a number, so that what is kept of them is no larger than the pool.
        end = np.cumsum(size)
        if len(self.earliest_at) < end[-1]:
            self.earliest_at = np.empty(end[-1], dtype=np.int32)
        place = (end - size).take(slot)
        place += offset
        number = self.number[: len(place)]
        self.earliest_at[place] = number
        return game.compress(self.earliest_at.take(place) == number)[::-1]

    def _attempts(self, key: np.uint64, slots: int, largest: int) -> tuple[IntArray, IntArray]:
        """Which of the drawn clusters each attempt tries, and which place in it."""
        np.add(self.counter, key, out=self.word)
        mix(self.word, self.spare)
        np.right_shift(self.word, _HALF, out=self.spare)
        np.bitwise_and(self.word, _LOW, out=self.word)
        for half, things in ((self.spare, slots), (self.word, largest)):
            half *= np.uint64(things)
            half >>= _HALF
        return self.spare.view(np.int64), self.word.view(np.int64)


def _most_copies(times: IntArray | None) -> int:
    """How often a game is drawn with its second cluster, at most."""
    return 1 if times is None else int(times.max())
