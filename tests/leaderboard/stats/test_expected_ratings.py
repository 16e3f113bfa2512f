"""Ranking by expected ratings: a share of a win in place of a verdict."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from scipy.stats import t as student

from leaderboard.stats.bradley_terry import POINTS_PER_UNIT, bradley_terry
from leaderboard.stats.checks import ParameterError, RatingError, ScoreError
from leaderboard.stats.elo import EloParameters
from leaderboard.stats.elo_mean import mean_elo
from leaderboard.stats.games import make_games
from leaderboard.stats.ranking import rank_ratings
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ratings import make_ratings
from leaderboard.stats.resampling import times_drawn
from leaderboard.stats.sandwich import sandwich

NAMES = ("A", "B", "C", "D")


def simulated(prompts=40, contestants=4, seed=0):
    """Every pair on every prompt, twice; expected ratings of 8 points about the differences of strengths."""
    rng = np.random.default_rng(seed)
    one, other = np.triu_indices(contestants, 1)
    first, second, prompt = (
        np.tile(each, 2)
        for each in (np.tile(one, prompts), np.tile(other, prompts), np.repeat(np.arange(prompts), len(one)))
    )
    turned = rng.random(len(first)) < 0.5
    first, second = np.where(turned, second, first), np.where(turned, first, second)
    lead = 0.7 * (second - first) + rng.normal(0.0, 0.8, (prompts, contestants))[prompt, first]
    share = 1.0 / (1.0 + np.exp(-lead - rng.normal(0.0, 0.5, len(first))))
    expected = 8.0 - 7.0 * share
    rating = np.clip(np.rint(expected), 1, 8).astype(int)
    return make_ratings(first, second, rating, 8, contestants, prompt=prompt, expected=expected)


def of_two(expected, points, **more):
    return make_ratings(
        [0] * len(expected), [1] * len(expected), [1] * len(expected), points, 2, expected=expected, **more
    )


def fractional_logit(games):
    """Papke and Wooldridge (1996) by statsmodels, the first contestant being 0."""
    design = np.zeros((len(games), games.contestants))
    rows = np.arange(len(games))
    design[rows, games.a], design[rows, games.b] = 1.0, -1.0
    model = sm.GLM(games.score, design[:, 1:], family=sm.families.Binomial())
    return model.fit(
        cov_type="cluster", cov_kwds={"groups": games.cluster, "use_correction": False}, tol=1e-12
    )


def test_shares_of_a_win_by_hand():
    """2 and 3.5 of 5 points are 3/4 and 3/8 of a win, 9/16 on average: 400 log10(9 / 7) = 43.66 points."""
    games = of_two([2.0, 3.5], 5).games(ties=True, resample="games")
    assert games.score.tolist() == [0.75, 0.375]
    first, second = bradley_terry(games).rating
    assert first - second == pytest.approx(400 * math.log10(9 / 7))
    counted = rank_ratings(of_two([2.0, 3.5, 3.0], 5), "AB", Method(rounds=None)).standings[0]
    assert (counted.wins, counted.losses, counted.ties) == (1, 1, 1)


def test_strengths_and_errors_are_those_of_a_fractional_logit():
    ratings = simulated()
    games = ratings.games(ties=True)
    fit, logit = bradley_terry(games), fractional_logit(games)
    theta = np.append(0.0, logit.params)
    assert fit.rating == pytest.approx(1000 + POINTS_PER_UNIT * (theta - theta.mean()), abs=1e-5)
    centre = np.eye(4) - 0.25
    covariance = centre[:, 1:] @ logit.cov_params() @ centre[:, 1:].T * 40 / 39
    error = POINTS_PER_UNIT * np.sqrt(np.diag(covariance))
    assert sandwich(games, fit).standard_error == pytest.approx(error, rel=1e-6)


def test_every_round_is_a_fractional_logit_of_the_prompts_it_drew():
    ratings = simulated(12, 3, seed=2)
    games = ratings.games(ties=True)
    found = rank_ratings(ratings, NAMES[:3], Method("bradley-terry", rounds=30, seed=5, interval=80.0))
    rounds = []
    for times in times_drawn(5, np.arange(30), 12):
        drawn = np.repeat(np.arange(len(games)), times[games.cluster])
        again = make_games(
            games.a[drawn], games.b[drawn], games.score[drawn], 3, cluster=games.cluster[drawn], shares=True
        )
        theta = np.append(0.0, fractional_logit(again).params)
        rounds.append(1000 + POINTS_PER_UNIT * (theta - theta.mean()))
    low, middle, high = np.percentile(rounds, (10, 50, 90), axis=0)
    # Percentiles of 12 prompts are widened (docs/decisions/0032).
    wider = student.ppf(0.9, 11) * np.sqrt(12 / 11) / norm.ppf(0.9)
    low, high = middle + wider * (low - middle), middle + wider * (high - middle)
    for row in found.standings:
        number = NAMES.index(row.contestant)
        assert (row.low, row.high) == pytest.approx((low[number], high[number]), abs=1e-4)
    assert found.parameters["ratings"] == "expected"


@pytest.mark.parametrize(
    ("shares", "points"),
    [
        ([0.75, 0.75], 190.85),  # every game ends as expected, so nothing moves and K has no effect
        ([0.9, 0.6], 190.85 + 2.0 * 0.0225 / 0.1875),  # of the cloud of wins and losses the share that varies
        ([1.0, 0.0, 1.0, 1.0], 192.87),
    ],
)
def test_the_mean_of_elo_by_hand(shares, points):
    """With K = 8 and 3/4 of the wins, wins and losses make a cloud that is worth 2.00 points."""
    count = len(shares)
    games = make_games([0] * count, [1] * count, shares, 2, shares=True)
    first, second = mean_elo(games, EloParameters(k=8.0)).rating
    assert first - second == pytest.approx(points, abs=0.02)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 2), st.integers(1, 3)), min_size=1, max_size=12))
def test_whole_shares_rank_as_games(rows):
    """An expected rating on one of three points is that rating, with a tie as half a win."""
    first, step, rating = np.array(rows).T
    given_ = (first, (first + step) % 3, rating, 3, 3)
    for method in (Method(rounds=4), Method("bradley-terry", rounds=4)):
        found, wanted = (
            rank_ratings(make_ratings(*given_, prompt=np.arange(len(rows)) // 2, **more), NAMES[:3], method)
            for more in ({"expected": rating}, {})
        )
        assert [row.as_dict() for row in found.standings] == [row.as_dict() for row in wanted.standings]


def test_what_cannot_be_is_one_sentence():
    for method in ("davidson", "ordinal", "elo-study"):
        with pytest.raises(ParameterError, match="takes no expected ratings; choose elo or bradley-terry"):
            rank_ratings(of_two([2.0], 5), "AB", Method(method, rounds=None))
    with pytest.raises(RatingError, match=r"expected\[1\] is 5.5, outside the scale 1-5"):
        of_two([2.0, 5.5], 5)
    with pytest.raises(ScoreError, match=r"not 0, 0\.5 or 1"):
        make_games([0], [1], [0.3], 2)
    with pytest.raises(ScoreError, match="not from 0 to 1"):
        make_games([0], [1], [1.3], 2, shares=True)
