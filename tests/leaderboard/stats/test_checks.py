import numpy as np
import pytest

from leaderboard.stats import (
    bootstrap_bradley_terry,
    bootstrap_davidson,
    bootstrap_elo,
    make_games,
    make_ratings,
    sequential_elo,
)
from leaderboard.stats.checks import (
    ClusterError,
    LengthMismatchError,
    ParameterError,
    ScoreError,
    StatsError,
    dense_labels,
    numbers,
    whole_number,
    whole_numbers,
)

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
    def test_they_are_numbered_in_sorted_order(self):
        assert dense_labels("prompt", ["q", "p", "q"]).tolist() == [1, 0, 1]

    @pytest.mark.parametrize("labels", [[1, None], np.array([1, "p"], dtype=object)])
    def test_labels_that_cannot_be_sorted_are_refused(self, labels):
        with pytest.raises(ClusterError, match="prompt must hold labels of one kind, none of them missing"):
            dense_labels("prompt", labels)

    def test_missing_prompts_do_not_become_one_prompt(self):
        with pytest.raises(ClusterError, match=r"^prompt\[1\] is NaN"):
            make_ratings([0, 0, 0], [1, 1, 1], [1, 1, 1], 3, 2, prompt=[1.0, np.nan, np.nan])


@pytest.mark.parametrize("bootstrap", BOOTSTRAPS)
@pytest.mark.parametrize(
    "options", [{"rounds": 1.5}, {"rounds": None}, {"seed": 1.5}, {"seed": "1"}, {"threads": 1.5}]
)
def test_no_bootstrap_runs_with_half_a_number(bootstrap, options):
    (name,) = options
    with pytest.raises(ParameterError, match=rf"{name} is .*; it must be a whole number"):
        bootstrap([0, 1], [1, 0], [1, 1], 2, **options)


@pytest.mark.parametrize("rate", [sequential_elo, *BOOTSTRAPS])
@pytest.mark.parametrize("contestants", [2.0, "2", None])
def test_there_is_no_half_contestant(rate, contestants):
    with pytest.raises(ParameterError, match=r"contestants is .*; it must be a whole number"):
        rate([0, 1], [1, 0], [1, 1], contestants)
