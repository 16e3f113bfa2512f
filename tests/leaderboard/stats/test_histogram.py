import pytest

from leaderboard.stats import rating_histogram
from leaderboard.stats.checks import RatingError


def test_by_hand():
    found = rating_histogram([1, 1, 4, 5, 8, 2], 8, ["refused", "empty", "refused"])
    assert found.counts == (2, 1, 0, 1, 1, 0, 0, 1)
    assert found.unscored == {"empty": 1, "refused": 2}
    assert found.scored == 6
    assert found.share_first == pytest.approx(4 / 6)
    assert found.mean == pytest.approx(21 / 6)
    assert found.as_dict()["share_first"] == 0.666667


def test_the_middle_of_an_odd_scale_is_on_no_side():
    found = rating_histogram([1, 3, 3, 5, 4], 5)
    assert (found.share_first, found.mean) == (pytest.approx(1 / 3), pytest.approx(16 / 5))


@pytest.mark.parametrize("ratings", [[], [2, 2]])
def test_no_rating_on_a_side_is_no_share(ratings):
    assert rating_histogram(ratings, 3).share_first is None


def test_no_rating_is_no_mean():
    found = rating_histogram([], 8, ["truncated"])
    assert (found.mean, found.scored, found.unscored) == (None, 0, {"truncated": 1})


@pytest.mark.parametrize(
    ("ratings", "points", "message"),
    [
        ([9], 8, "rating 9 is outside the scale 1-8"),
        ([0], 8, "rating 0"),
        ([1.5], 8, "1.5"),
        ([1], 4, "points is 4"),
    ],
)
def test_it_refuses_what_is_not_on_the_scale(ratings, points, message):
    with pytest.raises(RatingError, match=message):
        rating_histogram(ratings, points)
