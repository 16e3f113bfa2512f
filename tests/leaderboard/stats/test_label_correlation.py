import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats import correlate, pair_means
from leaderboard.stats.checks import LengthMismatchError, RatingError


def means(ratings, points=8, flipped=False):
    return pair_means(range(len(ratings)), ratings, points, np.broadcast_to(flipped, len(ratings)))


class TestPairMeans:
    def test_by_hand(self):
        assert means([1, 8, 4]) == pytest.approx({0: -1, 1: 1, 2: -1 / 7})
        assert means([1, 2, 3], 3) == {0: -1, 1: 0, 2: 1}
        assert means([1, 8, 4], flipped=True) == pytest.approx({0: 1, 1: -1, 2: 1 / 7})
        # 2 of 8 is -5/7; 5 of 5 shown the other way round is -1; 1 of 2 is -1.
        found = pair_means(["p", "p", "p"], [2, 5, 1], [8, 5, 2], [False, True, False])
        assert found == pytest.approx({"p": -(5 / 7 + 2) / 3})
        found = pair_means([0, 0, 0, 1, 1, 1], [4, 6, 7, 7, 4, 6], 8, False)
        assert found[0] == found[1]

    @pytest.mark.parametrize(("rating", "points"), [(9, 8), (0, 8), (1, 4), (float("nan"), 8)])
    def test_it_refuses_ratings_off_the_scale_and_arrays_that_do_not_fit(self, rating, points):
        with pytest.raises(RatingError):
            pair_means([1], [rating], points, False)
        with pytest.raises(LengthMismatchError, match="3 pairs but 2 ratings"):
            pair_means([1, 2, 3], [1, 2], 8, False)


class TestCorrelate:
    def test_by_hand(self):
        # Preferences (-1, 0, 1) against (-1, 1, 1): 2 / sqrt(2 * 3).
        found = correlate(means([1, 2, 3], 3), means([1, 3, 3], 3))[0]
        assert found.n == 3
        assert found.pearson == pytest.approx(2 / 6**0.5)
        x = means([1, 3, 4, 8, 7])
        for other, expected in ((x, 1), (means([8, 6, 5, 1, 2]), -1)):
            found = correlate(x, other)[0]
            assert (found.pearson, found.spearman, found.kendall) == pytest.approx((expected,) * 3)
        found = correlate(means([1, 1, 1, 2]), means([2, 2, 2, 3]))[0]
        assert found.pearson > 0.9
        found = correlate(means([1, 2, 3], 3), means([1, 3, 3], 3))[0].as_dict()
        assert found == {
            "category": None,
            "n": 3,
            "pearson": 0.816497,
            "spearman": found["spearman"],
            "kendall": found["kendall"],
            "reason": None,
        }
        assert found["spearman"] == round(found["spearman"], 6)

    def test_it_equals_the_library_on_both_orientations(self):
        generator = np.random.default_rng(0)
        x, y = generator.integers(1, 9, 40), generator.integers(1, 6, 40)
        found = correlate(means(x), means(y, 5))[0]
        both_x, both_y = np.append(x, 9 - x), np.append(y, 6 - y)
        assert found.pearson == pytest.approx(stats.pearsonr(both_x, both_y).statistic)
        assert found.spearman == pytest.approx(stats.spearmanr(both_x, both_y).statistic)
        assert found.kendall == pytest.approx(stats.kendalltau(both_x, both_y).statistic)

    def test_only_pairs_of_both_are_used_and_grouped_by_category(self):
        one = {"a": -1.0, "b": 0.5, "c": 1.0, "d": 0.2, "only": 1.0}
        other = {"a": -0.5, "b": 0.1, "c": 1.0, "d": 0.3}
        category = {"a": "coding", "b": "coding", "c": "coding", "d": "brainstorm", "only": "coding"}
        found = correlate(one, other, category)
        assert [(c.category, c.n) for c in found] == [(None, 4), ("brainstorm", 1), ("coding", 3)]
        assert found[2].pearson is not None

    def test_too_few_pairs_or_no_preference_have_no_correlation(self):
        found = correlate(means([1, 8]), means([1, 8]))[0]
        assert (found.n, found.pearson, found.spearman, found.kendall) == (2, None, None, None)
        assert found.reason == "fewer than 3 pairs rated by both"
        found = correlate(means([1, 2, 3], 3), means([2, 2, 2], 3))[0]
        assert found.kendall is None
        assert found.reason == "the second rater gave every pair the middle of the scale"

    @given(st.lists(st.tuples(st.integers(1, 8), st.integers(1, 5), st.booleans()), min_size=3, max_size=30))
    def test_renaming_the_completions_of_any_pair_changes_nothing(self, rated):
        x, y, swap = (np.array(column) for column in zip(*rated, strict=True))
        as_is = correlate(means(x), means(y, 5))[0]
        turned_x = means(np.where(swap, 9 - x, x))
        turned_y = means(y, 5, flipped=swap)
        assert correlate(turned_x, turned_y)[0].as_dict() == as_is.as_dict()
