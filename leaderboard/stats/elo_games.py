"""The last games of a pool in random order, drawn without making the pool.

The last games of a random order are games drawn from the pool without returning them. A pool is the games
of the clusters a round draws, one cluster after the other (resampling.py). Attempt t draws one of these
clusters, by the first half of a random word, and by the second half one of as many places in it as the
largest cluster has. A place that is not there, or was drawn before, is passed over, so that every game left
in the pool is equally likely to be the next. A round then costs as much as its last games and not as all of
them.

Of crossed clusters a game is in the pool several times: its place is then as many places as the second
cluster drawn most often was drawn, of which as many are there as its own second cluster was.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import IntArray
from leaderboard.stats.resampling import GOLDEN, Clusters, cluster_draws, crossed_times, mix, round_keys

LATE_GAMES: Final = 3
"""The purpose of the stream; other purposes are in resampling.py."""

FEWEST_PLACES: Final = 1 / 8
"""Share of the places that must be there: below it most attempts would be in vain."""

MOST_PLACES: Final = 2**26
_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(2**32 - 1)


def worth_drawing(clusters: Clusters, sizes: IntArray, games: int, seed: int) -> npt.NDArray[np.bool_]:
    """The rounds from 0, by the ``sizes`` of their pools, whose last ``games`` are better drawn like this."""
    places = len(clusters) * int(clusters.size.max())
    if places > MOST_PLACES or len(clusters.of_game) < FEWEST_PLACES * places:
        return np.zeros(len(sizes), dtype=bool)
    numbers = np.arange(len(sizes))
    copies = np.array([_most_copies(times) for times in crossed_times(clusters, seed, numbers)])
    worth: npt.NDArray[np.bool_] = (sizes >= 2 * games * copies) & (places * copies <= MOST_PLACES)
    return worth


def _most_copies(times: IntArray | None) -> int:
    """How often a game is drawn with its second cluster, at most."""
    return 1 if times is None else int(times.max())


def late_games(clusters: Clusters, games: int, seed: int, rounds: IntArray) -> npt.NDArray[Any]:
    """Outcome numbers of the last ``games`` games of each round, of shape (rounds, games)."""
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
        """Of the round with this key and these clusters, of the second kind each so many ``times``."""
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
        """For so many attempts, the last one first: of those at one place the earliest is written last."""
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
