"""The last games of a pool in random order, drawn without making the pool.

The last games of a random order are games drawn from the pool without returning them. A pool is the games
of the clusters a round draws, one cluster after the other (resampling.py). Attempt t draws one of these
clusters, by the first half of a random word, and by the second half one of as many places in it as the
largest cluster has. A place that is not there, or was drawn before, is passed over, so that every game left
in the pool is equally likely to be the next. A round then costs as much as its last games and not as all of
them.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.games import IntArray
from leaderboard.stats.random_stream import WordArray, choices, round_keys, words
from leaderboard.stats.resampling import CLUSTER_DRAWS, Clusters

LATE_GAMES: Final = 3
"""The purpose of the stream; other purposes are in resampling.py."""

FEWEST_PLACES: Final = 1 / 8
"""Share of the places that must be there: below it most attempts would be in vain."""

MOST_PLACES: Final = 2**26
_HALF: Final = np.uint64(32)


def worth_drawing(clusters: Clusters, sizes: IntArray, games: int) -> npt.NDArray[np.bool_]:
    """The rounds, by the ``sizes`` of their pools, whose last ``games`` games are better drawn like this."""
    places = len(clusters) * int(clusters.size.max())
    if places > MOST_PLACES or len(clusters.of_game) < FEWEST_PLACES * places:
        return np.zeros(len(sizes), dtype=bool)
    worth: npt.NDArray[np.bool_] = sizes >= 2 * games
    return worth


def late_games(clusters: Clusters, games: int, seed: int, rounds: IntArray) -> npt.NDArray[Any]:
    """Outcome numbers of the last ``games`` games of each round, of shape (games, rounds)."""
    found = np.empty((games, len(rounds)), dtype=clusters.of_game.dtype)
    keys, draw_keys = (round_keys(seed, rounds, purpose) for purpose in (LATE_GAMES, CLUSTER_DRAWS))
    first_at = np.empty(len(clusters) * int(clusters.size.max()), dtype=np.int32)
    for column in range(len(rounds)):
        drawn = choices(draw_keys[column : column + 1], 0, len(clusters), len(clusters))[:, 0]
        found[:, column] = _of_round(clusters, drawn, games, keys[column : column + 1], first_at)
    return found


def _of_round(
    clusters: Clusters, drawn: IntArray, games: int, key: WordArray, first_at: npt.NDArray[np.int32]
) -> npt.NDArray[Any]:
    """The last games of one round that draws these clusters; ``first_at`` is space to work in."""
    start, size, largest = clusters.start[drawn], clusters.size[drawn], int(clusters.size.max())
    needed = int(games * len(drawn) * largest / len(clusters.of_game) * 1.05) + 64
    while True:
        slot, offset = _places(words(key, 0, needed)[:, 0], len(drawn), largest)
        there = np.flatnonzero(offset < size.take(slot))
        slot, offset = slot.take(there), offset.take(there)
        place, number = slot * largest + offset, np.arange(len(there), dtype=np.int32)
        first_at[place[::-1]] = number[::-1]  # of equal ones the first stays
        new = np.flatnonzero(first_at.take(place) == number)[:games]
        if len(new) == games:
            found: npt.NDArray[Any] = clusters.of_game.take(start.take(slot.take(new)) + offset.take(new))
            return found
        needed += needed // 4


def _places(word: WordArray, slots: int, largest: int) -> tuple[IntArray, IntArray]:
    """Which of the drawn clusters each attempt tries, and which place in it."""
    slot = (word >> _HALF) * np.uint64(slots) >> _HALF
    offset = (word & np.uint64(2**32 - 1)) * np.uint64(largest) >> _HALF
    return slot.view(np.int64), offset.view(np.int64)
