import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats.checks import ParameterError
from leaderboard.stats.games import games_from_ratings
from leaderboard.stats.verdicts import TieBand


def scores(ratings, points, band, *, ties=True):
    n = len(ratings)
    games = games_from_ratings(
        [0] * n, [1] * n, ratings, points, ties=ties, contestants=2, tie_band=TieBand.parse(band)
    )
    return games.score.tolist()


@pytest.mark.parametrize(
    ("points", "band", "expected"),
    [
        (8, "4-5", [1, 1, 1, 0.5, 0.5, 0, 0, 0]),
        (8, "3-6", [1, 1, 0.5, 0.5, 0.5, 0.5, 0, 0]),
        (8, "2-7", [1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0]),
        (5, "3-3", [1, 1, 0.5, 0, 0]),
        (5, "2-4", [1, 0.5, 0.5, 0.5, 0]),
        (3, "2-2", [1, 0.5, 0]),
    ],
)
def test_every_rating_of_the_scale(points, band, expected):
    assert scores(list(range(1, points + 1)), points, band) == expected


@pytest.mark.parametrize("text", ["", "4", "4-", "-5", "6-3", "a-b", "4–5", "3-6-7", "1.5-7.5", "4 to 5"])
def test_what_is_no_band(text):
    with pytest.raises(ParameterError, match=r"^tie-band is '.*'; it must be LOW-HIGH, such as 3-6$"):
        TieBand.parse(text)


@pytest.mark.parametrize(
    ("points", "band", "message"),
    [
        (8, "3-5", "tie-band is 3-5, which is not symmetric about the middle of the scale 1-8: low and high "
         "must add up to 9"),
        (8, "1-8", "tie-band is 1-8, the whole scale: every rating would be a tie"),
        (5, "4-5", "tie-band is 4-5, which is not symmetric about the middle of the scale 1-5: low and high "
         "must add up to 6"),
        (3, "4-5", "tie-band is 4-5, which is outside the scale 1-3"),
        (8, "0-9", "tie-band is 0-9, which is outside the scale 1-8"),
        (2, "1-2", "tie-band is 1-2, the whole scale: every rating would be a tie"),
        ([8, 5, 8], "4-5", "tie-band is 4-5, but the ratings are on scales of 5 and 8 points; a band needs "
         "one scale"),
    ],
)  # fmt: skip
def test_a_band_that_does_not_fit_the_scale(points, band, message):
    with pytest.raises(ParameterError) as caught:
        scores([1, 2, 1], points, band)
    assert str(caught.value) == message


def test_a_band_says_nothing_with_ties_off():
    with pytest.raises(ParameterError, match="tie-band is 3-6, but ties are off"):
        scores([1], 8, "3-6", ties=False)


@given(
    st.integers(2, 4),
    st.lists(st.integers(1, 8), min_size=1, max_size=30),
)
def test_mirroring_every_rating_mirrors_every_score(low, ratings):
    band = f"{low}-{9 - low}"
    mirrored = scores([9 - rating for rating in ratings], 8, band)
    assert mirrored == (1 - np.array(scores(ratings, 8, band))).tolist()
