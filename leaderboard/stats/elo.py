"""Elo: one pass over the games in their order, and how many of the last ones decide.

The expected score 1 / (1 + base ** ((strength_b - strength_a) / scale)) is computed as (1 + tanh) / 2, which
cannot overflow.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bradley_terry import all_games
from leaderboard.stats.checks import FloatArray, ParameterError
from leaderboard.stats.games import make_games
from leaderboard.stats.newton import climb
from leaderboard.stats.pair_table import Outcomes, PairTable

K: Final = 32.0
SCALE: Final = 400.0
BASE: Final = 10.0
INIT: Final = 1000.0
# Beyond it, or below its inverse for K and scale, floats would not hold the strengths.
LARGEST: Final = 1e9
_BOUNDS: Final = {
    "k": (0.0, "a positive number"),
    "scale": (0.0, "a positive number"),
    "base": (1.0, "greater than 1"),
    "init": (-math.inf, "a finite number"),
}


@dataclass(frozen=True)
class EloParameters:
    """Parameters of Elo; raises ParameterError for values out of range."""

    k: float = K  # points that one game moves a strength by at most
    scale: float = SCALE
    base: float = BASE
    init: float = INIT

    def __post_init__(self) -> None:
        for name, (least, wanted) in _BOUNDS.items():
            value = getattr(self, name)
            if not (math.isfinite(value) and value > least):
                raise ParameterError(f"{name} is {value}; it must be {wanted}")
            if abs(value) > LARGEST:
                raise ParameterError(f"{name} is {value:g}; it must be at most {LARGEST:g}")
            if least == 0.0 and value < 1 / LARGEST:
                raise ParameterError(f"{name} is {value:g}; it must be at least {1 / LARGEST:g}")

    @property
    def half_rate(self) -> float:
        """Factor from a difference to x where the expected score is (1 + tanh(x)) / 2."""
        return math.log(self.base) / (2.0 * self.scale)

    @property
    def pull(self) -> float:
        """The share of its remaining way by which one game between near equals moves a strength."""
        return self.k * math.log(self.base) / self.scale / 4.0

    @property
    def settling_games(self) -> float:
        """Games after which a wrong start has lost 95 % of its weight."""
        # 1 / pull games are the time constant, and three of them leave 5 %.
        return 3.0 / self.pull


def sequential_elo(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score: npt.ArrayLike,
    contestants: int,
    *,
    k: float = K,
    scale: float = SCALE,
    base: float = BASE,
    init: float = INIT,
) -> FloatArray:
    """Strengths (contestants,) after one pass over the games in their order.

    After each game ``a`` gains K * (score - expected) and ``b`` loses the same. Raises a StatsError.
    """
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


# How many games at the end of a round decide its strengths: Elo forgets what came before.
#
# Take two runs of Elo through the same games from different starts. A game between a and b averages their
# differences in a and in b with the weights 1 - w and w, where w is K times the slope of the expected
# score, at most ``pull``. The squared difference falls by 2 * w * (1 - w) times the square of how far the
# two differences were apart; over random games by a factor of at least 1 - 2 * (1 - pull) * rate on
# average, where rate is the smallest eigenvalue, after one zero for each connected group, of the Laplacian
# whose weights are the means of w over the pairs. So after log(distance / TOLERANCE) / ((1 - pull) * rate)
# games the runs agree to TOLERANCE, wherever they began.
#
# The slope is taken at the Bradley-Terry strengths, where Elo settles, moved apart by one standard
# deviation of Elo's own movement. Without finite strengths a round plays all its games.

# Points left of where a run began: a root mean square over rounds.
TOLERANCE: Final = 1e-7
# With a larger K a game may overshoot, and averages say little.
LARGEST_PULL: Final = 0.5


def games_remembered(outcomes: Outcomes, contestants: int, parameters: EloParameters) -> int:
    """The number of games at the end of a round that decide its strengths, at most all of them."""
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
    log_odds = climb(likelihood, likelihood.start(1)).x[:, 0]
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
    """The least share of a difference between two runs that one game takes away, on average."""
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
    """One standard deviation of a settled difference between two near equals."""
    # A game adds K times a chance of variance 1/4 and takes away the share ``pull`` of each strength: one has
    # the variance K * scale / (2 * ln(base)), a difference twice that.
    return math.sqrt(parameters.k * parameters.scale / math.log(parameters.base))
