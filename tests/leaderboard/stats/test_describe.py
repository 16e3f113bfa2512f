"""Describing amounts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats.descriptive import describe

AMOUNTS = st.lists(st.one_of(st.integers(0, 5_000_000), st.just(float("nan"))), max_size=30)


def test_by_hand():
    found = describe([4, 1, float("nan"), 2, 9])
    assert (found.count, found.mean, found.min, found.max) == (4, 4, 1, 9)
    assert (found.q1, found.median, found.q3) == (1.75, 3, 5.25)
    assert found.sd == pytest.approx(np.sqrt((0 + 9 + 4 + 25) / 3))
    assert found.as_dict()["sd"] == 3.559026


def test_nothing_and_a_single_amount():
    assert set(describe([float("nan")]).as_dict().values()) == {0, None}
    found = describe([7])
    assert (found.count, found.mean, found.sd, found.median) == (1, 7, None, 7)


@given(AMOUNTS, st.randoms(use_true_random=False))
def test_against_scipy_in_any_order(values, random):
    found = describe(values)
    known = [value for value in values if value == value]
    assert found.count == len(known)
    if known:
        assert found.mean == pytest.approx(stats.tmean(known))
        quartiles = stats.mstats.mquantiles(known, (0.25, 0.5, 0.75), alphap=1, betap=1)
        assert (found.q1, found.median, found.q3) == pytest.approx(tuple(quartiles))
        assert found.min <= found.q1 <= found.median <= found.q3 <= found.max
    random.shuffle(values)
    assert describe(values).as_dict() == pytest.approx(found.as_dict(), nan_ok=True)
