import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats.checks import LengthMismatchError, ParameterError
from leaderboard.stats.score_differences import MOST_BINS, score_differences

NAN = float("nan")


def test_by_hand():
    found = score_differences([2, -1, 0, 0, NAN, 2, -1], [1, 1, 2, 2, 2, 3, 3])
    assert (found["n"], found["width"], found["bins"]) == (6, 1, [-2.5, -1.5, -0.5, 0.5, 1.5])
    assert found["counts"] == [0, 2, 2, 0, 2]
    assert (found["first_higher"], found["equal"], found["second_higher"]) == (2, 2, 2)
    assert found["mean"] == pytest.approx(1 / 3)
    assert found["mean_low"] < 1 / 3 < found["mean_high"]
    assert score_differences([NAN, NAN], [1, 2]) is None
    assert score_differences([], []) is None
    with pytest.raises(ParameterError, match="infinite"):
        score_differences([float("inf")], [1])
    with pytest.raises(LengthMismatchError):
        score_differences([1, 2], [1])


@pytest.mark.parametrize(
    ("difference", "width"),
    [([9, -3], 1), ([0.5, -4.5], 0.5), ([99, -20], 5), ([0], 1), ([0.001], 0.001), ([20], 1), ([21], 2)],
)
def test_bins_are_round_numbers(difference, width):
    found = score_differences(difference, range(len(difference)))
    assert found["width"] == pytest.approx(width)
    assert len(found["bins"]) <= MOST_BINS


@given(
    st.lists(
        st.one_of(st.integers(-90, 90), st.integers(-9000, 9000).map(lambda n: n / 1000)),
        min_size=1,
        max_size=30,
    )
)
def test_showing_everything_the_other_way_round_mirrors_the_counts(values):
    one = score_differences(values, range(len(values)))
    other = score_differences([-value for value in values], range(len(values)))
    assert one["counts"] == other["counts"][::-1]
    assert sum(one["counts"]) == one["n"] == len(values)
    assert len(one["bins"]) <= MOST_BINS
    assert one["bins"] == pytest.approx([-edge - one["width"] for edge in other["bins"][::-1]])
    left = np.array(one["bins"])
    slack = one["width"] * 1e-6
    for value in values:
        assert ((left - slack <= value) & (value <= left + one["width"] + slack)).any()
