import numpy as np
import pytest
from scipy.optimize import minimize

from leaderboard.stats import make_games
from leaderboard.stats.outcomes import distinct_outcomes
from leaderboard.stats.pair_table import PairTable
from leaderboard.stats.robustness import FittedTable
from tests.leaderboard.stats.simulation import simulated_games


def table_of(games):
    return PairTable.of(distinct_outcomes(games), games.contestants)


def gap(table, outcome, change):
    """The gap from contestant 0 to 1 with ``change`` more games of an outcome, by a general optimiser."""
    weight = table.count_of_outcome + change * (np.arange(len(table.count_of_outcome)) == outcome)
    a, b, score = table.a[table.pair_of_outcome], table.b[table.pair_of_outcome], table.score_of_outcome

    def loss(theta):
        lead = theta[a] - theta[b]
        won, lost = np.logaddexp(0, -lead), np.logaddexp(0, lead)
        return (weight * (score * won + (1 - score) * lost)).sum() + 0.5 * theta.sum() ** 2

    theta = minimize(loss, np.zeros(table.contestants), method="BFGS", options={"gtol": 1e-10}).x
    return theta[0] - theta[1]


@pytest.mark.parametrize("outcome", [0, 4, 16])
def test_influence_is_the_slope_of_the_gap_in_the_weight_of_an_outcome(outcome):
    table = table_of(simulated_games(30, seed=3, tie_share=0.2))
    slope = (gap(table, outcome, 0.01) - gap(table, outcome, -0.01)) / 0.02
    assert FittedTable.of(table).influence(0, 1)[outcome] == pytest.approx(slope, rel=1e-3, abs=1e-5)


def test_two_contestants_by_hand():
    # 3 wins of 4: the expected score is 3/4 and the information of a game 3/16, so a win moves the gap
    # by (1 - 3/4) / (4 * 3/16) = 1/3 and a loss by -3/4 / (3/4) = -1.
    games = make_games([0] * 4, [1] * 4, [1, 1, 1, 0], 2)
    assert FittedTable.of(table_of(games)).influence(0, 1) == pytest.approx([-1, 1 / 3])


def test_the_influences_of_all_games_add_up_to_nothing():
    table = table_of(simulated_games(50, seed=1, tie_share=0.3))
    moved = FittedTable.of(table).influence(0, 2)
    assert abs(moved @ table.count_of_outcome) < 1e-9
