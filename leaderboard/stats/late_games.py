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

from leaderboard.stats.games import IntArray
from leaderboard.stats.random_stream import WordArray, choices, round_keys, words
from leaderboard.stats.resampling import CLUSTER_DRAWS, Clusters, crossed_times

LATE_GAMES: Final = 3
"""The purpose of the stream; other purposes are in resampling.py."""

FEWEST_PLACES: Final = 1 / 8
"""Share of the places that must be there: below it most attempts would be in vain."""

MOST_PLACES: Final = 2**26
_HALF: Final = np.uint64(32)


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
    """Outcome numbers of the last ``games`` games of each round, of shape (games, rounds)."""
    found = np.empty((games, len(rounds)), dtype=clusters.of_game.dtype)
    keys, draw_keys = (round_keys(seed, rounds, purpose) for purpose in (LATE_GAMES, CLUSTER_DRAWS))
    crossed = list(crossed_times(clusters, seed, rounds))
    places = len(clusters) * int(clusters.size.max()) * max(map(_most_copies, crossed))
    first_at = np.empty(places, dtype=np.int32)
    for column, times in enumerate(crossed):
        drawn = choices(draw_keys[column : column + 1], 0, len(clusters), len(clusters))[:, 0]
        found[:, column] = _of_round(clusters, drawn, times, games, keys[column : column + 1], first_at)
    return found


def _of_round(
    clusters: Clusters,
    drawn: IntArray,
    times: IntArray | None,
    games: int,
    key: WordArray,
    first_at: npt.NDArray[np.int32],
) -> npt.NDArray[Any]:
    """The last games of one round that draws these clusters, of the second kind each so many ``times``.

    ``first_at`` is space to work in.
    """
    start, size, copies = clusters.start[drawn], clusters.size[drawn], _most_copies(times)
    largest = int(clusters.size.max()) * copies
    needed = int(games * len(drawn) * largest / len(clusters.of_game) * 1.05) + 64
    while True:
        slot, offset = _places(words(key, 0, needed)[:, 0], len(drawn), largest)
        there = np.flatnonzero(offset < copies * size.take(slot))
        slot, offset = slot.take(there), offset.take(there)
        game = start.take(slot) + offset // copies
        if times is not None and clusters.crossed is not None:
            there = np.flatnonzero(offset % copies < times[clusters.crossed[game]])
            slot, offset, game = slot.take(there), offset.take(there), game.take(there)
        place, number = slot * largest + offset, np.arange(len(there), dtype=np.int32)
        first_at[place[::-1]] = number[::-1]  # of equal ones the first stays
        new = np.flatnonzero(first_at.take(place) == number)[:games]
        if len(new) == games:
            found: npt.NDArray[Any] = clusters.of_game.take(game.take(new))
            return found
        needed += needed // 4


def _places(word: WordArray, slots: int, largest: int) -> tuple[IntArray, IntArray]:
    """Which of the drawn clusters each attempt tries, and which place in it."""
    slot = (word >> _HALF) * np.uint64(slots) >> _HALF
    offset = (word & np.uint64(2**32 - 1)) * np.uint64(largest) >> _HALF
    return slot.view(np.int64), offset.view(np.int64)
