import math

import evalica
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats import EloParameters, bootstrap_elo, sequential_elo
from leaderboard.stats.checks import ParameterError
from tests.leaderboard.stats.simulation import simulated_games
from tests.leaderboard.stats.strategies import CONTESTANTS, small_games


def rate(games, **options):
    return sequential_elo(games.a, games.b, games.score, games.contestants, **options)


def test_two_games_by_hand():
    # Equals: A wins and takes 32 / 2. Then A, expected to score 0.5459219, loses 32 * 0.5459219.
    assert sequential_elo([0], [1], [1], 2).tolist() == [1016.0, 984.0]
    assert sequential_elo([0, 0], [1, 1], [1, 0], 2) == pytest.approx([998.530498, 1001.469502], abs=1e-6)


def test_a_tie_between_unequals_moves_both_towards_each_other():
    assert sequential_elo([0, 0], [1, 1], [1, 0.5], 2) == pytest.approx([1014.530498, 985.469502], abs=1e-6)


def test_every_parameter_counts():
    rated = sequential_elo([0, 0], [1, 1], [1, 1], 2, k=10, scale=100, base=math.e, init=0)
    expected = 1 / (1 + math.exp(-10 / 100))
    assert rated == pytest.approx([5 + 10 * (1 - expected), -5 - 10 * (1 - expected)], abs=1e-12)


def test_who_plays_no_game_keeps_the_start():
    assert sequential_elo([0], [1], [1], 3)[2] == 1000.0


def test_it_equals_the_reference_package():
    games = simulated_games(60, seed=3, tie_share=0.2)
    names = [f"c{number}" for number in range(4)]
    winner = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    expected = evalica.elo(
        [names[i] for i in games.a],
        [names[i] for i in games.b],
        [winner[s] for s in games.score],
        initial=1000.0,
        base=10.0,
        scale=400.0,
        k=32.0,
    ).scores
    assert rate(games) == pytest.approx([expected[name] for name in names], abs=1e-9)


@given(small_games(), st.permutations(range(CONTESTANTS)))
def test_numbering_contestants_otherwise_changes_nothing(games, numbers):
    renamed = np.array(numbers)
    rated = sequential_elo(renamed[games.a], renamed[games.b], games.score, CONTESTANTS)
    assert rated[renamed] == pytest.approx(rate(games), abs=1e-9)


@given(small_games())
def test_a_game_seen_from_the_other_side_is_the_same_game(games):
    turned = sequential_elo(games.b, games.a, 1 - games.score, CONTESTANTS)
    assert turned == pytest.approx(rate(games), abs=1e-9)


@given(small_games(), st.floats(0.1, 400.0))
def test_points_are_neither_made_nor_lost(games, k):
    assert rate(games, k=k).mean() == pytest.approx(1000.0, abs=1e-9)


def test_an_absurd_k_does_not_overflow():
    assert np.isfinite(sequential_elo([0, 0], [1, 1], [1, 0], 2, k=1e7)).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [("k", 0), ("k", -1), ("k", math.nan), ("scale", 0), ("base", 1), ("base", math.inf), ("init", math.nan)],
)
def test_it_refuses_parameters_out_of_range(name, value):
    with pytest.raises(ParameterError, match=f"{name} is {value}"):
        sequential_elo([0], [1], [1], 2, **{name: value})


@pytest.mark.parametrize(
    ("name", "value", "limit"),
    [
        ("k", 1e308, "at most 1e\\+09"),
        ("scale", 1e10, "at most 1e\\+09"),
        ("base", 1e300, "at most 1e\\+09"),
        ("init", -1e300, "at most 1e\\+09"),
        ("k", 1e-10, "at least 1e-09"),
        ("scale", 1e-300, "at least 1e-09"),
    ],
)
def test_it_refuses_parameters_that_ratings_could_not_follow(name, value, limit):
    with pytest.raises(ParameterError, match=f"^{name} is .*; it must be {limit}$"):
        EloParameters(**{name: value})


@pytest.mark.parametrize("values", [{"k": 1e9}, {"scale": 1e-9, "base": 1e9}, {"scale": 1e9, "k": 1e-9}])
def test_the_largest_and_smallest_give_finite_ratings(values):
    arrays = [0, 0, 1] * 30, [1, 1, 0] * 30, [1, 0.5, 1] * 30, 2
    assert np.isfinite(sequential_elo(*arrays, **values)).all()
    assert np.isfinite(bootstrap_elo(*arrays, rounds=20, **values).samples).all()


@pytest.mark.parametrize(("k", "games"), [(32.0, 65.1), (4.0, 521.2)])
def test_games_to_settle(k, games):
    assert EloParameters(k=k).settling_games == pytest.approx(games, abs=0.05)
