import numpy as np
import pytest

from arena.rules import scales
from leaderboard.stats import checks
from leaderboard.stats.games import games_from_ratings, make_games, names_of
from leaderboard.stats.ratings import make_ratings


def reduce(ratings, points, *, ties):
    n = len(ratings)
    return games_from_ratings([0] * n, [1] * n, ratings, points, ties=ties, contestants=2)


def test_methods_that_ask_one_after_the_other_get_the_same_games():
    ratings = make_ratings([0, 1], [1, 0], [1, 4], 8, 2)
    games = ratings.games(ties=True, resample="games")
    assert ratings.games(ties=True, resample="games") is games
    assert ratings.games(ties=False, resample="games").score.tolist() == [1.0, 1.0]
    assert games.score.tolist() == [1.0, 0.5]


class TestRatingsToGames:
    @pytest.mark.parametrize(
        ("points", "ties", "score", "left_out"),
        [
            (8, True, [1, 1, 1, 0.5, 0.5, 0, 0, 0], 0),
            (8, False, [1, 1, 1, 1, 0, 0, 0, 0], 0),
            (5, True, [1, 1, 0.5, 0, 0], 0),
            (5, False, [1, 1, 0, 0], 1),
            (3, True, [1, 0.5, 0], 0),
            (3, False, [1, 0], 1),
            (2, True, [1, 0], 0),
            (2, False, [1, 0], 0),
        ],
    )
    def test_every_rating_of_every_scale(self, points, ties, score, left_out):
        games = reduce(list(range(1, points + 1)), points, ties=ties)
        assert games.score.tolist() == score
        assert games.left_out == left_out

    @pytest.mark.parametrize("points", scales.POINTS)
    @pytest.mark.parametrize("ties", [True, False])
    def test_it_agrees_with_the_scale_of_the_arena(self, points, ties):
        ratings = range(1, points + 1)
        expected = [scales.score(rating, points, ties=ties) for rating in ratings]
        assert reduce(list(ratings), points, ties=ties).score.tolist() == [
            s for s in expected if s is not None
        ]

    def test_scales_clusters_and_games_left_out(self):
        games = reduce([2, 2, 2, 2], [2, 3, 5, 8], ties=True)
        assert games.score.tolist() == [0, 0.5, 1, 1]
        games = games_from_ratings(
            [0, 0, 1], [1, 1, 2], [1, 2, 3], 3, ties=False, contestants=3, cluster=["x", "y", "z"]
        )
        assert (games.a.tolist(), games.cluster.tolist(), games.clusters) == ([0, 1], [0, 1], 2)
        games = reduce([2, 2], 3, ties=False)
        assert (len(games), games.left_out) == (0, 2)

    @pytest.mark.parametrize(
        ("ratings", "points", "message"),
        [
            ([1, 9], 8, r"rating\[1\] is 9, outside the scale 1-8"),
            ([0], 8, r"rating\[0\] is 0, outside the scale 1-8"),
            ([1], 7, r"points\[0\] is 7; there are scales of 2, 3, 5 and 8 points"),
            ([1.5], 8, "rating must hold whole numbers"),
            ([float("nan")], 8, "rating must hold whole numbers"),
            ([True], 8, "rating must hold whole numbers"),
            (["4"], 8, "rating must hold whole numbers"),
        ],
    )
    def test_it_refuses_ratings_off_the_scale(self, ratings, points, message):
        with pytest.raises(checks.RatingError, match=message):
            reduce(ratings, points, ties=True)


class TestTheGate:
    @pytest.mark.parametrize(
        ("a", "b", "score", "error", "message"),
        [
            ([0, 1], [1, 0], [1], checks.LengthMismatchError, "a has 2, b has 2, score has 1"),
            (
                [0, 3],
                [1, 1],
                [1, 1],
                checks.ContestantNumberError,
                r"a\[1\] is 3, outside the contestants 0..2",
            ),
            ([0, 0], [1, -1], [1, 1], checks.ContestantNumberError, r"b\[1\] is -1"),
            ([0.5], [1], [1], checks.ContestantNumberError, "a must hold whole numbers"),
            ([float("inf")], [1], [1], checks.ContestantNumberError, "a must hold whole numbers"),
            ([0, 2], [1, 2], [1, 1], checks.SelfComparisonError, "game 1 compares contestant 2 with itself"),
            ([0], [1], [0.7], checks.ScoreError, r"score\[0\] is 0.7, not 0, 0.5 or 1"),
            ([0], [1], [float("nan")], checks.ScoreError, r"score\[0\] is nan"),
        ],
    )
    def test_it_names_the_first_bad_position(self, a, b, score, error, message):
        with pytest.raises(error, match=message):
            make_games(a, b, score, 3)

    def test_errors_are_value_errors_and_arrays_are_not_shared(self):
        with pytest.raises(ValueError, match="itself"):
            make_games([0], [0], [1], 1)
        score = np.array([1.0])
        games = make_games([0], [1], score, 2)
        score[0] = 0.0
        assert games.score.tolist() == [1.0]

    def test_clusters_that_do_not_fit(self):
        with pytest.raises(checks.ClusterError, match="no first"):
            make_games([0, 0], [1, 1], [1, 0], 2, crossed=[0, 1])
        with pytest.raises(checks.ClusterError, match=r"cluster\[1\] is NaN"):
            make_games([0, 0], [1, 1], [1, 1], 2, cluster=[1.0, np.nan])
        with pytest.raises(checks.LengthMismatchError, match="a has 2, cluster has 1"):
            make_games([0, 0], [1, 1], [1, 1], 2, cluster=[1])
        games = make_games([0, 0, 0], [1, 1, 1], [1, 1, 1], 2, cluster=[70, 3, 70])
        assert games.cluster.tolist() == [1, 0, 1]


def test_one_for_each_contestant_and_none_twice():
    with pytest.raises(checks.LengthMismatchError, match="3 contestants but 2 names"):
        names_of(["x", "y"], 3)
    with pytest.raises(checks.ContestantNumberError, match="two contestants are named 'x'"):
        names_of(["x", "y", "x"], 3)
