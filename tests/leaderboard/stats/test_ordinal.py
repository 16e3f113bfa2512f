import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.special import expit
from statsmodels.miscmodels.ordinal_model import OrderedModel

from leaderboard.stats import bradley_terry, make_games
from leaderboard.stats.ordinal import ordinal
from leaderboard.stats.ordinal_scale import threshold_rows
from leaderboard.stats.ratings import make_ratings
from tests.leaderboard.stats.ordinal_simulation import simulated_ratings

POINTS = 400 / np.log(10)


def mirrored(ratings):
    """The same comparisons with first and second changed over."""
    return make_ratings(
        ratings.second,
        ratings.first,
        ratings.points + 1 - ratings.rating,
        ratings.points,
        ratings.contestants,
        prompt=ratings.prompt,
        rater=ratings.rater,
        covariates={name: -column for name, column in ratings.covariates.items()},
    )


class TestByHand:
    def test_three_points_two_contestants(self):
        # P(1) = F(d - t) = 6/10 and P(3) = F(-t - d) = 1/10, so d - t = ln(3/2) and d + t = ln 9.
        fit = ordinal(make_ratings([0] * 10, [1] * 10, [1] * 6 + [2] * 3 + [3], 3, 2), position=False)
        difference, threshold = (np.log(9) + np.log(1.5)) / 2, (np.log(9) - np.log(1.5)) / 2
        assert fit.rating[0] - fit.rating[1] == pytest.approx(POINTS * difference)
        assert fit.rating[0] - fit.rating[1] == pytest.approx(226.07, abs=0.01)
        assert fit.thresholds[3] == pytest.approx([-threshold, threshold])
        assert not fit.prior

    def test_position_of_two_points(self):
        # First wins 8 of 10 standing first, and 4 of 10 standing second (as rating 2).
        # difference + position = ln 4, difference - position = ln(2/3).
        ratings = make_ratings(
            [0] * 10 + [1] * 10, [1] * 10 + [0] * 10, [1] * 8 + [2] * 2 + [1] * 6 + [2] * 4, 2, 2
        )
        fit = ordinal(ratings)
        assert fit.position == pytest.approx((np.log(4) - np.log(2 / 3)) / 2)
        assert fit.rating[0] - fit.rating[1] == pytest.approx(POINTS * (np.log(4) + np.log(2 / 3)) / 2)


class TestReferences:
    @pytest.mark.parametrize("points", [2, 3, 5, 8])
    def test_the_likelihood_written_out(self, points):
        ratings = simulated_ratings(15, points=points, effect=0.2, seed=points)
        fit = ordinal(ratings, adjust=["length"])
        found = minimize(minus_log_likelihood, start_of(points), args=(ratings, points), tol=1e-12)
        theta = np.concatenate(([0.0], found.x[:3]))
        assert fit.rating == pytest.approx(1000 + POINTS * (theta - theta.mean()), abs=0.01)
        assert fit.position == pytest.approx(found.x[3], abs=1e-4)
        effect = fit.effects["length"]
        assert effect.log_odds / effect.sd == pytest.approx(found.x[4], abs=1e-4)
        assert fit.thresholds[points] == pytest.approx(threshold_rows(points) @ found.x[5:], abs=1e-4)

    def test_statsmodels_where_each_comparison_is_entered_both_ways(self):
        # Then its free thresholds come out symmetric.
        ratings = simulated_ratings(30, seed=3)
        both = [
            np.concatenate(pair) for pair in zip(columns(ratings), columns(mirrored(ratings)), strict=True)
        ]
        first, second, rating = both
        design = np.zeros((len(first), 4))
        design[np.arange(len(first)), first] -= 1
        design[np.arange(len(first)), second] += 1
        result = OrderedModel(rating, design[:, 1:], distr="logit").fit(method="bfgs", disp=0, gtol=1e-9)
        theta = np.concatenate(([0.0], result.params[:3]))
        cuts = OrderedModel(rating, design[:, 1:], distr="logit").transform_threshold_params(result.params)[
            1:-1
        ]
        fit = ordinal(make_ratings(first, second, rating, 8, 4), position=False)
        assert fit.rating == pytest.approx(1000 + POINTS * (theta - theta.mean()), abs=0.01)
        assert fit.thresholds[8] == pytest.approx(cuts, abs=1e-4)

    def test_two_points_is_logistic_regression_with_position(self):
        ratings = simulated_ratings(30, points=2, seed=4)
        design = np.zeros((len(ratings), 5))
        design[np.arange(len(ratings)), ratings.first] = 1
        design[np.arange(len(ratings)), ratings.second] = -1
        design[:, 4] = 1
        result = sm.Logit((ratings.rating == 1).astype(float), design[:, 1:]).fit(disp=0, tol=1e-12)
        robust = sm.Logit((ratings.rating == 1).astype(float), design[:, 1:]).fit(
            disp=0, tol=1e-12, cov_type="cluster", cov_kwds={"groups": ratings.prompt}
        )
        fit = ordinal(ratings)
        assert fit.position == pytest.approx(result.params[3], abs=1e-8)
        # statsmodels multiplies by (n - 1) / (n - k) as well.
        small = np.sqrt((len(ratings) - 1) / (len(ratings) - 4))
        assert fit.position_se * small == pytest.approx(robust.bse[3], rel=1e-6)

    def test_two_points_without_position_is_bradley_terry(self):
        ratings = simulated_ratings(30, points=2, seed=5)
        games = make_games(ratings.first, ratings.second, 2.0 - ratings.rating, 4)
        assert ordinal(ratings, position=False).rating == pytest.approx(bradley_terry(games).rating, abs=1e-6)


def columns(ratings):
    return ratings.first, ratings.second, ratings.rating


def start_of(points):
    return np.concatenate((np.zeros(5), np.arange(1.0, (points - 1) // 2 + 1)))


def minus_log_likelihood(x, ratings, points):
    theta = np.concatenate(([0.0], x[:3]))
    odds = theta[ratings.first] - theta[ratings.second] + x[3] + x[4] * ratings.covariates["length"]
    cuts = np.concatenate(([-np.inf], threshold_rows(points) @ x[5:], [np.inf]))
    upper, lower = expit(cuts[ratings.rating] + odds), expit(cuts[ratings.rating - 1] + odds)
    return -np.log(np.maximum(upper - lower, 1e-300)).sum()


class TestMirror:
    @pytest.mark.parametrize("points", [2, 3, 5, 8])
    def test_changing_sides_changes_no_rating(self, points):
        ratings = simulated_ratings(20, points=points, effect=0.3, lean_sd=0.5, raters=3, seed=6)
        fit = ordinal(ratings, adjust=["length"], raters=True)
        other = ordinal(mirrored(ratings), adjust=["length"], raters=True)
        assert other.rating == pytest.approx(fit.rating, abs=1e-5)
        assert other.rating_se == pytest.approx(fit.rating_se, abs=1e-5)
        assert other.position == pytest.approx(-fit.position, abs=1e-7)
        assert other.rater_lean == pytest.approx(-fit.rater_lean, abs=1e-6)
        assert other.effects["length"].log_odds == pytest.approx(fit.effects["length"].log_odds, abs=1e-7)
        assert other.thresholds[points] == pytest.approx(fit.thresholds[points], abs=1e-7)
