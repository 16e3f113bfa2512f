"""Win, tie and game-count matrices. Read across a row: entry [i, j] is about i against j."""

from dataclasses import dataclass

import numpy as np

from leaderboard.stats.games import FloatArray, Games, IntArray


@dataclass(frozen=True, eq=False)
class Matrices:
    """Square matrices of shape (contestants, contestants).

    ``wins[i, j]`` counts the games i won against j, ``ties`` and ``games`` are symmetric, and
    ``win_rate[i, j]`` is (wins + ties / 2) / games, NaN where the two never met.
    """

    wins: IntArray
    ties: IntArray
    games: IntArray
    win_rate: FloatArray


def matrices(games: Games) -> Matrices:
    """Count the games of every pair of contestants."""
    wins = _count(games, games.score == 1.0) + _count(games, games.score == 0.0).T
    half = _count(games, games.score == 0.5)
    ties = half + half.T
    played = wins + wins.T + ties
    rate = np.full(played.shape, np.nan)
    np.divide(wins + 0.5 * ties, played, out=rate, where=played > 0)
    return Matrices(wins, ties, played, rate)


def _count(games: Games, chosen: "np.typing.NDArray[np.bool_]") -> IntArray:
    size = games.contestants
    code = games.a[chosen] * size + games.b[chosen]
    return np.bincount(code, minlength=size * size).reshape(size, size).astype(np.int64)
