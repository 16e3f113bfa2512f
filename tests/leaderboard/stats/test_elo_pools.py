import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats import bootstrap_elo, elo_walk, make_games, sequential_elo
from leaderboard.stats.elo_pools import cluster_steps, group_by_cluster, pool_sizes
from leaderboard.stats.outcomes import GAMES_AT_ONCE, Outcomes, outcomes_of
from leaderboard.stats.resampling import CLUSTER_DRAWS, POOL_ORDER, cluster_draws
from tests.leaderboard.stats.simulation import simulated_games
from tests.leaderboard.stats.test_resampling import choice_in_plain_integers

SIZES = (1, 4, 2, 7, 1, 3)


def every_game_an_outcome(cluster):
    """Clusters whose outcomes are their game numbers."""
    numbers = np.arange(len(cluster))
    outcomes = Outcomes(numbers, numbers, numbers / 2, numbers.astype(np.uint16))
    return group_by_cluster(outcomes, np.asarray(cluster))


def pools(rounds):
    """Game numbers played in each round, of clusters of SIZES."""
    cluster = np.repeat(np.arange(len(SIZES)), SIZES)
    clusters = every_game_an_outcome(cluster)
    numbers = np.arange(rounds)
    steps = np.concatenate(list(cluster_steps(clusters, pool_sizes(clusters, 11, numbers), 11, numbers, 5)))
    return cluster, [column[column != len(cluster)].tolist() for column in steps.T]


class TestPools:
    def test_whole_clusters_are_drawn_as_often_as_there_are_clusters(self):
        cluster, played = pools(50)
        draws = cluster_draws(11, np.arange(50), len(SIZES))
        for pool, drawn in zip(played, draws, strict=True):
            expected = [game for c in drawn for game in np.flatnonzero(cluster == c)]
            assert sorted(pool) == sorted(expected)

    def test_the_games_of_a_pool_stand_in_random_order(self):
        _, played = pools(4000)
        # Relative place, 0 to 1, at which a game is played: on average the middle, whatever the game.
        places = {}
        for pool in played:
            for place, game in enumerate(pool):
                places.setdefault(game, []).append((place + 0.5) / len(pool))
        means = [np.mean(found) for found in places.values()]
        assert len(means) == sum(SIZES)
        assert means == pytest.approx(np.full(len(means), 0.5), abs=0.03)

    def test_every_order_is_equally_likely(self):
        clusters = every_game_an_outcome([0, 0, 0, 0])
        numbers = np.arange(12_000)
        steps = np.concatenate(list(cluster_steps(clusters, np.full(12_000, 4), 5, numbers, 32)))
        orders, times = np.unique(steps.T, axis=0, return_counts=True)
        assert len(orders) == 24
        # Chi-square with 23 degrees of freedom: above 49.7 once in a thousand seeds.
        assert ((times - 500) ** 2 / 500).sum() < 49.7

    def test_the_draws_are_cut_without_changing_them(self, monkeypatch):
        whole = [drawn.tolist() for drawn in cluster_draws(3, np.arange(20), 9)]
        monkeypatch.setattr("leaderboard.stats.resampling.DRAWS_AT_ONCE", 20)
        assert [drawn.tolist() for drawn in cluster_draws(3, np.arange(20), 9)] == whole


def test_each_round_is_sequential_elo_on_the_drawn_clusters_in_shuffled_order():
    games = simulated_games(7, tie_share=0.3, seed=5, clustered=True)
    found = bootstrap_elo(games.a, games.b, games.score, 4, rounds=6, seed=42, cluster=games.cluster)
    for number in range(6):
        drawn = [choice_in_plain_integers(42, number, step, 7, CLUSTER_DRAWS) for step in range(7)]
        pool = [game for cluster in drawn for game in np.flatnonzero(games.cluster == cluster)]
        for step in range(len(pool)):
            other = step + choice_in_plain_integers(42, number, step, len(pool) - step, POOL_ORDER)
            pool[step], pool[other] = pool[other], pool[step]
        expected = sequential_elo(games.a[pool], games.b[pool], games.score[pool], 4)
        assert found.samples[number] == pytest.approx(expected, abs=1e-9)


class TestGrouping:
    @given(st.lists(st.integers(-3, 5), min_size=1, max_size=60), st.integers(1, 9))
    def test_games_stand_by_cluster_and_in_their_order(self, labels, at_once):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("leaderboard.stats.outcomes.GAMES_AT_ONCE", at_once)
            clusters = every_game_an_outcome(labels)
        assert clusters.of_game.tolist() == np.argsort(labels, kind="stable").tolist()
        assert clusters.size.tolist() == np.unique(labels, return_counts=True)[1].tolist()

    def test_labels_may_be_text(self):
        assert every_game_an_outcome(["b", "a", "b"]).of_game.tolist() == [1, 0, 2]


@given(st.data())
def test_outcomes_do_not_depend_on_the_parts_they_are_read_in(data):
    games = data.draw(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.sampled_from((0, 0.5, 1)))))
    a = np.array([first for first, _, _ in games], dtype=np.int8)
    b = np.array([(first + distance) % 4 for first, distance, _ in games], dtype=np.int16)
    score = np.array([won for _, _, won in games], dtype=np.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("leaderboard.stats.outcomes.GAMES_AT_ONCE", data.draw(st.integers(1, 5)))
        found = outcomes_of(a, b, score, 4)
    number = found.of_game
    swapped = a > b
    assert found.a[number].tolist() == np.minimum(a, b).tolist()
    assert found.b[number].tolist() == np.maximum(a, b).tolist()
    assert found.score[number].tolist() == np.where(swapped, 1 - score, score).tolist()
    assert len(set(zip(found.a, found.b, found.score, strict=True))) == len(found)


def test_pools_and_files_longer_than_one_part_are_read_whole(monkeypatch):
    games = make_games([0, 0, 1] * 9, [1, 2, 2] * 9, [1, 0.5, 0] * 9, 3, cluster=[0, 1, 1] * 9)
    arguments = (games.a, games.b, games.score, 3)
    options = {"rounds": 8, "cluster": games.cluster}
    whole = bootstrap_elo(*arguments, **options).samples
    monkeypatch.setattr("leaderboard.stats.elo_pools.GAMES_AT_ONCE", 4)
    monkeypatch.setattr(elo_walk, "STEPS_AT_ONCE", 3)
    assert np.array_equal(bootstrap_elo(*arguments, **options).samples, whole)
    games = simulated_games(GAMES_AT_ONCE // 6 + 10)
    found = outcomes_of(games.a, games.b, games.score, 4)
    assert len(found.of_game) == len(games) > GAMES_AT_ONCE
    assert (
        found.score[found.of_game[-3:]].tolist()
        == np.where(games.a > games.b, 1 - games.score, games.score)[-3:].tolist()
    )
