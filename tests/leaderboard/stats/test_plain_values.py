"""Tests of estimates, and of how results are written as plain values."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats.plain_values import UNDEFINED, Estimate, Result, rounded

NUMBERS = st.none() | st.integers(-(10**9), 10**9).map(lambda millionths: millionths / 10**6)


@dataclass(frozen=True)
class Made(Result):
    n: int
    kappa: Estimate
    alpha: Estimate = UNDEFINED
    inside: "Made | None" = None


def test_an_estimate_in_a_result_is_written_as_three_numbers_at_any_depth():
    inside = Made(2, Estimate(1 / 3, float("nan"), -0.0))
    assert Made(1, Estimate(0.5, 0.25, 0.75), inside=inside).as_dict() == {
        "n": 1,
        **{"kappa": 0.5, "kappa_low": 0.25, "kappa_high": 0.75},
        **{"alpha": None, "alpha_low": None, "alpha_high": None},
        "inside": {
            "n": 2,
            **{"kappa": 0.333333, "kappa_low": None, "kappa_high": 0.0},
            **{"alpha": None, "alpha_low": None, "alpha_high": None},
            "inside": None,
        },
    }
    assert rounded([{"rows": [{"tau": Estimate(1.0)}]}]) == [
        {"rows": [{"tau": 1.0, "tau_low": None, "tau_high": None}]}
    ]


@given(st.builds(Estimate, NUMBERS, NUMBERS, NUMBERS))
def test_what_is_written_is_read(found):
    assert Estimate.of(rounded({"other": UNDEFINED, "kappa": found}), "kappa") == found
    assert Estimate.of({}, "kappa") == Estimate.of(None, "kappa") == UNDEFINED


@pytest.mark.parametrize(
    ("ends", "middle", "side"),
    [
        ((0.1, 0.4), 0.0, 1),
        ((-0.4, -0.1), 0.0, -1),
        ((0.0, 0.4), 0.0, 0),
        ((-0.4, 0.0), 0.0, 0),
        ((0.1, 0.4), 0.5, -1),
        ((0.4, 0.6), 0.5, 0),
        ((0.6, 0.7), 0.5, 1),
        ((None, None), 0.5, 0),
    ],
)
def test_the_side_of_an_interval(ends, middle, side):
    assert Estimate(0.3, *ends).side(middle) == side


def test_the_ends_change_places_with_the_sign():
    assert Estimate(2.0, 1.0, 4.0).times(100) == (200.0, 100.0, 400.0)
    assert Estimate(2.0, 1.0, 4.0).times(-1) == (-2.0, -4.0, -1.0)
    assert Estimate(2.0).times(-1) == (-2.0, None, None)
