"""The distinct outcomes of games: who against whom with which score, and how often.

A study has few of them (at most three for each pair of contestants) however many games it has, so the kernels
look numbers up in a table that stays in the processor's cache.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.stats.games import FloatArray, Games, IntArray


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Distinct outcomes with ``a < b``; ``of_game`` is the outcome number of each game in order."""

    a: IntArray
    b: IntArray
    score: FloatArray
    of_game: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.a)


def distinct_outcomes(games: Games) -> Outcomes:
    """Number the distinct outcomes; a game seen from the other side is the same outcome."""
    swapped = games.a > games.b
    low, high = np.minimum(games.a, games.b), np.maximum(games.a, games.b)
    score = np.where(swapped, 1.0 - games.score, games.score)
    code = (low * games.contestants + high) * 3 + (2 * score).astype(np.int64)
    distinct, of_game = np.unique(code, return_inverse=True)
    pair, doubled = np.divmod(distinct, 3)
    a, b = np.divmod(pair, max(games.contestants, 1))
    # One number more than there are outcomes must fit: the kernels use it for "no game".
    return Outcomes(a, b, doubled / 2.0, of_game.reshape(-1).astype(np.min_scalar_type(len(distinct))))
