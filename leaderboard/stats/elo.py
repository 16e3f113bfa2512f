"""How many games at the end of a round decide its ratings: Elo forgets what came before.

Take two runs of Elo through the same games from different ratings. A game between a and b brings the runs
closer: what they differ by in a and in b is averaged with the weights 1 - w and w. Here w is K times the
slope of the expected score somewhere between the runs, so at most ``pull``, K * ln(base) / scale / 4. The
squared difference falls by 2 * w * (1 - w) times the square of how far the two differences were apart. Over
games drawn by chance it falls per game, on average, by a factor of at least 1 - 2 * (1 - pull) * rate. The
rate is an eigenvalue of the Laplacian matrix whose weights are the means of w over the pairs: the smallest,
after one zero for each connected group. So after log(distance / TOLERANCE) / ((1 - pull) * rate) games the
runs agree to TOLERANCE, wherever they began, and a round that plays only these games has the ratings of the
whole round.

The slope is taken with the Bradley-Terry ratings, where Elo settles, moved ALLOWANCE standard deviations of
Elo's own movement apart. Where no finite ratings exist Elo does not settle, and a round plays all its
games.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bradley_terry import PairTable, all_games, climb
from leaderboard.stats.checks import FloatArray, ParameterError
from leaderboard.stats.games import make_games
from leaderboard.stats.outcomes import Outcomes

# Sequential Elo: one pass over the games in their order.


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


TOLERANCE: Final = 1e-7
"""What is left, in points, of where a run began: a root mean square over rounds."""

ALLOWANCE: Final = 1.0

LARGEST_PULL: Final = 0.5
"""With a larger K a game may carry a rating past where it belongs, and averages say little."""


def games_remembered(outcomes: Outcomes, contestants: int, parameters: EloParameters) -> int:
    """The number of games at the end of a round that decide its ratings, at most all of them."""
    games, pull = len(outcomes.of_game), parameters.pull
    if pull > LARGEST_PULL:
        return games
    table = PairTable.of(outcomes, contestants)
    groups = len(np.unique(table.component))
    # The eigenvalues add up to twice the mean of w: the smallest is at most their average.
    if games <= _needed(2.0 * pull / max(1, contestants - groups), pull, 2.0 * parameters.scale):
        return games
    likelihood = all_games(table)
    if likelihood.prior.any():
        return games
    log_odds = climb(likelihood, np.zeros((contestants, 1)))[:, 0]
    rating = log_odds * parameters.scale / math.log(parameters.base)
    rate = _slowest(table, rating, parameters, groups)
    spread = float(np.ptp(table.centred(rating[:, None]))) + _movement(parameters)
    return min(games, _needed(rate, pull, spread * contestants**0.5))


def _needed(rate: float, pull: float, apart: float) -> int:
    """Games after which runs that began ``apart`` points from each other agree to TOLERANCE."""
    if rate <= 0.0:
        return np.iinfo(np.int64).max
    return math.ceil(math.log(apart / TOLERANCE) / ((1.0 - pull) * rate))


def _slowest(table: PairTable, rating: FloatArray, parameters: EloParameters, groups: int) -> float:
    """The share of a difference between two runs that one game takes away at least, on average."""
    further = np.abs(rating[table.a] - rating[table.b]) + _movement(parameters)
    slope = 1.0 - np.tanh(further * parameters.half_rate) ** 2
    games = np.bincount(table.pair_of_outcome, weights=table.count_of_outcome, minlength=len(table.a))
    weight = parameters.pull * slope * games / games.sum()
    matrix = np.zeros((table.contestants, table.contestants))
    np.add.at(matrix, (table.a, table.b), -weight)
    matrix += matrix.T
    matrix[np.diag_indices_from(matrix)] = -matrix.sum(axis=1)
    return float(np.linalg.eigvalsh(matrix)[groups]) if groups < table.contestants else 0.0


def _movement(parameters: EloParameters) -> float:
    """ALLOWANCE standard deviations of a settled difference between two near equals.

    A game adds K times a chance of variance 1/4 and takes away the share ``pull`` of each rating, so that a
    rating has the variance K * scale / (2 * ln(base)) and a difference twice that.
    """
    return ALLOWANCE * math.sqrt(parameters.k * parameters.scale / math.log(parameters.base))
