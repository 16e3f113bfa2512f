import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from leaderboard.stats import part_agreement as module
from leaderboard.stats.bradley_terry import bradley_terry
from leaderboard.stats.checks import NoGamesError
from leaderboard.stats.games import make_games
from leaderboard.stats.intervals import central_interval
from leaderboard.stats.part_agreement import part_agreement as of_ratings
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ratings import make_ratings, ratings_of_games
from leaderboard.stats.resampling import times_drawn
from tests.leaderboard.stats.simulation import simulated_games


def of(games, chosen):
    """Some of the games, their contestants' numbers as they are."""
    return make_games(games.a[chosen], games.b[chosen], games.score[chosen], games.contestants)


def part_agreement(games, part, method):
    return of_ratings(ratings_of_games(games), part, method)


def strengths(games):
    """Bradley-Terry, averaging 0."""
    rating = bradley_terry(games).rating
    return rating - rating.mean()


def test_two_contestants_by_hand():
    """A won 3 of 4 games, log10(3) × 400 = 190.85 points; of the part's two games one, which are 0 points."""
    games = make_games([0] * 4, [1] * 4, [1, 0, 1, 1], 2, cluster=[0, 0, 1, 1])
    found = part_agreement(games, np.array([True, True, False, False]), Method(rounds=None))
    assert found.change == pytest.approx([-95.424, 95.424], abs=1e-3)
    assert (found.games, found.part) == (4, 2)
    assert np.isnan([*found.tau, found.low[0]]).all()
    assert not found.certain.any()
    assert found.as_dict("AB")["changes"][0]["contestant"] == "A"
    assert found.as_dict("AB")["tau"] is None


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
def test_tau_is_that_of_scipy(both):
    one, other = np.array(both, dtype=float).T
    assert module._kendall(np.array([[one, other]])) == pytest.approx(
        kendalltau(one, other).statistic, nan_ok=True
    )


def test_every_round_is_a_fit_of_the_prompts_it_drew():
    games = simulated_games(12, (1080.0, 1000.0, 920.0), seed=3, tie_share=0.3, clustered=True)
    part = np.random.default_rng(0).random(len(games)) < 0.5
    method = Method(rounds=40, seed=7, interval=90.0)
    found = part_agreement(games, part, method)
    whole, own = strengths(games), strengths(of(games, part))
    assert found.tau.value == pytest.approx(kendalltau(whole, own).statistic)
    assert found.change == pytest.approx(own - whole, abs=1e-6)
    changes, taus = [], []
    for times in times_drawn(7, np.arange(40), 12):
        drawn = np.repeat(np.arange(len(games)), times[games.cluster])
        whole, own = strengths(of(games, drawn)), strengths(of(games, drawn[part[drawn]]))
        changes.append(own - whole)
        taus.append(kendalltau(np.round(whole, 6), np.round(own, 6)).statistic)
    low, high = central_interval(np.array(changes), 90, 12)
    assert found.low == pytest.approx(low, abs=1e-6)
    assert found.high == pytest.approx(high, abs=1e-6)
    known = np.array(taus)[~np.isnan(taus), None]
    (low,), (high,) = central_interval(known, 90, 12)
    tau = found.tau.value
    assert found.tau[1:] == pytest.approx((max(-1.0, min(low, tau)), min(1.0, max(high, tau))))
    size = np.abs(changes - np.mean(changes, axis=0)) / np.std(changes, axis=0)
    certain = np.abs(found.change) / np.std(changes, axis=0) > np.percentile(size.max(axis=1), 90)
    assert found.certain.tolist() == certain.tolist()


def test_all_games_are_ranked_as_all():
    games = simulated_games(10, clustered=True)
    found = part_agreement(games, np.ones(len(games), dtype=bool), Method(rounds=20))
    assert found.tau == (1.0, 1.0, 1.0)
    assert found.change == pytest.approx(0.0, abs=1e-9)
    assert not found.certain.any()


def test_a_part_of_another_order_is_told_from_chance():
    games = simulated_games(60, seed=1, clustered=True)
    part = np.arange(len(games)) % 4 == 0
    turned = make_games(
        games.a, games.b, np.where(part, 1.0 - games.score, games.score), 4, cluster=games.cluster
    )
    found = part_agreement(turned, part, Method(rounds=200))
    assert found.tau.value < 0
    assert found.certain[[0, 3]].all()
    assert found.change[0] < 0 < found.change[3]


def test_ties_off_leave_ratings_out_of_both():
    first, second, prompt = [0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0], [0, 0, 1, 1, 2, 2]
    ratings = make_ratings(first, second, [1, 2, 2, 3, 3, 1], 3, 2, prompt=prompt)
    part = np.array([True, True, True, True, False, False])
    found = of_ratings(ratings, part, Method(rounds=None, ties=False))
    assert (found.games, found.part) == (4, 2)
    assert found.change[0] > 0  # 2:0 of the part, with the prior of a drawn game, and 2:2 of all


def test_contestants_that_the_part_does_not_connect_are_left_out():
    games = make_games([0, 1, 0, 2, 2], [1, 2, 2, 0, 3], [1, 1, 0.5, 0, 1], 4, cluster=[0, 1, 2, 3, 4])
    found = part_agreement(games, np.array([True, True, True, False, False]), Method(rounds=20))
    assert np.isnan(found.change).tolist() == [False, False, False, True]
    assert len(found.as_dict("abcd")["changes"]) == 3
    with pytest.raises(NoGamesError, match="no games"):
        part_agreement(games, np.zeros(5, dtype=bool), Method())
