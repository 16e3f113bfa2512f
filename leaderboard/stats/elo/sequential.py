"""Sequential Elo: one pass over the games in their order."""

import math
from dataclasses import dataclass
from typing import Final

import numpy.typing as npt

from leaderboard.stats.errors import ParameterError
from leaderboard.stats.games import FloatArray, make_games

LARGEST: Final = 1e9
"""No parameter may be larger, nor K or scale smaller than its inverse: floats would not hold the ratings."""


@dataclass(frozen=True)
class EloParameters:
    """K (points moved by one game at most), scale and base of the expected score, and the starting rating.

    Raises ParameterError for values out of range.
    """

    k: float = 32.0
    scale: float = 400.0
    base: float = 10.0
    init: float = 1000.0

    def __post_init__(self) -> None:
        for name in ("k", "scale"):
            if not (math.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise ParameterError(f"{name} is {getattr(self, name)}; it must be a positive number")
        if not (math.isfinite(self.base) and self.base > 1):
            raise ParameterError(f"base is {self.base}; it must be greater than 1")
        if not math.isfinite(self.init):
            raise ParameterError(f"init is {self.init}; it must be a finite number")
        self._check_size()

    def _check_size(self) -> None:
        for name in ("k", "scale", "base", "init"):
            value = getattr(self, name)
            if abs(value) > LARGEST:
                raise ParameterError(f"{name} is {value:g}; it must be at most {LARGEST:g}")
        for name in ("k", "scale"):
            if getattr(self, name) < 1 / LARGEST:
                raise ParameterError(
                    f"{name} is {getattr(self, name):g}; it must be at least {1 / LARGEST:g}"
                )

    @property
    def half_rate(self) -> float:
        """Factor from a rating difference to x where the expected score is (1 + tanh(x)) / 2."""
        return math.log(self.base) / (2.0 * self.scale)

    @property
    def pull(self) -> float:
        """The share of the way to where it belongs by which one game between near equals moves a rating."""
        return self.k * math.log(self.base) / self.scale / 4.0

    @property
    def settling_games(self) -> float:
        """Games a contestant needs until a start that was wrong has lost 95 % of its weight.

        With ``pull`` the share of the way that one game moves a rating, 1 / pull games are the time constant
        and three of them leave 5 %.
        """
        return 3.0 / self.pull


def sequential_elo(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score: npt.ArrayLike,
    contestants: int,
    *,
    k: float = 32.0,
    scale: float = 400.0,
    base: float = 10.0,
    init: float = 1000.0,
) -> FloatArray:
    """Ratings after one pass over the games in their order, of shape (contestants,).

    After each game ``a`` gains K * (score - expected) and ``b`` loses the same, where the expected score is
    1 / (1 + base ** ((rating_b - rating_a) / scale)); it is computed as (1 + tanh) / 2, the same number
    without overflow. A contestant without games keeps ``init``. Raises StatsError for bad input.
    """
    import numpy as np

    games = make_games(a, b, score, contestants)
    parameters = EloParameters(k, scale, base, init)
    rate = parameters.half_rate
    ratings = [float(init)] * contestants
    for first, second, won in zip(games.a.tolist(), games.b.tolist(), games.score.tolist(), strict=True):
        expected = 0.5 * (1.0 + math.tanh((ratings[first] - ratings[second]) * rate))
        gain = k * (won - expected)
        ratings[first] += gain
        ratings[second] -= gain
    return np.array(ratings)
