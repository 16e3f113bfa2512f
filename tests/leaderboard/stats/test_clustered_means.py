import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats.checks import LengthMismatchError
from leaderboard.stats.clustered_means import mean_estimate, prompt_numbers, share_estimate, sums
from leaderboard.stats.shares import wilson

PROMPTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=20)


def test_mean_by_hand():
    # Three prompts: 1 and 3, 5, 9. Mean 18 / 4; left out in turn 14 / 2, 13 / 3, 9 / 3.
    found = mean_estimate(np.array([4.0, 5.0, 9.0]), np.array([2.0, 1.0, 1.0]), 95)
    left_out = np.array([7, 13 / 3, 3])
    error = np.sqrt(2 / 3 * ((left_out - left_out.mean()) ** 2).sum())
    assert (found.n, found.prompts, found.value) == (4, 3, 4.5)
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.95, 2, 4.5, error))
    values = np.random.default_rng(1).normal(size=15)
    found = mean_estimate(values, np.ones(15), 90)
    assert (found.low, found.high) == pytest.approx(
        stats.t.interval(0.9, 14, values.mean(), stats.sem(values))
    )
    found = mean_estimate(np.array([16.0, 8]), np.array([2.0, 1]), 95)
    assert (found.value, found.low, found.high) == (8, None, None)


def test_share_by_hand():
    # Four prompts with two observations each, all of a prompt the same: as good as four observations.
    found = share_estimate(np.array([2.0, 2, 2, 0]), np.full(4, 2.0), 95)
    error = stats.sem([1, 1, 1, 0])
    effective = 0.75 * 0.25 / error**2
    assert effective == pytest.approx(3)
    assert (found.low, found.high) == pytest.approx(wilson(0.75, effective, stats.t.ppf(0.975, 3)))
    # Every prompt asked in both orders, one point each: the share cannot vary between prompts.
    found = share_estimate(np.ones(10), np.full(10, 2.0), 95)
    assert (found.low, found.high) == pytest.approx(wilson(0.5, 20, stats.t.ppf(0.975, 9)))


def test_agreement_has_a_width_that_shrinks_with_prompts_alone():
    few, many, more_each = (
        share_estimate(np.full(prompts, each), np.full(prompts, each), 95)
        for prompts, each in [(5, 2.0), (50, 2.0), (5, 200.0)]
    )
    assert few.value == many.value == 1
    assert few.low < many.low < 1
    assert few.low == more_each.low
    assert few.high == 1


@pytest.mark.parametrize("estimate", [mean_estimate, share_estimate])
def test_nothing_and_a_single_prompt(estimate):
    nothing = estimate(np.zeros(3), np.zeros(3), 95)
    assert (nothing.n, nothing.prompts, nothing.value, nothing.low) == (0, 0, None, None)
    single = estimate(np.array([2.0, 0]), np.array([4.0, 0]), 95)
    assert (single.n, single.prompts, single.value, single.low, single.high) == (4, 1, 0.5, None, None)


@given(PROMPTS, st.randoms(use_true_random=False))
def test_the_order_of_prompts_changes_nothing_and_losing_mirrors(cells, random):
    won, lost = np.array(cells, dtype=float).T
    order = list(range(len(cells)))
    random.shuffle(order)
    one = share_estimate(won, won + lost, 95)
    other = share_estimate(won[order], (won + lost)[order], 95)
    mirrored = share_estimate(lost, won + lost, 95)
    if one.value is None:
        assert other.value is None
        return
    assert one.value == pytest.approx(other.value) == pytest.approx(1 - mirrored.value)
    if one.low is not None:
        assert 0 <= one.low <= one.value <= one.high <= 1
        assert (one.low, one.high) == pytest.approx((other.low, other.high))
        assert (one.low, one.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low))


def test_prompts_are_numbered_without_gaps():
    assert prompt_numbers([70, 7, 70], 3).tolist() == [1, 0, 1]
    assert sums(prompt_numbers([70, 7, 70], 3), np.array([1.0, 5, 2])).tolist() == [5, 3]
    with pytest.raises(LengthMismatchError, match="2 observations but 1 prompts"):
        prompt_numbers([1], 2)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=30), st.sampled_from((1, 1000)))
def test_numbers_are_those_of_sorting(labels, apart):
    given_labels = np.array(labels) * apart + 10**12
    expected = np.unique(given_labels, return_inverse=True)[1]
    assert prompt_numbers(given_labels, len(labels)).tolist() == expected.tolist()
    assert prompt_numbers(given_labels.astype(str), len(labels)).max() == expected.max()
