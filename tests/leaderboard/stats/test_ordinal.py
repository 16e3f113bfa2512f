import dataclasses

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize
from scipy.special import expit
from statsmodels.miscmodels.ordinal_model import OrderedModel

from leaderboard.stats import bradley_terry, make_games, make_ratings, ordinal
from leaderboard.stats.checks import NoGamesError, ParameterError
from leaderboard.stats.ordinal import Sums
from leaderboard.stats.ordinal_table import make_table, threshold_rows
from tests.leaderboard.stats.ordinal_studies import FREE, THETA, simulated_ratings, small_ratings
from tests.leaderboard.stats.strategies import CONTESTANTS

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
        assert fit.position == pytest.approx(0.8959, abs=1e-4)
        assert fit.rating[0] - fit.rating[1] == pytest.approx(85.19, abs=0.01)
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
        result = OrderedModel(rating, design[:, 1:], distr="logit").fit(method="lbfgs", disp=0, maxiter=500)
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

    @settings(max_examples=40, deadline=None)
    @given(small_ratings(), st.permutations(range(CONTESTANTS)))
    def test_renaming_contestants_renames_the_result(self, ratings, names):
        fit = ordinal(ratings, position=False)
        number = np.array(names)
        renamed = dataclasses.replace(ratings, first=number[ratings.first], second=number[ratings.second])
        other = ordinal(renamed, position=False)
        assert other.rating[number] == pytest.approx(fit.rating, abs=1e-5)
        assert [other.unbounded[new] for new in names] == list(fit.unbounded)
        assert other.prior == fit.prior


class TestNoFiniteMaximum:
    @settings(max_examples=80, deadline=None)
    @given(small_ratings(), st.booleans())
    def test_the_prior_is_used_exactly_where_linear_programming_finds_none(self, ratings, position):
        try:
            fit = ordinal(ratings, position=position)
        except ParameterError:
            assert position
        else:
            assert fit.prior == grows_for_ever(
                make_table(ratings, position=position, adjust=(), raters=False)
            )

    def test_one_win_is_given_the_same_prior_as_in_bradley_terry(self):
        fit = ordinal(make_ratings([0], [1], [1], 2, 2), position=False)
        assert fit.prior
        assert fit.unbounded == ("above", "below")
        assert fit.rating == pytest.approx(bradley_terry(make_games([0], [1], [1], 2)).rating, abs=1e-6)

    def test_a_contestant_that_never_lost(self):
        ratings = simulated_ratings(20, points=2, theta=(0.3, 0, -0.3), seed=7)
        wins = make_ratings(
            [*ratings.first, 3, 3, 0, 1], [*ratings.second, 0, 1, 3, 3], [*ratings.rating, 1, 1, 2, 2], 2, 4
        )
        fit = ordinal(wins)
        assert fit.unbounded == ("below", "below", "below", "above")
        assert np.isfinite(fit.rating).all()
        assert fit.rating.argmax() == 3

    def test_a_contestant_that_always_won_by_a_little_is_finite(self):
        # "Slightly better" every time is an answer in itself; only "much better" every time has no limit.
        rating = [3] * 10 + [6] * 10 + [1, 2, 4, 5, 7, 8] * 2
        first = [0] * 10 + [1] * 10 + [1] * 6 + [2] * 6
        second = [1] * 10 + [0] * 10 + [2] * 6 + [1] * 6
        fit = ordinal(make_ratings(first, second, rating, 8, 3))
        assert not fit.prior
        assert fit.unbounded == (None, None, None)

    def test_whoever_stands_first_always_wins(self):
        fit = ordinal(make_ratings([0, 1] * 10, [1, 0] * 10, [1] * 20, 2, 2))
        assert fit.prior
        assert fit.position > 0
        assert fit.unbounded == (None, None)
        assert fit.rating == pytest.approx([1000, 1000])

    def test_one_loss_in_a_hundred_thousand_is_no_such_case(self):
        fit = ordinal(make_ratings([0] * 100_000, [1] * 100_000, [1] * 99_999 + [2], 2, 2), position=False)
        assert not fit.prior
        assert fit.rating[0] - fit.rating[1] == pytest.approx(400 * np.log10(99_999), abs=1e-3)


def grows_for_ever(table):
    """Whether some direction lowers no term of the likelihood and raises one."""
    sums = Sums.of(table, table.count[:, None], np.array([False]), np.zeros((table.layout.size, 1)))
    design = table.design.toarray()
    rises = np.concatenate(
        (design[sums.won[:, 0] > 0], -design[sums.lost[:, 0] > 0], table.widths[sums.inside[:, 0] > 0])
    )
    found = linprog(-rises.sum(axis=0), A_ub=-rises, b_ub=np.zeros(len(rises)), bounds=(-1, 1))
    return bool(-found.fun > 1e-7)


class TestUnusedLevels:
    @pytest.mark.parametrize("used", [(4, 5), (1, 8), (1, 4, 5, 8), (3, 6), (2, 3, 6, 7)])
    def test_any_part_of_the_scale_will_do(self, used):
        ratings = simulated_ratings(40, seed=8)
        rating = np.array(used)[(ratings.rating - 1) * len(used) // 8]
        fit = ordinal(dataclasses.replace(ratings, rating=rating))
        assert np.isfinite(fit.rating).all()
        assert (np.diff(fit.thresholds[8]) > 0).all()
        assert not fit.prior

    def test_levels_nobody_used_hardly_move_ratings(self):
        # On 8 points with 1 and 8 alone, a rating is a game.
        ratings = simulated_ratings(100, points=2, seed=9)
        ends = make_ratings(ratings.first, ratings.second, np.where(ratings.rating == 1, 1, 8), 8, 4)
        expected = ordinal(ratings)
        assert ordinal(ends).rating == pytest.approx(expected.rating, abs=1.5)

    def test_only_ties(self):
        fit = ordinal(make_ratings([0, 1, 2], [1, 2, 0], [2, 2, 2], 3, 3))
        assert fit.rating == pytest.approx([1000] * 3)
        assert np.isfinite(fit.thresholds[3]).all()


class TestManyScales:
    def test_they_share_contestants_and_position(self):
        parts = [simulated_ratings(300, points=points, seed=points) for points in (2, 3, 5, 8)]
        fit = ordinal(joined(parts))
        assert fit.rating == pytest.approx(1000 + POINTS * np.array(THETA), abs=20)
        assert fit.position == pytest.approx(0.3, abs=0.08)
        for points in (2, 3, 5, 8):
            assert fit.thresholds[points] == pytest.approx(
                threshold_rows(points) @ np.array(FREE[points]), abs=0.25
            )

    @pytest.mark.parametrize(("points", "rating"), [(p, r) for p in (2, 3, 5) for r in range(1, p + 1)])
    def test_one_rating_on_another_scale_moves_its_two_contestants_a_little_and_others_hardly(
        self, points, rating
    ):
        common = simulated_ratings(50, seed=12)
        columns = {"first": 0, "second": 3, "rating": rating, "points": points, "prompt": 50, "rater": 0}
        one = {name: np.array([value]) for name, value in columns.items()}
        stray = dataclasses.replace(common, **one, covariates={"length": np.zeros(1)})
        before, after = ordinal(common), ordinal(joined([common, stray]))
        moved = (after.rating - before.rating) / before.rating_se
        assert np.abs(moved[[1, 2]]).max() < 0.05
        assert np.abs(moved[[0, 3]]).max() < 0.25
        assert after.thresholds[8] == pytest.approx(before.thresholds[8], abs=0.05)

    def test_a_scale_used_twice_is_more_of_the_same(self):
        ratings = simulated_ratings(30, points=5, seed=10)
        once, twice = ordinal(ratings), ordinal(joined([ratings, ratings]))
        assert twice.rating == pytest.approx(once.rating, abs=1e-6)
        assert twice.rating_se == pytest.approx(once.rating_se, rel=0.02)  # prompts go together


def joined(parts):
    """Several sets of ratings as one; raters and prompts of the same number are the same."""
    fields = ("first", "second", "rating", "points", "prompt", "rater")
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in fields}
    length = np.concatenate([part.covariates["length"] for part in parts])
    return dataclasses.replace(parts[0], **columns, covariates={"length": length})


class TestGroupsThatNeverMet:
    def test_each_has_its_own_mean(self):
        ratings = simulated_ratings(40, theta=(0.5, -0.5), seed=11)
        apart = make_ratings(
            [*ratings.first, *(ratings.first + 2)],
            [*ratings.second, *(ratings.second + 2)],
            [*ratings.rating, *ratings.rating],
            8,
            5,
        )
        fit = ordinal(apart)
        assert fit.component.tolist() == [0, 0, 1, 1, 2]
        assert fit.rating[:2] == pytest.approx(fit.rating[2:4], abs=1e-6)
        assert fit.rating[:2].mean() == pytest.approx(1000)
        assert (fit.rating[4], fit.rating_se[4]) == (1000, 0)


class TestRecovery:
    def test_everything_at_once(self):
        ratings = simulated_ratings(400, raters=12, effect=0.25, lean_sd=0.6, seed=12)
        fit = ordinal(ratings, adjust=["length"], raters=True)
        truth = 1000 + POINTS * (np.array(THETA) - np.mean(THETA))
        assert (np.abs(fit.rating - truth) < 4 * fit.rating_se).all()
        effect = fit.effects["length"]
        assert abs(effect.log_odds / effect.sd - 0.25) < 4 * effect.se / effect.sd
        assert effect.points == pytest.approx(effect.log_odds * POINTS)
        assert fit.thresholds[8] == pytest.approx(threshold_rows(8) @ np.array(FREE[8]), abs=0.1)
        assert 0.35 < fit.lean_sd < 1.0
        assert np.corrcoef(fit.rater_lean, shares_first(ratings))[0, 1] > 0.95

    def test_raters_who_do_not_lean(self):
        fit = ordinal(simulated_ratings(300, raters=8, seed=13), raters=True)
        assert np.abs(fit.rater_lean).max() < 0.1
        assert fit.lean_sd < 0.1

    def test_the_spread_of_leans_is_that_of_the_marginal_likelihood(self):
        ratings = simulated_ratings(60, points=2, theta=(0.3, -0.3), raters=40, lean_sd=0.6, seed=16)
        side = 1.0 - 2.0 * ratings.first
        won = ratings.rating == 1
        nodes, weights = np.polynomial.hermite_e.hermegauss(30)

        def minus_marginal(x):
            odds = x[0] * side + x[1] + np.exp(x[2]) * nodes[:, None]
            terms = -np.logaddexp(0.0, np.where(won, -odds, odds))
            by_rater = np.array([terms[:, ratings.rater == rater].sum(axis=1) for rater in range(40)])
            return -np.log(np.exp(by_rater + 60) @ weights).sum()

        found = minimize(minus_marginal, [0.5, 0.0, -0.5], method="Nelder-Mead", tol=1e-6)
        fit = ordinal(ratings, raters=True)
        assert fit.lean_sd == pytest.approx(np.exp(found.x[2]), rel=0.1)
        assert (fit.rating[0] - fit.rating[1]) / POINTS == pytest.approx(found.x[0], rel=0.05)

    def test_length_and_position_mislead_bradley_terry_and_not_the_adjusted_ranking(self):
        # The weaker writes more and mostly stands first; raters like both.
        ratings = simulated_ratings(
            600,
            theta=(0.3, -0.3),
            position=0.8,
            effect=0.4,
            covariate_of_contestant=(-1.0, 1.0),
            first_share=0.2,
            seed=14,
        )
        games = ratings.games(ties=True)
        assert bradley_terry(games).rating[0] < 980
        fit = ordinal(ratings, adjust=["length"])
        truth = 1000 + POINTS * 0.3
        assert abs(fit.rating[0] - truth) < 3 * fit.rating_se[0]
        assert ordinal(ratings).rating[0] < truth - 4 * fit.rating_se[0]


def shares_first(ratings):
    """The share of each rater's ratings on the side of the first."""
    on_first = 2 * ratings.rating < ratings.points + 1
    return [on_first[ratings.rater == rater].mean() for rater in range(ratings.rater.max() + 1)]


class TestInput:
    def test_no_ratings(self):
        with pytest.raises(NoGamesError, match="no ratings to rank"):
            ordinal(make_ratings([], [], [], 8, 3))

    def test_a_covariate_nobody_has(self):
        with pytest.raises(ParameterError, match="'style'; the covariates of these comparisons: length"):
            ordinal(simulated_ratings(5), adjust=["style"])

    def test_a_covariate_that_never_differs(self):
        flat = dataclasses.replace(simulated_ratings(5), covariates={"length": np.zeros(30)})
        with pytest.raises(ParameterError, match="equal in it everywhere"):
            ordinal(flat, adjust=["length"])

    @pytest.mark.parametrize("unit", [1e-300, 1e300])
    def test_covariates_in_any_unit(self, unit):
        ratings = simulated_ratings(20, effect=0.3, seed=17)
        other = dataclasses.replace(ratings, covariates={"length": unit * ratings.covariates["length"]})
        here, there = ordinal(ratings, adjust=["length"]), ordinal(other, adjust=["length"])
        assert there.rating == pytest.approx(here.rating, abs=1e-6)
        assert there.effects["length"].log_odds == pytest.approx(here.effects["length"].log_odds)
        assert there.effects["length"].sd == pytest.approx(unit * here.effects["length"].sd)

    def test_leans_without_raters(self):
        with pytest.raises(ParameterError, match="name no raters"):
            ordinal(make_ratings([0], [1], [1], 2, 2), raters=True)

    def test_a_position_mixed_up_with_the_contestants(self):
        with pytest.raises(ParameterError, match="position cannot be told from the contestants"):
            ordinal(make_ratings([0] * 4, [1] * 4, [1, 1, 1, 2], 2, 2))

    def test_a_covariate_mixed_up_with_the_contestants(self):
        ratings = simulated_ratings(20, seed=15)
        own = np.array([5.0, 3, 2, 1])
        mixed = dataclasses.replace(
            ratings, covariates={"size": own[ratings.first] - own[ratings.second], **ratings.covariates}
        )
        with pytest.raises(ParameterError, match="effect of size cannot"):
            ordinal(mixed, adjust=["length", "size"])

    def test_an_unknown_unit(self):
        with pytest.raises(ParameterError, match="resample"):
            ordinal(simulated_ratings(5), resample="pairs")
