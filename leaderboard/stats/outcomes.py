"""The distinct outcomes of games, at most three for each pair of contestants unless games are shared.

Games are read a part at a time; what is kept is a number of two bytes for each (four above 65,535 outcomes).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import FloatArray, IntArray

GAMES_AT_ONCE: Final = 2**17


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Distinct outcomes with ``a < b``."""

    a: IntArray
    b: IntArray
    score: FloatArray
    of_game: npt.NDArray[Any]  # outcome number of each game

    def __len__(self) -> int:
        return len(self.a)


def outcomes_of(
    a: npt.NDArray[Any], b: npt.NDArray[Any], score: npt.NDArray[Any], contestants: int
) -> Outcomes:
    """The distinct outcomes of games, from arrays of any numeric type that make_games would accept.

    A game seen from the other side is the same.
    """

    levels = _levels(score)

    def codes(part: slice) -> IntArray:
        return _codes(a[part].astype(np.int64), b[part].astype(np.int64), score[part], contestants, levels)

    distinct = distinct_values(codes, len(a))
    # One number more than there are outcomes must fit: the kernels use it for "no game".
    of_game = np.empty(len(a), dtype=np.promote_types(np.uint16, np.min_scalar_type(len(distinct))))
    for part in parts(len(a)):
        of_game[part] = np.searchsorted(distinct, codes(part))
    pair, level = np.divmod(distinct, len(levels))
    low, high = np.divmod(pair, max(contestants, 1))
    return Outcomes(low, high, levels[level], of_game)


def parts(length: int) -> Iterator[slice]:
    """0..length-1 in slices of GAMES_AT_ONCE."""
    return (slice(start, start + GAMES_AT_ONCE) for start in range(0, length, GAMES_AT_ONCE))


def distinct_values(values: Callable[[slice], npt.NDArray[Any]], length: int) -> npt.NDArray[Any]:
    """The different values of an array that is read a part at a time, sorted."""
    found = values(slice(0, 0))
    waiting: list[npt.NDArray[Any]] = []
    for part in parts(length):
        waiting.append(np.unique(values(part)))
        # Merged only when there is as much to add as there is: the cost stays that of a few sorts.
        if sum(map(len, waiting)) > len(found):
            found, waiting = np.unique(np.concatenate((found, *waiting))), []
    return np.unique(np.concatenate((found, *waiting)))


_USUAL: Final = np.array([0.0, 0.5, 1.0])


def _levels(score: npt.NDArray[Any]) -> FloatArray:
    """Every score that a side may have, from the lowest."""
    if all((2 * score[part] == np.rint(2 * score[part])).all() for part in parts(len(score))):
        return _USUAL
    return np.unique(np.concatenate((_USUAL, score, 1.0 - score)))


def _codes(
    a: IntArray, b: IntArray, score: npt.NDArray[Any], contestants: int, levels: FloatArray
) -> IntArray:
    """One number for each outcome."""
    own = np.where(a > b, 1 - score, score)
    level = (2 * own).astype(np.int64) if levels is _USUAL else np.searchsorted(levels, own)
    return (np.minimum(a, b) * contestants + np.maximum(a, b)) * len(levels) + level
