import numpy as np
from hypothesis import given

from leaderboard.stats import make_games, matrices
from tests.leaderboard.stats.strategies import small_games


def test_by_hand_reading_across_a_row():
    games = make_games([0, 1, 0, 1, 1], [1, 0, 1, 2, 0], [1, 1, 0.5, 0.5, 0], 3)
    found = matrices(games)
    assert found.wins.tolist() == [[0, 2, 0], [1, 0, 0], [0, 0, 0]]
    assert found.ties.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert found.games.tolist() == [[0, 4, 0], [4, 0, 1], [0, 1, 0]]
    assert found.win_rate[0, 1] == 2.5 / 4
    assert found.win_rate[1, 0] == 1.5 / 4
    assert found.win_rate[1, 2] == 0.5


def test_contestants_that_never_met_have_no_win_rate():
    found = matrices(make_games([0], [1], [1], 3))
    assert np.isnan(found.win_rate[[0, 1, 2, 0], [2, 2, 2, 0]]).all()


@given(small_games())
def test_a_game_seen_from_the_other_side_is_the_same_game(games):
    turned = matrices(make_games(games.b, games.a, 1 - games.score, games.contestants))
    assert (turned.wins == matrices(games).wins).all()


@given(small_games())
def test_every_game_is_counted_once_from_each_side(games):
    found = matrices(games)
    assert found.games.sum() == 2 * len(games)
    assert (found.games == found.games.T).all()
    assert (found.wins + found.wins.T + found.ties == found.games).all()
    met = found.games > 0
    assert np.allclose((found.win_rate + found.win_rate.T)[met], 1.0)
