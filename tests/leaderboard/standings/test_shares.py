"""Wilson's interval by hand, against statsmodels, and what any interval of a share must do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.standings.table import wilson


def test_wilson_by_hand() -> None:
    """z = 1.959964; (0.7 + 0.192073) / 1.384146 = 0.644493; reach 1.416010 * sqrt(0.021 + 0.009604)."""
    low, high = wilson(0.7, 10, 95.0)
    assert low == pytest.approx(0.396778, abs=2e-6)
    assert high == pytest.approx(0.892208, abs=2e-6)


@given(st.integers(1, 500), st.data(), st.sampled_from([50.0, 80.0, 95.0, 99.0]))
def test_wilson_is_that_of_statsmodels(games: int, data: st.DataObject, level: float) -> None:
    from statsmodels.stats.proportion import proportion_confint

    wins = data.draw(st.integers(0, games))
    expected = proportion_confint(wins, games, 1 - level / 100, method="wilson")
    assert wilson(wins / games, games, level) == pytest.approx(expected, abs=1e-9)


@given(st.integers(1, 300), st.floats(0, 1), st.sampled_from([80.0, 95.0]))
def test_wilson_holds_the_share_and_mirrors(games: int, share: float, level: float) -> None:
    low, high = wilson(share, games, level)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1
    assert wilson(1 - share, games, level) == pytest.approx((1 - high, 1 - low), abs=1e-9)
