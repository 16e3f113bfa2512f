"""What is said of intervals where there may be none."""

import pytest

from leaderboard.pages.wording import gives_interval, on_intervals, with_intervals


@pytest.mark.parametrize(
    ("found", "gives"),
    [
        (None, False),
        ({"low": None, "rows": [{"mean_low": None, "lowest": 1}]}, False),
        ({"rows": [{"mean_low": None}, {"kappa": {"low": 0.0}}]}, True),
        (({"pearson_low": -1.0},), True),
        ("low", False),
    ],
)
def test_intervals_are_told_of_only_where_a_number_has_one(found, gives):
    assert gives_interval(found) is gives
    assert with_intervals(95.0, found) == (" with 95% intervals" if gives else "")
    assert on_intervals("Intervals of 95%.", found).startswith("Intervals" if gives else "These numbers give")
