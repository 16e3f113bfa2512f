"""What the rounds of Elo play where clusters are drawn: their pools, the order, and long ones cut short."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats import elo_bootstrap
from leaderboard.stats.elo import sequential_elo
from leaderboard.stats.elo_bootstrap import _pools, bootstrap_elo
from leaderboard.stats.games import Games
from leaderboard.stats.pair_table import Outcomes, outcomes_of
from leaderboard.stats.resampling import CROSSED_DRAWS, cluster_draws, times_drawn
from tests.leaderboard.stats.simulation import simulated_games

SIZES = (1, 4, 2, 7, 1, 3, 6, 8)
CLUSTER = np.random.default_rng(2).permutation(np.repeat(np.arange(len(SIZES)), SIZES))


def pools(rounds, last=None, cluster=CLUSTER, crossed=None):
    """Game numbers that each round plays: every game is an outcome of its own."""
    number = np.arange(len(cluster))
    games = Games(number, number, number / 2, len(number), cluster, crossed=crossed)
    games.__dict__["outcomes"] = Outcomes(number, number, number / 2, number)
    return list(_pools(games, cluster, len(number) if last is None else last, 11, np.asarray(rounds)))


def copies(rounds, crossed=None):
    """How often each game is in the pool of each round, by the draws."""
    found = times_drawn(11, np.asarray(rounds), len(SIZES))[:, CLUSTER]
    if crossed is None:
        return found
    return found * times_drawn(11, np.asarray(rounds), int(crossed.max()) + 1, CROSSED_DRAWS)[:, crossed]


CROSSED = np.arange(len(CLUSTER)) % 4


@pytest.mark.parametrize("crossed", [None, CROSSED])
class TestPools:
    def test_whole_clusters_are_played_as_often_as_they_were_drawn(self, crossed):
        found = [np.bincount(pool, minlength=len(CLUSTER)) for pool in pools(range(50), crossed=crossed)]
        assert np.array_equal(found, copies(range(50), crossed))

    @pytest.mark.parametrize("long", [8, 2])
    def test_late_games_are_drawn_without_return_and_equally_likely(self, monkeypatch, crossed, long):
        monkeypatch.setattr(elo_bootstrap, "_LONG", long)
        drawn = copies(range(5_000), crossed)
        some = np.flatnonzero(drawn.sum(axis=1) > 8)
        played, drawn = np.array(pools(some, 4, crossed=crossed)), drawn[some]
        times = np.array([np.bincount(row, minlength=len(CLUSTER)) for row in played])
        assert (times <= drawn).all()
        expected = (drawn / drawn.sum(axis=1, keepdims=True)).sum(axis=0)
        for step in range(4):
            seen = np.bincount(played[:, step], minlength=len(CLUSTER))
            # Chi-square with 31 degrees of freedom: above 61.1 once in a thousand seeds.
            assert ((seen - expected) ** 2 / expected).sum() < 61.1


def test_every_order_is_equally_likely():
    played = np.array(pools(range(12_000), cluster=np.zeros(4, dtype=np.int64)))
    orders, times = np.unique(played, axis=0, return_counts=True)
    assert len(orders) == 24
    # Chi-square with 23 degrees of freedom: above 49.7 once in a thousand seeds.
    assert ((times - 500) ** 2 / 500).sum() < 49.7


def test_each_round_is_sequential_elo_on_its_pool():
    games = simulated_games(7, tie_share=0.3, seed=5, clustered=True)
    found = bootstrap_elo(games.a, games.b, games.score, 4, rounds=6, seed=11, cluster=games.cluster)
    for number, pool in enumerate(pools(range(6), cluster=games.cluster)):
        drawn = list(cluster_draws(11, np.arange(6), 7))[number]
        assert sorted(games.cluster[pool]) == sorted(np.repeat(drawn, 6))
        expected = sequential_elo(games.a[pool], games.b[pool], games.score[pool], 4)
        assert found.samples[number] == pytest.approx(expected, abs=1e-9)


def test_labels_may_be_text():
    options = {"rounds": 5, "seed": 3}
    named, numbered = (
        bootstrap_elo([0, 0, 1], [1, 2, 2], [1, 0.5, 0], 3, cluster=cluster, **options).samples
        for cluster in (["b", "a", "b"], [1, 0, 1])
    )
    assert np.array_equal(named, numbered)


@given(st.data())
def test_outcomes_are_those_of_the_games(data):
    games = data.draw(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from((0, 0.5, 1)))))
    a = np.array([first for first, _, _ in games], dtype=np.int64)
    b = np.array([(first + distance) % 4 for first, distance, _ in games], dtype=np.int64)
    score = np.array([won for _, _, won in games], dtype=np.float64)
    found = outcomes_of(a, b, score, 4)
    number = found.of_game
    assert found.a[number].tolist() == np.minimum(a, b).tolist()
    assert found.b[number].tolist() == np.maximum(a, b).tolist()
    assert found.score[number].tolist() == np.where(a > b, 1 - score, score).tolist()
    assert len(set(zip(found.a, found.b, found.score, strict=True))) == len(found)
