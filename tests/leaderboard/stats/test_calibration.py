"""Calibration: by hand, against a slow reference, and what must hold for any numbers."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.stats.calibration import calibration, tells_apart
from leaderboard.stats.checks import ParameterError

SAID = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.55, 0.6, 0.7, 0.95, 1.0]), st.booleans(), st.integers(0, 4)),
    min_size=1,
    max_size=30,
)


def test_calibration_by_hand():
    """Up to .6 two, of which one is right; up to 1 three, all right: (2 x .08 + 3 x .05) / 5."""
    found = calibration([0.6, 0.56, 0.95, 0.95, 0.95], [1, 0, 1, 1, 1], [0, 1, 2, 3, 4])
    assert found.error == pytest.approx((2 * abs(0.58 - 0.5) + 3 * 0.05) / 5)
    assert [(each.low, each.high, each.right.n) for each in found.bins] == [(0.5, 0.6, 2), (0.9, 1.0, 3)]
    assert found.confidence == pytest.approx(4.01 / 5)
    assert calibration([], [], []).error is None
    with pytest.raises(ParameterError, match="from 0 to 1"):
        calibration([1.2], [1], [0])


@settings(max_examples=60)
@given(SAID)
def test_calibration_is_that_of_a_slow_reference(rows):
    said, right, prompt = (list(column) for column in zip(*rows, strict=True))
    found = calibration(said, np.array(right, float), prompt)
    error, count = 0.0, 0
    for number in range(10):
        low, high = number / 10, (number + 1) / 10
        own = [at for at, one in enumerate(said) if low < one <= high or (number == 0 and one == 0)]
        count += len(own)
        if own:
            error += abs(sum(said[at] for at in own) - sum(right[at] for at in own))
    assert count == len(said) == sum(each.right.n for each in found.bins)
    assert found.error == pytest.approx(error / len(said))
    assert 0 <= found.error <= 1


@settings(max_examples=60)
@given(SAID)
def test_right_and_wrong_are_told_apart_as_by_all_pairs(rows):
    said, right, _ = zip(*rows, strict=True)
    pairs = [
        (a, b)
        for (a, one), (b, other) in itertools.permutations(zip(said, right, strict=True), 2)
        if one and not other
    ]
    found = tells_apart(said, np.array(right, float))
    if not pairs:
        assert found is None
    else:
        assert found == pytest.approx(np.mean([(a > b) + (a == b) / 2 for a, b in pairs]))
        assert tells_apart(-np.array(said), np.array(right, float)) == pytest.approx(1 - found)
