"""What features are worth: by hand, against scipy, and what must hold for any numbers."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats.feature_worth import by_decile, feature_correlation, pair_accuracy

SOME = st.lists(
    st.tuples(st.integers(-4, 4), st.integers(-4, 4), st.integers(0, 3)), min_size=4, max_size=25
).filter(lambda rows: len({x for x, _, _ in rows}) > 1 and len({y for _, y, _ in rows}) > 1)


def columns(rows):
    x, y, prompt = zip(*rows, strict=True)
    return np.array(x, float), np.array(y, float), np.array(prompt)


def test_coefficients_of_four_answers_by_hand():
    """x 1 2 3 4 and y 2 1 4 3: deviations multiply to 3 of 5, ranks are the values, 4 of 6 pairs agree."""
    found = feature_correlation([1, 2, 3, 4], [2, 1, 4, 3], [0, 1, 2, 3])
    assert (found.n, found.prompts) == (4, 4)
    assert found.pearson.value == pytest.approx(3 / 5)
    assert found.spearman.value == pytest.approx(3 / 5)
    assert found.kendall.value == pytest.approx((4 - 2) / 6)


@settings(max_examples=40)
@given(SOME)
def test_coefficients_are_those_of_scipy_with_their_sign(rows):
    x, y, prompt = columns(rows)
    found, turned = feature_correlation(x, y, prompt), feature_correlation(-x, y, prompt)
    expected = (
        stats.pearsonr(x, y).statistic,
        stats.spearmanr(x, y).statistic,
        stats.kendalltau(x, y).statistic,
    )
    assert (found.pearson.value, found.spearman.value, found.kendall.value) == pytest.approx(
        expected, abs=1e-9
    )
    for name in ("pearson", "spearman", "kendall"):
        (value, low, high), mirrored = getattr(found, name), getattr(turned, name)
        assert mirrored.value == pytest.approx(-value, abs=1e-9)
        if low is not None:
            assert low <= value + 1e-9
            assert value <= high + 1e-9
            assert mirrored.low == pytest.approx(-high, abs=1e-9)


def test_an_interval_is_that_of_a_jackknife_over_prompts():
    rng = np.random.default_rng(3)
    prompt = np.repeat(np.arange(12), 4)
    x = rng.normal(size=48) + rng.normal(size=12)[prompt]
    y = x + rng.normal(size=48)
    found = feature_correlation(x, y, prompt)
    left = np.arctanh([stats.pearsonr(x[prompt != p], y[prompt != p]).statistic for p in range(12)])
    error = np.sqrt(11 / 12 * ((left - left.mean()) ** 2).sum())
    reach = stats.t(11).ppf(0.975) * error
    middle = np.arctanh(stats.pearsonr(x, y).statistic)
    assert found.pearson[1:] == pytest.approx((np.tanh(middle - reach), np.tanh(middle + reach)))


@pytest.mark.parametrize("scale", [1e-170, 1e-300, 3e-322, 1e170, 1e304])
def test_coefficients_and_intervals_have_no_scale(scale):
    rng = np.random.default_rng(4)
    prompt = np.repeat(np.arange(9), 2)
    x = scale * np.round(10 * rng.normal(size=18))  # the smallest of these are not normal numbers
    y = x + scale * np.round(10 * rng.normal(size=18))
    unit = 2.0**-1074 if scale == 3e-322 else scale
    found, alike = feature_correlation(x, y, prompt), feature_correlation(x / unit, y / unit, prompt)
    expected = stats.pearsonr(x / unit, y / unit).statistic
    assert found.pearson.value == pytest.approx(expected, rel=1e-12)
    assert found.pearson.low is not None
    assert found.pearson[1:] == pytest.approx(alike.pearson[1:])


def test_one_large_value_hides_no_small_ones():
    """Without the prompt of the large value all others are tiny."""
    x = np.array([1.0, 1e-170, 2e-170, 4e-170, 3e-170])
    found = feature_correlation(x, [9.0, 1.0, 2.0, 4.0, 2.5], np.arange(5))
    assert found.pearson.low is not None


def test_what_has_no_correlation_says_why():
    assert feature_correlation([1, 2], [1, 2], [0, 1]).reason == "fewer than 3 answers"
    assert (
        feature_correlation([1, 1, 1], [1, 2, 3], [0, 1, 2]).reason
        == "the feature is the same for all answers"
    )
    assert (
        feature_correlation([1, 2, 3], [2, 2, 2], [0, 1, 2]).reason == "quality is the same for all answers"
    )
    assert feature_correlation([], [], []).n == 0
    alone = feature_correlation([1, 2, 3], [1, 3, 2], [5, 5, 5])
    assert alone.pearson == (pytest.approx(0.5), None, None)


def test_pairs_by_hand():
    """Of four pairs with a better answer the feature picks 2 and has nothing to say of 1; length picks 1."""
    found = pair_accuracy(
        feature=[0.2, -0.1, 0.0, 0.4, 0.3],
        length=[-5, 3, -2, 9, 1],
        preference=[1.0, -0.5, 0.2, -0.1, 0.0],
        prompt=[1, 2, 3, 4, 4],
    )
    assert found.ties == 1
    assert found.feature.value == pytest.approx((1 + 1 + 0.5 + 0) / 4)
    assert found.length.value == pytest.approx(0.0)
    assert found.ahead.value == pytest.approx(2.5 / 4)
    assert (found.feature.n, found.feature.prompts) == (4, 4)


@settings(max_examples=40)
@given(SOME)
def test_the_other_feature_is_right_where_this_one_is_wrong(rows):
    x, better, prompt = columns(rows)
    length = np.arange(len(x)) - 3.0
    one, other = (pair_accuracy(sign * x, length, better, prompt) for sign in (1, -1))
    assert one.feature.value + other.feature.value == pytest.approx(1.0)
    swapped = pair_accuracy(-x, -length, -better, prompt)
    assert swapped.feature.value == pytest.approx(one.feature.value)
    assert swapped.length.value == pytest.approx(one.length.value)
    assert one.ahead.value == pytest.approx(one.feature.value - one.length.value)


def test_deciles_by_hand():
    """Twenty answers by their feature, two to a part; then with one value that half of them share."""
    x = np.arange(20.0)
    found = by_decile(x, 2 * x, np.arange(20))
    assert [(each.low, each.high, each.quality.value) for each in found] == [
        (2.0 * n, 2.0 * n + 1, pytest.approx(4.0 * n + 1)) for n in range(10)
    ]
    shared = by_decile(np.where(x < 10, 0.0, x), x, np.arange(20))
    assert [each.quality.n for each in shared] == [10, 2, 2, 2, 2, 2]
    assert by_decile([], [], []) == ()


@settings(max_examples=40)
@given(SOME)
def test_deciles_part_all_answers_in_order(rows):
    x, y, prompt = columns(rows)
    found = by_decile(x, y, prompt)
    assert sum(each.quality.n for each in found) == len(x)
    assert all(one.high < other.low for one, other in itertools.pairwise(found))
    total = sum(each.quality.value * each.quality.n for each in found)
    assert total == pytest.approx(y.sum(), abs=1e-6)
