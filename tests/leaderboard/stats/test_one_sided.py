"""How one-sided a voter is, against examples by hand and an independent implementation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from leaderboard.stats.checks import ParameterError
from leaderboard.stats.one_sided import at_least, leaning


def test_three_of_three_fair_trials() -> None:
    assert at_least(3, 3, 0.5) == pytest.approx(1 / 8)
    assert at_least(0, 3, 0.5) == 1.0


@given(st.integers(1, 400), st.floats(0.01, 0.99), st.data())
def test_it_is_the_tail_of_the_binomial(n: int, share: float, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, n))
    assert at_least(count, n, share) == pytest.approx(binom.sf(count - 1, n, share), rel=1e-6, abs=1e-12)


def test_trials_that_cannot_be_are_refused() -> None:
    with pytest.raises(ParameterError):
        at_least(4, 3, 0.5)


def test_the_model_to_which_a_voter_leans_by_hand() -> None:
    # The others: 4 of 9 for model 1, so 5 / 11 with one vote more on each side; 5 of 9 for model 2.
    found = leaning({1: (3, 3), 2: (0, 3)}, {1: (7, 12), 2: (5, 12)})
    assert found is not None
    assert (found.model, found.wins, found.n) == (1, 3, 3)
    assert found.usual == pytest.approx(5 / 11)
    assert found.chance == pytest.approx(2 * (5 / 11) ** 3)


def test_a_voter_alone_proves_little_and_one_without_a_vote_nothing() -> None:
    assert leaning({}, {}) is None
    alone = leaning({1: (1, 1)}, {1: (1, 1)})
    assert alone is not None
    assert alone.chance == 0.5
