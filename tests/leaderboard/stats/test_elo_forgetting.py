"""A round needs its last games only: its ratings are those of all games."""

import numpy as np
import pytest

from leaderboard.stats import EloParameters, bootstrap_elo, elo, make_games, sequential_elo
from leaderboard.stats import elo as module
from leaderboard.stats.elo import games_remembered
from leaderboard.stats.elo_pools import late_games, pool_sizes, worth_drawing
from leaderboard.stats.resampling import CLUSTER_DRAWS, LATE_GAMES, cluster_draws, times_drawn
from tests.leaderboard.stats.simulation import PUBLISHED, simulated_games
from tests.leaderboard.stats.test_elo_pools import every_game_an_outcome
from tests.leaderboard.stats.test_resampling import word_in_plain_integers


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
    """Twenty runs through games in random order, each beside the same run cut to what is remembered."""
    games = simulated_games(50_000 // len(ratings) ** 2 * (32 // int(min(k, 32))), ratings, tie_share=0.2)
    last = remembered(games, k=k)
    assert last < len(games)
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(games))
        whole, cut = (
            sequential_elo(games.a[some], games.b[some], games.score[some], len(ratings), k=k)
            for some in (order, order[-last:])
        )
        assert cut == pytest.approx(whole, abs=1e-6)


def test_resampled_games_give_the_samples_of_whole_rounds(monkeypatch):
    games = simulated_games(1500, tie_share=0.2)
    arguments = (games.a, games.b, games.score, 4)
    assert remembered(games) < len(games) // 2
    cut = bootstrap_elo(*arguments, rounds=20).samples
    monkeypatch.setattr(module, "games_remembered", lambda *_: len(games))
    whole = bootstrap_elo(*arguments, rounds=20).samples
    assert not np.array_equal(cut, whole)
    assert cut == pytest.approx(whole, abs=1e-6)


def clustered_games():
    games = simulated_games(900, tie_share=0.2, raters=3, clustered=True)
    kept = np.random.default_rng(1).random(len(games)) < 0.7
    return make_games(games.a[kept], games.b[kept], games.score[kept], 4, cluster=games.cluster[kept])


def test_resampled_prompts_are_sequential_elo_on_late_games_of_the_drawn_ones():
    games = clustered_games()
    last = remembered(games)
    assert 2 * last < len(games) // 2
    found = bootstrap_elo(games.a, games.b, games.score, 4, rounds=3, seed=42, cluster=games.cluster)
    of_cluster = [np.flatnonzero(games.cluster == c) for c in range(games.clusters)]
    largest = max(map(len, of_cluster))
    for number in range(3):
        played, taken, step = [], set(), 0
        while len(played) < last:
            word = word_in_plain_integers(42, number, step, LATE_GAMES)
            slot, place = (word >> 32) * games.clusters >> 32, (word & (2**32 - 1)) * largest >> 32
            drawn = of_cluster[
                (word_in_plain_integers(42, number, slot, CLUSTER_DRAWS) >> 32) * games.clusters >> 32
            ]
            if place < len(drawn) and (slot, place) not in taken:
                taken.add((slot, place))
                played.append(drawn[place])
            step += 1
        expected = sequential_elo(games.a[played], games.b[played], games.score[played], 4)
        assert found.samples[number] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("options", [{"threads": 3}, {"threads": 1}])
def test_late_games_do_not_depend_on_blocks_or_threads(monkeypatch, options):
    games = clustered_games()
    arguments = {"rounds": 12, "cluster": games.cluster}
    expected = bootstrap_elo(games.a, games.b, games.score, 4, **arguments).samples
    monkeypatch.setattr(module, "MEMORY", 50_000)
    found = bootstrap_elo(games.a, games.b, games.score, 4, **options, **arguments).samples
    assert found == pytest.approx(expected, abs=1e-9)


def test_intervals_are_those_of_whole_rounds_but_for_chance(monkeypatch):
    """Other draws of the same distribution: means and spreads of 1500 rounds within their standard errors."""
    games = clustered_games()
    arguments = (games.a, games.b, games.score, 4)
    cut = bootstrap_elo(*arguments, rounds=1500, cluster=games.cluster).samples
    monkeypatch.setattr(module, "games_remembered", lambda *_: len(games))
    whole = bootstrap_elo(*arguments, rounds=1500, cluster=games.cluster).samples
    spread = whole.std(axis=0)
    assert np.abs(cut.mean(axis=0) - whole.mean(axis=0)).max() < 5 * (2 / 1500) ** 0.5 * spread.max()
    assert cut.std(axis=0) == pytest.approx(spread, rel=5 / 1500**0.5)


class TestLateGames:
    SIZES = (1, 4, 2, 7, 1, 3, 6, 8)

    def made(self):
        cluster = np.repeat(np.arange(len(self.SIZES)), self.SIZES)
        return cluster, every_game_an_outcome(cluster)

    def test_nothing_is_drawn_twice_that_is_not_in_the_pool_twice(self):
        cluster, clusters = self.made()
        rounds = np.arange(300)
        sizes = pool_sizes(clusters, 5, rounds)
        some = rounds[worth_drawing(clusters, sizes, 8, 5)]
        found = late_games(clusters, 8, 5, some)
        for own, played in zip(cluster_draws(5, some, len(clusters)), found, strict=True):
            times = np.bincount(own, minlength=len(clusters))
            games, often = np.unique(played, return_counts=True)
            assert (often <= times[cluster[games]]).all()

    def test_as_many_as_there_are_is_the_whole_pool(self):
        """The last of them take more attempts than the first guess, which leaves the earlier ones alone."""
        cluster, clusters = self.made()
        rounds = np.arange(20)
        for number, own in enumerate(cluster_draws(5, rounds, len(clusters))):
            times = np.bincount(own, minlength=len(clusters))[cluster]
            (found,) = late_games(clusters, times.sum(), 5, rounds[number : number + 1])
            assert np.bincount(found, minlength=len(cluster)).tolist() == times.tolist()
            assert found[:3].tolist() == late_games(clusters, 3, 5, rounds)[number].tolist()

    def test_every_game_of_the_pool_is_equally_likely_at_every_step(self):
        _, clusters = self.made()
        rounds = np.arange(30_000)
        sizes = pool_sizes(clusters, 5, rounds)
        some = rounds[worth_drawing(clusters, sizes, 4, 5)]
        found = late_games(clusters, 4, 5, some)
        # Chance of each game: as often as its cluster was drawn, of all games of the pool.
        times = times_drawn(5, some, len(clusters)).repeat(clusters.size, axis=1)
        expected = (times / times.sum(axis=1, keepdims=True)).sum(axis=0)
        for step in range(4):
            seen = np.bincount(found[:, step], minlength=len(expected))
            # Chi-square with 31 degrees of freedom: above 61.1 once in a thousand seeds.
            assert ((seen - expected) ** 2 / expected).sum() < 61.1

    def test_few_games_or_uneven_clusters_are_not_worth_it(self):
        _, clusters = self.made()
        assert worth_drawing(clusters, np.array([15, 16, 40]), 8, 5).tolist() == [False, True, True]
        uneven = every_game_an_outcome(np.repeat(np.arange(101), [1] * 100 + [1000]))
        assert not worth_drawing(uneven, np.array([10_000]), 8, 5).any()
