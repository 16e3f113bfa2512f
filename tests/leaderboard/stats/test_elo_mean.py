"""Elo's mean over endless orders: by hand, against games played one by one, and its properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import solve_continuous_lyapunov

from leaderboard.stats.bradley_terry import bradley_terry
from leaderboard.stats.checks import NoGamesError, ParameterError
from leaderboard.stats.elo import EloParameters
from leaderboard.stats.elo_bootstrap import bootstrap_elo
from leaderboard.stats.elo_mean import _cloud, bootstrap_mean_elo, mean_elo
from leaderboard.stats.games import make_games
from leaderboard.stats.ranking import rank_games
from leaderboard.stats.ranking_method import Method
from tests.leaderboard.stats.simulation import simulated_games, small_games

POINTS = 400 / np.log(10)
THREE_TO_ONE = 400 * np.log10(3)


def played(games, k, rounds=20_000):
    """The mean of strengths after games drawn one by one, and its standard error."""
    found = bootstrap_elo(games.a, games.b, games.score, games.contestants, k=k, rounds=rounds)
    return found.samples.mean(axis=0), found.samples.std(axis=0) / rounds**0.5


def test_three_wins_and_a_loss_by_hand():
    # In log-odds kappa = 8 ln(10) / 400 = 0.0461. A difference of two has the variance kappa, and the chance
    # at ln 3 the slope 3/16 and the second derivative -3/32. The mean chance is 3/4 where the difference
    # exceeds ln 3 by kappa / 2 * (3/32) / (3/16) = kappa / 4 = 0.0115, which is K / 4 = 2 points.
    games = make_games([0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 0], 2)
    rating = mean_elo(games, EloParameters(k=8)).rating
    assert rating[0] - rating[1] == pytest.approx(THREE_TO_ONE + 2, abs=0.05)
    assert rating.sum() == pytest.approx(2000)


@pytest.mark.parametrize(("k", "most"), [(32, 0.1), (100, 0.8)])
@pytest.mark.parametrize("tie_share", [0.0, 0.3])
def test_games_played_one_by_one_have_this_mean(k, most, tie_share):
    games = simulated_games(60, seed=3, tie_share=tie_share)
    mean, error = played(games, k)
    difference = np.abs(mean_elo(games, EloParameters(k=k)).rating - mean)
    assert (difference < most + 4 * error).all()
    # Bradley-Terry's strengths are not that mean: the test can tell.
    assert (np.abs(bradley_terry(games).rating - mean) > most + 4 * error).any()


def test_two_contestants_exactly():
    # The distribution of the difference, moved game by game over a fine grid until it stands still.
    k, won = 32, 0.75
    grid = np.linspace(-600, 1000, 3201)
    chance = 1 / (1 + np.exp(-grid / POINTS))
    share = np.full(len(grid), 1 / len(grid))
    for _ in range(400):
        moved = np.zeros_like(share)
        for score, how_often in ((1, won), (0, 1 - won)):
            place = np.clip(
                (grid + 2 * k * (score - chance) - grid[0]) / (grid[1] - grid[0]), 0, len(grid) - 2
            )
            left = place.astype(int)
            np.add.at(moved, left, how_often * share * (1 - place + left))
            np.add.at(moved, left + 1, how_often * share * (place - left))
        share = moved
    games = make_games([0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 0], 2)
    rating = mean_elo(games, EloParameters(k=k)).rating
    assert share @ grid == pytest.approx(199.03, abs=0.01)
    assert rating[0] - rating[1] == pytest.approx(share @ grid, abs=0.15)


@given(small_games(), st.integers(2, 4), st.randoms(use_true_random=False))
def test_neither_order_nor_the_number_of_equal_games_matters(games, times, random):
    order = list(range(len(games))) * times
    random.shuffle(order)
    again = make_games(games.a[order], games.b[order], games.score[order], games.contestants)
    fit = mean_elo(games, EloParameters())
    if not fit.prior:
        assert mean_elo(again, EloParameters()).rating == pytest.approx(fit.rating, abs=1e-6)
    mirrored = make_games(games.b, games.a, 1 - games.score, games.contestants)
    assert mean_elo(mirrored, EloParameters()).rating == pytest.approx(fit.rating, abs=1e-6)


@given(small_games())
def test_a_small_k_is_bradley_terry(games):
    fit = mean_elo(games, EloParameters(k=1e-6))
    assert fit.rating == pytest.approx(bradley_terry(games).rating, abs=1e-4)
    assert fit.unbounded == bradley_terry(games).unbounded


def test_another_scale_moves_and_stretches():
    games = simulated_games(30)
    usual = mean_elo(games, EloParameters())
    other = mean_elo(games, EloParameters(k=16, scale=200, init=0))
    assert other.rating == pytest.approx((usual.rating - 1000) / 2)


def test_rounds_refit_the_resampled_games():
    games = simulated_games(50, clustered=True)
    found = bootstrap_mean_elo(games, mean_elo(games, EloParameters()), rounds=300, seed=4)
    assert (found.rounds, found.clusters, found.parameters["k"]) == (300, 50, 32.0)
    assert found.samples.mean(axis=0) == pytest.approx(mean_elo(games, EloParameters()).rating, abs=8)
    # One round by hand: with a single prompt drawn again and again it is the whole.
    single = make_games(games.a, games.b, games.score, 4, cluster=np.zeros(len(games), dtype=int))
    again = bootstrap_mean_elo(single, mean_elo(single, EloParameters()), rounds=1)
    assert again.samples[0] == pytest.approx(mean_elo(games, EloParameters()).rating, abs=1e-6)
    with pytest.raises(NoGamesError):
        mean_elo(make_games([], [], [], 2), EloParameters())


def test_more_votes_narrow_the_interval():
    def width(prompts, name):
        rows = rank_games(simulated_games(prompts), "abcd", Method(name, rounds=300)).standings
        return np.mean([row.high - row.low for row in rows])

    assert width(1600, "elo") == pytest.approx(width(100, "elo") / 4, rel=0.15)
    assert width(1600, "elo-study") > 0.8 * width(100, "elo-study")


def test_a_k_too_large_is_refused_with_the_largest():
    with pytest.raises(ParameterError, match=r"k is 200; the mean over orders can be had up to 139; choose"):
        Method(elo=EloParameters(k=200))
    Method("elo-study", elo=EloParameters(k=200))


def test_the_cloud_is_where_games_add_as_much_as_they_take_away():
    pull = np.array([[3.0, -1, 0], [-1, 4, -2], [0, -2, 5]])
    games_add = np.array([[2.0, -1, 0], [-1, 3, -1], [0, -1, 1]])
    np.testing.assert_allclose(_cloud(pull, games_add), solve_continuous_lyapunov(pull, games_add))
