import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats.checks import RatingError
from leaderboard.stats.descriptive import describe, matrices, rating_histogram
from leaderboard.stats.games import make_games
from tests.leaderboard.stats.simulation import small_games


def test_by_hand():
    found = rating_histogram([1, 1, 4, 5, 8, 2], 8, ["refused", "empty", "refused"])
    assert found["counts"] == [2, 1, 0, 1, 1, 0, 0, 1]
    assert found["unscored"] == {"empty": 1, "refused": 2}
    assert found["scored"] == 6
    assert found["share_first"] == pytest.approx(4 / 6)
    assert found["mean"] == pytest.approx(21 / 6)
    found = rating_histogram([1, 3, 3, 5, 4], 5)
    assert (found["share_first"], found["mean"]) == (pytest.approx(1 / 3), pytest.approx(16 / 5))
    found = rating_histogram([], 8, ["truncated"])
    assert (found["mean"], found["scored"], found["unscored"]) == (None, 0, {"truncated": 1})


@pytest.mark.parametrize("ratings", [[], [2, 2]])
def test_no_rating_on_a_side_is_no_share(ratings):
    assert rating_histogram(ratings, 3)["share_first"] is None


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


AMOUNTS = st.lists(st.one_of(st.integers(0, 5_000_000), st.just(float("nan"))), max_size=30)


def test_amounts_by_hand():
    found = describe([4, 1, float("nan"), 2, 9])
    assert (found.count, found.mean, found.min, found.max) == (4, 4, 1, 9)
    assert (found.q1, found.median, found.q3) == (1.75, 3, 5.25)
    assert found.sd == pytest.approx(np.sqrt((0 + 9 + 4 + 25) / 3))
    assert found.as_dict()["sd"] == 3.559026
    assert set(describe([float("nan")]).as_dict().values()) == {0, None}
    found = describe([7])
    assert (found.count, found.mean, found.sd, found.median) == (1, 7, None, 7)


@given(AMOUNTS, st.randoms(use_true_random=False))
def test_against_scipy_in_any_order(values, random):
    found = describe(values)
    known = [value for value in values if value == value]
    assert found.count == len(known)
    if known:
        assert found.mean == pytest.approx(stats.tmean(known))
        quartiles = stats.mstats.mquantiles(known, (0.25, 0.5, 0.75), alphap=1, betap=1)
        assert (found.q1, found.median, found.q3) == pytest.approx(tuple(quartiles))
        assert found.min <= found.q1 <= found.median <= found.q3 <= found.max
    random.shuffle(values)
    assert describe(values).as_dict() == pytest.approx(found.as_dict(), nan_ok=True)


def test_by_hand_reading_across_a_row():
    games = make_games([0, 1, 0, 1, 1], [1, 0, 1, 2, 0], [1, 1, 0.5, 0.5, 0], 3)
    found = matrices(games)
    assert found.wins.tolist() == [[0, 2, 0], [1, 0, 0], [0, 0, 0]]
    assert found.ties.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert found.games.tolist() == [[0, 4, 0], [4, 0, 1], [0, 1, 0]]
    assert found.win_rate[0, 1] == 2.5 / 4
    assert found.win_rate[1, 0] == 1.5 / 4
    assert found.win_rate[1, 2] == 0.5
    found = matrices(make_games([0], [1], [1], 3))
    assert np.isnan(found.win_rate[[0, 1, 2, 0], [2, 2, 2, 0]]).all()


@given(small_games())
def test_every_game_is_counted_once_from_each_side(games):
    found = matrices(games)
    assert found.games.sum() == 2 * len(games)
    assert (found.games == found.games.T).all()
    assert (found.wins + found.wins.T + found.ties == found.games).all()
    met = found.games > 0
    assert np.allclose((found.win_rate + found.win_rate.T)[met], 1.0)
    turned = matrices(make_games(games.b, games.a, 1 - games.score, games.contestants))
    assert (turned.wins == found.wins).all()
