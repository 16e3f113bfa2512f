import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, norm
from scipy.stats import t as student
from statsmodels.stats.proportion import proportion_confint

from leaderboard.stats.checks import ParameterError
from leaderboard.stats.intervals import (
    KEPT_PERCENTILES,
    bounds,
    central_interval,
    exact_share,
    percentiles,
    student_quantiles,
)
from leaderboard.stats.shares import Share, wilson_share

# Shares with intervals: by hand, against scipy and statsmodels, and for any numbers.


TRIALS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_shares_by_hand():
    # Wilson at 9 of 10, z = 1.959964: z^2 / n = 0.384146, middle (0.9 + 0.192073) / 1.384146 = 0.788987,
    # reach 1.959964 / 1.384146 * sqrt(0.009 + 0.0096036) = 0.193137.
    found = wilson_share(9, 10)
    assert (found.low, found.high) == pytest.approx((0.595850, 0.982124), abs=1e-5)
    # Clopper and Pearson at 0 of 3: from 0 to 1 - 0.025 ** (1 / 3).
    assert exact_share(0, 3) == Share(0, 3, 0.0, 0.0, pytest.approx(1 - 0.025 ** (1 / 3)))
    assert wilson_share(0, 0) == exact_share(0, 0) == Share(0, 0)


@pytest.mark.parametrize(("count", "n"), [(2, 1), (-1, 4)])
def test_impossible_counts_are_refused(count, n):
    with pytest.raises(ParameterError, match="count is"):
        wilson_share(count, n)
    with pytest.raises(ParameterError, match="count is"):
        exact_share(count, n)


@given(TRIALS, st.sampled_from([80.0, 95.0, 99.0]))
def test_as_scipy_and_statsmodels(trials, level):
    count, n = trials
    reference = binomtest(count, n).proportion_ci(level / 100, "exact")
    exact = exact_share(count, n, level)
    assert (exact.low, exact.high) == pytest.approx((reference.low, reference.high), abs=1e-9)
    wilson = wilson_share(count, n, level)
    ends = proportion_confint(count, n, alpha=1 - level / 100, method="wilson")
    assert (wilson.low, wilson.high) == pytest.approx(ends, abs=1e-9)


@given(TRIALS)
def test_the_share_lies_in_both_intervals_and_its_mirror_in_the_mirrored_ones(trials):
    count, n = trials
    for share in (wilson_share, exact_share):
        one, other = share(count, n), share(n - count, n)
        assert 0 <= one.low <= one.value <= one.high <= 1
        assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-9)


SAMPLES = np.column_stack((np.arange(101.0), np.arange(101.0) * 2))


@pytest.mark.parametrize(("level", "expected"), [(90, (5, 95)), (95, (2.5, 97.5)), (99.9, (0.05, 99.95))])
def test_a_central_level_leaves_the_same_on_both_sides(level, expected):
    assert bounds(level) == expected


def test_by_hand():
    low, high = central_interval(SAMPLES, 90)
    assert (low.tolist(), high.tolist()) == ([5, 10], [95, 190])
    assert percentiles(SAMPLES, (50,), None)[0].tolist() == [50, 100]
    assert percentiles(SAMPLES, (2.5, 97.5), None).tolist() == [[2.5, 5.0], [97.5, 195.0]]
    # Tables: t with 9 degrees of freedom is 2.2622 at 97.5 %.
    found = student_quantiles(np.array([1000.0, 900.0]), np.array([10.0, np.nan]), 10, (2.5, 50.0, 97.5))
    assert found[:, 0] == pytest.approx([1000 - 22.622, 1000, 1000 + 22.622], abs=1e-3)
    assert np.isnan(found[:, 1]).all()
    # The normal quantile is 1.95996: 2.2622 / 1.95996 * sqrt(10 / 9) = 1.21664, and 47.5 * 1.21664 = 57.790.
    low, middle, high = percentiles(SAMPLES, (2.5, 50.0, 97.5), 10)[:, 0]
    assert (low, middle, high) == pytest.approx((50 - 57.790, 50, 50 + 57.790), abs=1e-2)
    assert central_interval(SAMPLES, 95, 10)[1][0] == high


@given(st.integers(2, 500), st.sampled_from(KEPT_PERCENTILES), st.floats(0.1, 100))
def test_percentiles_of_samples_as_narrow_as_the_units_make_them_are_students(units, wanted, error):
    shares = np.linspace(0.0, 1.0, 20_001)[1:-1]
    drawn = 1000 + error * np.sqrt((units - 1) / units) * norm.ppf(shares)
    (found,) = percentiles(drawn[:, None], (wanted,), units)
    away = error * student.ppf(wanted / 100, units - 1)
    assert found[0] - 1000 == pytest.approx(away, rel=2e-3, abs=1e-9)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.integers(0, 60))
def test_the_fewer_units_the_wider_and_the_median_stays(drawn, units):
    samples = np.array(drawn)[:, None]
    levels = [percentiles(samples, KEPT_PERCENTILES, number)[:, 0] for number in (units, units + 1, None)]
    widths = [found[-1] - found[0] for found in levels]
    assert widths == sorted(widths, reverse=True)
    assert all((np.diff(found) >= -1e-9 * np.abs(found).max()).all() for found in levels)
    assert {found[KEPT_PERCENTILES.index(50.0)] for found in levels} == {np.percentile(drawn, 50)}


@pytest.mark.parametrize("level", [0, 100, -5, float("nan")])
def test_it_refuses_levels_out_of_range(level):
    with pytest.raises(ParameterError, match=f"interval is {level}"):
        central_interval(SAMPLES, level)


@pytest.mark.parametrize("level", [0.0, 100.0, -1.0, 1e-300, 99.99999, float("nan"), float("inf")])
def test_levels_that_are_none_or_read_as_none_are_refused(level):
    with pytest.raises(ParameterError, match="must be a percentage between 0 and 100"):
        bounds(level)
    assert bounds(99.999)[1] < 100
