import numpy as np
import pytest

from leaderboard.stats.checks import ParameterError
from leaderboard.stats.intervals import bounds, central_interval, median, percentiles, student_quantiles

SAMPLES = np.column_stack((np.arange(101.0), np.arange(101.0) * 2))


@pytest.mark.parametrize(("level", "expected"), [(90, (5, 95)), (95, (2.5, 97.5)), (99.9, (0.05, 99.95))])
def test_a_central_level_leaves_the_same_on_both_sides(level, expected):
    assert bounds(level) == expected


def test_by_hand():
    low, high = central_interval(SAMPLES, 90)
    assert (low.tolist(), high.tolist()) == ([5, 10], [95, 190])
    assert median(SAMPLES).tolist() == [50, 100]
    assert percentiles(SAMPLES, (2.5, 97.5)).tolist() == [[2.5, 5.0], [97.5, 195.0]]


@pytest.mark.parametrize("level", [0, 100, -5, float("nan")])
def test_it_refuses_levels_out_of_range(level):
    with pytest.raises(ParameterError, match=f"interval is {level}"):
        central_interval(SAMPLES, level)


def test_percentiles_of_students_t():
    # Tables: t with 9 degrees of freedom is 2.2622 at 97.5 %.
    found = student_quantiles(np.array([1000.0, 900.0]), np.array([10.0, np.nan]), 10, (2.5, 50.0, 97.5))
    assert found[:, 0] == pytest.approx([1000 - 22.622, 1000, 1000 + 22.622], abs=1e-3)
    assert np.isnan(found[:, 1]).all()
