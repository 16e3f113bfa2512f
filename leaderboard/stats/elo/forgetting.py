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
from typing import Final

import numpy as np

from leaderboard.stats.bradley_terry.climbing import climb
from leaderboard.stats.bradley_terry.fit import all_games
from leaderboard.stats.bradley_terry.pair_table import PairTable
from leaderboard.stats.elo.sequential import EloParameters
from leaderboard.stats.games import FloatArray
from leaderboard.stats.outcomes import Outcomes

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
