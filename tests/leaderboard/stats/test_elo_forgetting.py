"""A round needs its last games only: its ratings are those of all games."""

import numpy as np
import pytest

from leaderboard.stats import elo
from leaderboard.stats import elo_bootstrap as module
from leaderboard.stats.elo import EloParameters, games_remembered, sequential_elo
from leaderboard.stats.elo_bootstrap import bootstrap_elo
from leaderboard.stats.games import make_games
from tests.leaderboard.stats.simulation import PUBLISHED, simulated_games


def remembered(games, **parameters):
    return games_remembered(games.outcomes, games.contestants, EloParameters(**parameters))


class TestHowMany:
    def test_two_equals_by_hand(self, monkeypatch):
        """Each wins half: nobody is ahead, so w is the pull, and one game takes twice the pull away.

        With K = 32 the pull is 32 * ln(10) / 1600 = 0.046052. Runs that began 100 * sqrt(2) points apart need
        ln(141.42 / 1e-7) / (0.953948 * 0.092103) = 240 games.
        """
        games = make_games([0, 0] * 5000, [1, 1] * 5000, [1, 0] * 5000, 2)
        table = elo.PairTable.of(games.outcomes, 2)
        monkeypatch.setattr(elo, "_movement", lambda _: 0.0)
        assert EloParameters().pull == pytest.approx(0.046052, abs=1e-6)
        assert elo._slowest(table, np.zeros(2), EloParameters(), 1) == pytest.approx(0.092103, abs=1e-6)
        assert elo._needed(0.092103, 0.046052, 100 * 2**0.5) == 240

    def test_what_is_not_forgotten(self):
        games = simulated_games(50)
        assert remembered(games) == len(games)
        games = make_games([0] * 50_000, [1] * 50_000, [1] * 50_000, 2)
        assert remembered(games) == len(games)
        games = simulated_games(20_000)
        assert remembered(games, k=400.0) == len(games)
        many = simulated_games(20_000)
        a, b = (np.append(side, other) for side, other in ((many.a, [4, 0]), (many.b, [0, 4])))
        games = make_games(a, b, np.append(many.score, [1, 1]), 5)
        assert remembered(many) < len(many)
        assert remembered(games) == len(games)

    def test_a_smaller_k_remembers_longer_and_groups_that_never_met_too(self):
        games = simulated_games(20_000)
        assert remembered(games) < remembered(games, k=16) < remembered(games, k=8) < len(games)
        one = simulated_games(20_000)
        both = make_games(
            np.append(one.a, one.a + 4), np.append(one.b, one.b + 4), np.append(one.score, one.score), 8
        )
        # Every second game is of the other group, so it takes twice as many, and a little for the distance.
        assert remembered(both) == pytest.approx(2 * remembered(one), rel=0.05)


@pytest.mark.parametrize("k", [8.0, 32.0, 64.0])
@pytest.mark.parametrize("ratings", [PUBLISHED, tuple(np.linspace(700, 1300, 12)), (1000.0, 1350.0)])
def test_the_last_games_have_the_ratings_of_the_whole_round(k, ratings):
    """Six runs through games in random order, each beside the same run cut to what is remembered."""
    games = simulated_games(50_000 // len(ratings) ** 2 * (32 // int(min(k, 32))), ratings, tie_share=0.2)
    last = remembered(games, k=k)
    assert last < len(games)
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(len(games))
        whole, cut = (
            sequential_elo(games.a[some], games.b[some], games.score[some], len(ratings), k=k)
            for some in (order, order[-last:])
        )
        assert cut == pytest.approx(whole, abs=1e-6)


def clustered_games():
    games = simulated_games(900, tie_share=0.2, raters=3, clustered=True)
    kept = np.random.default_rng(1).random(len(games)) < 0.7
    return make_games(games.a[kept], games.b[kept], games.score[kept], 4, cluster=games.cluster[kept])


@pytest.mark.parametrize("options", [{"threads": 3}, {"threads": 1}])
@pytest.mark.parametrize("clustered", [False, True])
def test_rounds_cut_short_do_not_depend_on_blocks_or_threads(monkeypatch, options, clustered):
    games = clustered_games()
    arguments = {"rounds": 150, "cluster": games.cluster if clustered else None}
    expected = bootstrap_elo(games.a, games.b, games.score, 4, **arguments).samples
    monkeypatch.setattr(module, "MEMORY", 50_000)
    monkeypatch.setattr(module, "ROUNDS_AT_ONCE", 16)
    found = bootstrap_elo(games.a, games.b, games.score, 4, **options, **arguments).samples
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("clustered", [False, True])
def test_intervals_are_those_of_whole_rounds_but_for_chance(monkeypatch, clustered):
    """Other draws of the same distribution: means and spreads of 500 rounds within their standard errors."""
    games = clustered_games()
    assert 2 * remembered(games) < len(games) // 2
    arguments, cluster = (games.a, games.b, games.score, 4), games.cluster if clustered else None
    cut = bootstrap_elo(*arguments, rounds=500, cluster=cluster).samples
    monkeypatch.setattr(module, "games_remembered", lambda *_: len(games))
    whole = bootstrap_elo(*arguments, rounds=500, cluster=cluster).samples
    spread = whole.std(axis=0)
    assert np.abs(cut.mean(axis=0) - whole.mean(axis=0)).max() < 5 * (2 / 500) ** 0.5 * spread.max()
    assert cut.std(axis=0) == pytest.approx(spread, rel=5 / 500**0.5)
