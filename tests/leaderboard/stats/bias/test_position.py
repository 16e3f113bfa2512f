"""Whether raters prefer what is shown first."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import SquareTable

from leaderboard.stats.checks import LengthMismatchError, RatingError
from leaderboard.stats.position_bias import counts_by_prompt, mirror_test, position

RATED = st.lists(st.tuples(st.integers(1, 8), st.integers(0, 5)), min_size=1, max_size=40)


def test_by_hand():
    # Counts 3 0 0 1 2 0 1 1 on 8 points: pairs (1, 8) 3-1, (2, 7) 0-1, (4, 5) 1-2; nobody gave 3 or 6.
    rating = [1, 1, 1, 4, 5, 5, 7, 8]
    found = position(rating, 8, range(8))
    assert found.chi2 == pytest.approx(4 / 4 + 1 / 1 + 1 / 3)
    assert (found.df, found.n, found.sided, found.prompts) == (3, 8, 8, 8)
    assert found.share_first == pytest.approx(4 / 8)
    assert (found.mean, found.neutral_mean) == (pytest.approx(32 / 8), 4.5)
    assert found.p_independent == pytest.approx(stats.chi2.sf(7 / 3, 3))
    assert (found.mean_low, found.mean_high) == pytest.approx(stats.t.interval(0.95, 7, 4, stats.sem(rating)))


def test_the_statistic_is_bowkers():
    rating = np.random.default_rng(3).choice(8, p=[0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05], size=200) + 1
    # A square table whose only cells beside the diagonal are the mirrored pairs of ratings.
    counts = np.bincount(rating, minlength=9)[1:]
    table = np.zeros((8, 8))
    for low in range(4):
        table[low, 7 - low], table[7 - low, low] = counts[low], counts[7 - low]
    expected = SquareTable(table, shift_zeros=False).symmetry()
    found = position(rating, 8, np.arange(200))
    assert found.chi2 == pytest.approx(expected.statistic)
    assert found.p_independent == pytest.approx(stats.chi2.sf(expected.statistic, 4))


def test_the_middle_of_an_odd_scale_is_on_no_side():
    found = position([3, 3, 1], 5, [0, 1, 2])
    assert (found.n, found.sided, found.share_first, found.df) == (3, 1, 1, 1)


@pytest.mark.parametrize("rating", [[], [2, 2]])
def test_no_rating_on_a_side(rating):
    found = position(rating, 3, range(len(rating)))
    assert (found.sided, found.share_first, found.chi2, found.df, found.p) == (0, None, None, 0, None)


def test_a_single_prompt_has_no_interval_and_no_test():
    found = position([1, 2, 8], 8, [4, 4, 4])
    assert (found.prompts, found.share_first_low, found.mean_low, found.p) == (1, None, None, None)
    assert found.p_independent is not None


def test_ratings_of_a_prompt_are_one_piece_of_evidence():
    once = position([1, 8, 1, 1, 8, 1, 1, 2], 8, range(8))
    nine_times = position(np.repeat([1, 8, 1, 1, 8, 1, 1, 2], 9), 8, np.repeat(range(8), 9))
    assert nine_times.p_independent < 0.001 < 0.1 < nine_times.p
    assert nine_times.share_first_low == pytest.approx(once.share_first_low)


def test_two_prompts_alone_never_prove_a_bias():
    assert position([1] * 50 + [1] * 50, 8, [0] * 50 + [1] * 50).p == 0.5


def test_with_one_pair_of_ratings_the_test_is_students():
    """On two points Rao and Scott's F is the squared t of the prompts' differences."""
    prompts = np.random.default_rng(5).integers(0, 12, size=60)
    rating = np.where(np.random.default_rng(6).random(60) < 0.65, 1, 2)
    counts = counts_by_prompt(rating, 2, prompts)
    difference = counts[:, 0] - counts[:, 1]
    found = position(rating, 2, prompts)
    t = difference.sum() / np.sqrt(difference.var(ddof=1) * len(difference))
    expected = 2 * stats.t.sf(abs(t), len(difference) - 1)
    assert found.p == pytest.approx(max(expected, found.p_independent))


@given(RATED)
def test_showing_everything_the_other_way_round_mirrors_everything(rated):
    rating, prompt = np.array(rated).T
    one, other = position(rating, 8, prompt), position(9 - rating, 8, prompt)
    assert one.chi2 == pytest.approx(other.chi2)
    assert one.p == (None if other.p is None else pytest.approx(other.p))
    assert one.share_first == pytest.approx(1 - other.share_first)
    assert one.mean == pytest.approx(9 - other.mean)
    if one.share_first_low is not None:
        assert one.share_first_low == pytest.approx(1 - other.share_first_high)
    if one.p is not None:
        assert one.p >= max(one.p_independent, 2.0 ** (1 - one.prompts))


@given(RATED, st.permutations(range(6)))
def test_names_of_prompts_change_nothing(rated, names):
    rating, prompt = np.array(rated).T
    one, other = position(rating, 8, prompt), position(rating, 8, np.array(names)[prompt])
    assert one.as_dict() == pytest.approx(other.as_dict(), abs=2e-6)


def test_bowkers_p_is_a_bound():
    # Every prompt was asked in both orders and answered alike: prompts do not differ at all.
    counts = np.tile([1.0, 0, 0, 0, 0, 0, 0, 1], (10, 1))
    assert mirror_test(counts) == (0, 1, 1, 1)


@pytest.mark.parametrize(
    ("rating", "points", "prompt", "error"),
    [([9], 8, [1], RatingError), ([1], 4, [1], RatingError), ([1, 2], 8, [1], LengthMismatchError)],
)
def test_it_refuses_what_is_not_on_the_scale(rating, points, prompt, error):
    with pytest.raises(error):
        position(rating, points, prompt)
