import math
import re
import tracemalloc

import evalica
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats import elo_bootstrap
from leaderboard.stats.checks import (
    ClusterError,
    ContestantNumberError,
    LengthMismatchError,
    ParameterError,
)
from leaderboard.stats.elo import EloParameters, sequential_elo
from leaderboard.stats.elo_bootstrap import bootstrap_elo, elo_samples
from leaderboard.stats.games import make_games
from leaderboard.stats.intervals import central_interval
from leaderboard.stats.resampling import ELO_DRAWS, generator
from tests.leaderboard.stats.simulation import CONTESTANTS, PUBLISHED, simulated_games, small_games


def rate(games, **options):
    return sequential_elo(games.a, games.b, games.score, games.contestants, **options)


def test_by_hand():
    # Equals: A wins and takes 32 / 2. Then A, expected to score 0.5459219, loses 32 * 0.5459219.
    assert sequential_elo([0], [1], [1], 2).tolist() == [1016.0, 984.0]
    assert sequential_elo([0, 0], [1, 1], [1, 0], 2) == pytest.approx([998.530498, 1001.469502], abs=1e-6)
    assert sequential_elo([0, 0], [1, 1], [1, 0.5], 2) == pytest.approx([1014.530498, 985.469502], abs=1e-6)
    rated = sequential_elo([0, 0], [1, 1], [1, 1], 2, k=10, scale=100, base=math.e, init=0)
    expected = 1 / (1 + math.exp(-10 / 100))
    assert rated == pytest.approx([5 + 10 * (1 - expected), -5 - 10 * (1 - expected)], abs=1e-12)
    assert sequential_elo([0], [1], [1], 3)[2] == 1000.0
    assert np.isfinite(sequential_elo([0, 0], [1, 1], [1, 0], 2, k=1e7)).all()


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
def test_neither_sides_nor_points_are_made_or_lost(games):
    turned = sequential_elo(games.b, games.a, 1 - games.score, CONTESTANTS)
    assert turned == pytest.approx(rate(games), abs=1e-9)


@given(small_games(), st.floats(0.1, 400.0))
def test_points_are_neither_made_nor_lost(games, k):
    assert rate(games, k=k).mean() == pytest.approx(1000.0, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        *((name, value, f"{name} is {value}") for name in ("k", "scale") for value in (0, -1, math.nan)),
        ("base", 1, "base is 1"),
        ("base", math.inf, "base is inf"),
        ("init", math.nan, "init is nan"),
        ("k", 1e308, "^k is .*; it must be at most 1e\\+09$"),
        ("scale", 1e10, "^scale is .*; it must be at most 1e\\+09$"),
        ("base", 1e300, "^base is .*; it must be at most 1e\\+09$"),
        ("init", -1e300, "^init is .*; it must be at most 1e\\+09$"),
        ("k", 1e-10, "^k is .*; it must be at least 1e-09$"),
        ("scale", 1e-300, "^scale is .*; it must be at least 1e-09$"),
    ],
)
def test_it_refuses_parameters_that_ratings_could_not_follow(name, value, message):
    with pytest.raises(ParameterError, match=message):
        EloParameters(**{name: value})
    with pytest.raises(ParameterError, match=message):
        sequential_elo([0], [1], [1], 2, **{name: value})


@pytest.mark.parametrize("values", [{"k": 1e9}, {"scale": 1e-9, "base": 1e9}, {"scale": 1e9, "k": 1e-9}])
def test_the_largest_and_smallest_give_finite_ratings(values):
    arrays = [0, 0, 1] * 30, [1, 1, 0] * 30, [1, 0.5, 1] * 30, 2
    assert np.isfinite(sequential_elo(*arrays, **values)).all()
    assert np.isfinite(bootstrap_elo(*arrays, rounds=20, **values).samples).all()


@pytest.mark.parametrize(("k", "games"), [(32.0, 65.1), (4.0, 521.2)])
def test_games_to_settle(k, games):
    assert EloParameters(k=k).settling_games == pytest.approx(games, abs=0.05)


def bootstrap(games, **options):
    return bootstrap_elo(games.a, games.b, games.score, games.contestants, cluster=games.cluster, **options)


def half_width(samples, interval):
    low, high = central_interval(samples, interval)
    return float(((high - low) / 2).mean())


class TestResamplingGames:
    def test_each_round_is_sequential_elo_on_the_drawn_games(self):
        games = simulated_games(8, tie_share=0.3, seed=5)
        n = len(games)
        result = bootstrap(games, rounds=70, seed=42, k=24.0, scale=300.0, base=8.0, init=1500.0)
        blocks = [generator(42, ELO_DRAWS, block).integers(n, size=(n, 64)) for block in range(2)]
        for number, drawn in enumerate(np.concatenate(blocks, axis=1).T[:70]):
            expected = sequential_elo(
                games.a[drawn],
                games.b[drawn],
                games.score[drawn],
                4,
                k=24.0,
                scale=300.0,
                base=8.0,
                init=1500.0,
            )
            assert result.samples[number] == pytest.approx(expected, abs=1e-9)

    def test_what_made_the_samples(self):
        result = bootstrap(simulated_games(3), rounds=7, k=16, seed=9, threads=2)
        assert result.samples.shape == (7, 4)
        assert result.parameters == {"k": 16, "scale": 400.0, "base": 10.0, "init": 1000.0}
        assert (result.rounds, result.seed, result.clusters) == (7, 9, None)
        assert result.threads == 2
        assert bootstrap_elo([0], [1], [1], 3, rounds=4).samples[:, 2].tolist() == [1000.0] * 4
        games = simulated_games(5)
        assert not np.array_equal(
            bootstrap(games, rounds=3).samples, bootstrap(games, rounds=3, seed=1).samples
        )

    def test_memory_does_not_grow_with_games_times_rounds(self):
        games = simulated_games(2000)
        tracemalloc.start()
        bootstrap(games, rounds=1000)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        # 12,000 games by 1000 rounds would take 96 MB even at 8 bytes each.
        assert peak < 24e6


def samples(games, rounds=150, **layout):
    """Ratings of the rounds, computed in the blocks and threads of ``layout``."""
    return elo_samples(games, EloParameters(), rounds, 3, **layout)


class TestTwoGamesByHand:
    """A beats B, B beats A: the first win is worth 16 points, another 14.53, the answer to it 17.47."""

    TWICE_B, B_THEN_A, A_THEN_B, TWICE_A = 969.469502, 1001.469502, 998.530498, 1030.530498

    def ratings_of_a(self, cluster=None):
        found = bootstrap_elo([0, 0], [1, 1], [1, 0], 2, rounds=4000, cluster=cluster)
        ratings, times = np.unique(found.samples[:, 0].round(6), return_counts=True)
        return ratings, times / 4000

    def test_what_two_games_end_with_drawn_alone_and_as_one_prompt(self):
        ratings, shares = self.ratings_of_a()
        expected = [self.TWICE_B, self.A_THEN_B, self.B_THEN_A, self.TWICE_A]
        assert ratings == pytest.approx(np.array(expected), abs=1e-6)
        assert shares == pytest.approx(np.full(4, 0.25), abs=0.03)
        ratings, shares = self.ratings_of_a(cluster=[7, 7])
        assert ratings == pytest.approx(np.array([self.A_THEN_B, self.B_THEN_A]), abs=1e-6)
        assert shares == pytest.approx(np.full(2, 0.5), abs=0.03)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize(
    "layout",
    [{"rounds_at_once": 1}, {"threads": 2}, {"threads": 3, "rounds_at_once": 4}],
)
def test_blocks_and_threads_change_nothing(clustered, layout):
    games = simulated_games(20, tie_share=0.2, clustered=clustered)
    assert np.array_equal(samples(games, **layout), samples(games))


@pytest.mark.parametrize("clustered", [False, True])
def test_the_number_of_steps_at_once_changes_nothing(monkeypatch, clustered):
    games = simulated_games(20, clustered=clustered)
    whole = samples(games)
    monkeypatch.setattr(elo_bootstrap, "STEPS_AT_ONCE", 5)
    monkeypatch.setattr(elo_bootstrap, "DRAWN_AT_ONCE", 15)
    assert np.array_equal(samples(games), whole)


def test_little_memory_for_pools_changes_nothing(monkeypatch):
    games = simulated_games(20, clustered=True)
    whole = samples(games)
    monkeypatch.setattr(elo_bootstrap, "MEMORY", 1000)
    assert np.array_equal(samples(games, threads=3), whole)


@given(
    st.booleans().flatmap(lambda clustered: small_games(clustered=clustered)),
    st.permutations(range(CONTESTANTS)),
)
def test_numbering_contestants_otherwise_changes_no_sample(games, numbers):
    renamed = np.array(numbers)
    other = make_games(renamed[games.a], renamed[games.b], games.score, CONTESTANTS, cluster=games.cluster)
    expected = bootstrap(games, rounds=5).samples
    assert bootstrap(other, rounds=5).samples[:, renamed] == pytest.approx(expected, abs=1e-9)


@given(small_games())
def test_a_resampled_game_seen_from_the_other_side_is_the_same_game_and_no_points_are_lost(games):
    turned = make_games(games.b, games.a, 1 - games.score, CONTESTANTS)
    assert np.array_equal(bootstrap(turned, rounds=5).samples, bootstrap(games, rounds=5).samples)


@given(st.booleans().flatmap(lambda clustered: small_games(clustered=clustered)))
def test_no_round_makes_or_loses_points(games):
    assert bootstrap(games, rounds=5).samples.mean(axis=1) == pytest.approx(np.full(5, 1000.0), abs=1e-9)


class TestResamplingPrompts:
    def test_the_number_of_clusters_and_one_of_them(self):
        assert bootstrap(simulated_games(9, clustered=True), rounds=2).clusters == 9
        games = make_games([0, 0, 1], [1, 2, 2], [1, 1, 1], 3, cluster=[5, 5, 5])
        assert (bootstrap(games, rounds=20).samples[:, 0] > 1000).all()

    def test_prompts_that_raters_share_widen_the_interval_at_small_k(self):
        games = simulated_games(60, raters=4, prompt_effect=250.0, clustered=True, seed=2)
        by_game = bootstrap_elo(games.a, games.b, games.score, 4, rounds=300, k=1.0)
        by_prompt = bootstrap(games, rounds=300, k=1.0)
        assert half_width(by_prompt.samples, 95) > 1.2 * half_width(by_game.samples, 95)


class TestThePublishedStudy:
    """327 prompts, four models, every pair once, K=32: intervals as wide as those published."""

    @pytest.mark.parametrize(
        ("study", "k", "widths"),
        [
            ({}, 32.0, {90: (72, 83), 95: (86, 98)}),
            ({"clustered": True}, 32.0, {90: (72, 83)}),  # with one rater prompts change little
            ({"tie_share": 0.22}, 32.0, {90: (60, 71)}),
            ({}, 4.0, {90: (22, 30)}),
        ],
    )
    def test_the_width_of_intervals(self, study, k, widths):
        found = [bootstrap(simulated_games(seed=seed, **study), k=k).samples for seed in range(3)]
        for interval, (narrow, wide) in widths.items():
            assert narrow <= np.mean([half_width(samples, interval) for samples in found]) <= wide

    def test_the_medians_find_the_true_ratings(self):
        medians = [np.median(bootstrap(simulated_games(seed=s)).samples, axis=0) for s in range(3)]
        assert np.mean(medians, axis=0) == pytest.approx(np.array(PUBLISHED), abs=20)


def test_the_bootstrap_refuses_parameters_out_of_range():
    with pytest.raises(ParameterError, match="k is 0"):
        bootstrap_elo([0], [1], [1], 2, k=0)


def test_an_error_names_the_position():
    with pytest.raises(ContestantNumberError, match=re.escape("b[4] is 9, outside the contestants 0..2")):
        bootstrap_elo([0, 1, 2, 0, 0], [1, 2, 0, 1, 9], [1, 1, 0, 0.5, 1], 3)
    with pytest.raises(ClusterError, match=re.escape("cluster[3] is NaN")):
        bootstrap_elo([0, 1, 2, 0], [1, 2, 0, 1], [1, 1, 0, 0.5], 3, cluster=[1.0, 2.0, 2.0, np.nan])


@pytest.mark.parametrize("short", ["b", "score", "cluster"])
def test_arrays_of_different_length_are_refused(short):
    columns = {"a": [0, 1], "b": [1, 2], "score": [1, 1], "cluster": [0, 1]}
    columns[short] = columns[short][:1]
    with pytest.raises(LengthMismatchError, match="differ in length"):
        bootstrap_elo(**columns, contestants=3)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "float64", "list"])
def test_numbers_of_any_type_are_the_same_games(dtype):
    games = simulated_games(5, tie_share=0.2)
    sides = [side.tolist() if dtype == "list" else side.astype(dtype) for side in (games.a, games.b)]
    found = bootstrap_elo(*sides, games.score, 4, rounds=3).samples
    assert found == pytest.approx(bootstrap(games, rounds=3).samples, abs=1e-9)


def test_many_contestants_take_wider_outcome_numbers():
    size = 257
    first, second = np.triu_indices(size, 1)
    score = np.tile([1.0, 0.0], len(first))
    a, b = np.repeat(first, 2), np.repeat(second, 2)
    outcomes = make_games(a, b, score, size).outcomes
    assert np.array_equal(outcomes.a[outcomes.of_game], a)
    found = bootstrap_elo(a, b, score, size, rounds=2).samples
    assert 1500 > found.max() > found.min() > 500
