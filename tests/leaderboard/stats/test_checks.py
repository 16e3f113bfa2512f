import numpy as np
import pytest

from leaderboard.stats.bradley_terry import bootstrap_bradley_terry
from leaderboard.stats.checks import (
    ClusterError,
    LengthMismatchError,
    NoGamesError,
    ParameterError,
    ScoreError,
    StatsError,
    dense_labels,
    numbers,
    whole_number,
    whole_numbers,
)
from leaderboard.stats.davidson import bootstrap_davidson
from leaderboard.stats.elo import sequential_elo
from leaderboard.stats.elo_bootstrap import bootstrap_elo
from leaderboard.stats.games import make_games
from leaderboard.stats.ratings import make_ratings
from tests.leaderboard.stats.simulation import simulated_games

BOOTSTRAPS = [bootstrap_elo, bootstrap_bradley_terry, bootstrap_davidson]


class TestWholeNumber:
    @pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
    def test_any_kind_of_integer_will_do(self, value):
        assert whole_number("rounds", value) == 3

    @pytest.mark.parametrize("value", [3.0, 1.5, float("nan"), "3", None])
    def test_nothing_else_does(self, value):
        with pytest.raises(ParameterError, match=f"rounds is {value!r}; it must be a whole number"):
            whole_number("rounds", value)


class TestWholeNumbers:
    @pytest.mark.parametrize("value", [1e300, -1e19, 2.0**54, float("inf"), float("nan"), 0.5])
    def test_floats_that_are_no_exact_integers_are_refused(self, value):
        with pytest.raises(StatsError, match="a must hold whole numbers"):
            whole_numbers("a", [0.0, value])

    def test_lists_of_different_lengths_are_refused(self):
        with pytest.raises(LengthMismatchError, match="a holds lists of different lengths"):
            whole_numbers("a", [[0], [1, 2]])


class TestNumbers:
    @pytest.mark.parametrize("value", ["1", "x", None, 1j])
    def test_only_numbers_are_numbers(self, value):
        made = [1.0, value] if value is not None else np.array([1.0, [2]], dtype=object)
        with pytest.raises(ScoreError, match="score must hold numbers"):
            numbers("score", made)

    def test_no_score_is_refused_as_one_out_of_range(self):
        with pytest.raises(ScoreError, match=r"score\[1\] is nan"):
            make_games([0, 0], [1, 1], [1, None], 2)


class TestDenseLabels:
    def test_labels_are_numbered_in_sorted_order_and_missing_ones_refused(self):
        assert dense_labels("prompt", ["q", "p", "q"]).tolist() == [1, 0, 1]
        with pytest.raises(ClusterError, match=r"^prompt\[1\] is NaN"):
            make_ratings([0, 0, 0], [1, 1, 1], [1, 1, 1], 3, 2, prompt=[1.0, np.nan, np.nan])

    @pytest.mark.parametrize("labels", [[1, None], np.array([1, "p"], dtype=object)])
    def test_labels_that_cannot_be_sorted_are_refused(self, labels):
        with pytest.raises(ClusterError, match="prompt must hold labels of one kind, none of them missing"):
            dense_labels("prompt", labels)


@pytest.mark.parametrize("bootstrap", BOOTSTRAPS)
@pytest.mark.parametrize("name", ["rounds", "seed", "threads"])
@pytest.mark.parametrize("value", [1.5, -1])
def test_no_bootstrap_runs_with_numbers_that_make_no_sense(bootstrap, name, value):
    with pytest.raises(ParameterError, match=f"{name} is {value}"):
        bootstrap([0, 1], [1, 0], [1, 1], 2, **{name: value})


@pytest.mark.parametrize("bootstrap", BOOTSTRAPS)
def test_no_bootstrap_runs_without_games(bootstrap):
    with pytest.raises(NoGamesError):
        bootstrap([], [], [], 2)


@pytest.mark.parametrize("bootstrap", BOOTSTRAPS)
@pytest.mark.parametrize("clustered", [False, True])
def test_threads_and_further_rounds_change_nothing(bootstrap, clustered):
    games = simulated_games(15, seed=7, tie_share=0.2, clustered=clustered)
    arrays = (games.a, games.b, games.score, 4)
    one = bootstrap(*arrays, rounds=200, cluster=games.cluster).samples
    again = bootstrap(*arrays, rounds=200, threads=3, cluster=games.cluster).samples
    assert again == pytest.approx(one, abs=1e-8)
    fewer = bootstrap(*arrays, rounds=70, cluster=games.cluster).samples
    assert fewer == pytest.approx(one[:70], abs=1e-8)


@pytest.mark.parametrize("rate", [sequential_elo, *BOOTSTRAPS])
@pytest.mark.parametrize("contestants", [2.0, "2", None])
def test_there_is_no_half_contestant(rate, contestants):
    with pytest.raises(ParameterError, match=r"contestants is .*; it must be a whole number"):
        rate([0, 1], [1, 0], [1, 1], contestants)
