"""Repeats and seconds: by hand, against independent ways, and for any answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from arena.rating import scales
from leaderboard.stats.checks import LengthMismatchError
from leaderboard.stats.rater_quality import consistency, speed
from leaderboard.stats.tie_bands import verdicts

REPEATS = st.lists(
    st.sampled_from(scales.POINTS).flatmap(
        lambda points: st.tuples(st.integers(1, points), st.integers(1, points), st.just(points))
    ),
    min_size=1,
    max_size=60,
)


def test_repeats_by_hand():
    # 2 and 3 are both first, 4 and 5 both ties, 6 and 3 differ: two of three; |1| + |1| + |3| points apart.
    found = consistency([2, 4, 6], [3, 5, 3], [8, 8, 8])
    assert (found.same.count, found.same.n, found.apart) == (2, 3, pytest.approx(5 / 3))
    assert (found.same.low, found.same.high) == pytest.approx(proportion_confint(2, 3, method="wilson"))


def test_no_repeats():
    found = consistency([], [], [])
    assert (found.same.n, found.same.value, found.apart) == (0, None, None)
    with pytest.raises(LengthMismatchError):
        consistency([1], [1, 2], [8])


@given(REPEATS)
def test_verdicts_are_those_of_the_scale(repeats):
    rating, _, points = (np.array(each) for each in zip(*repeats, strict=True))
    wanted = [round(2 * (0.5 - scales.score(r, p, ties=True))) for r, _, p in repeats]
    assert verdicts(rating, points).tolist() == wanted


@given(REPEATS)
def test_neither_the_order_nor_the_side_of_the_two_answers_matters(repeats):
    before, again, points = (np.array(each) for each in zip(*repeats, strict=True))
    found = consistency(before, again, points)
    assert found == consistency(again, before, points)
    assert found == consistency(points + 1 - before, points + 1 - again, points)
    assert consistency(before, before, points).same.value == 1.0


def test_seconds_by_hand():
    found = speed([1.0, 2.0, 4.0, 8.0, 16.0, float("nan")])
    assert (found.n, found.lower, found.median, found.upper) == (5, 2.0, 4.0, 8.0)
    assert (found.below.count, found.below.n) == (2, 5)
    assert speed([float("nan")]).median is None


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), st.floats(0.1, 100))
def test_speed_as_the_standard_library_counts(seconds, floor):
    import statistics

    found = speed(seconds, floor)
    assert found.median == pytest.approx(statistics.median(seconds))
    assert found.below.count == sum(each < floor for each in seconds)
    assert found.lower <= found.median <= found.upper
