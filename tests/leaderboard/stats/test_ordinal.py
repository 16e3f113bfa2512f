import dataclasses

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize
from scipy.special import expit
from statsmodels.miscmodels.ordinal_model import OrderedModel

from leaderboard.stats.bradley_terry import bootstrap_bradley_terry, bradley_terry
from leaderboard.stats.checks import NoGamesError, ParameterError
from leaderboard.stats.games import make_games
from leaderboard.stats.ordinal import (
    OrdinalLikelihood,
    bootstrap_ordinal,
    fit_everything,
    fit_rounds,
    ordinal,
)
from leaderboard.stats.ordinal_table import make_table, threshold_rows
from leaderboard.stats.ratings import make_ratings
from leaderboard.stats.resampling import cluster_draws
from tests.leaderboard.stats.ordinal_studies import (
    FREE,
    THETA,
    Setting,
    coverage,
    simulated_ratings,
    small_ratings,
)
from tests.leaderboard.stats.simulation import CONTESTANTS

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
    def test_two_and_three_points_by_hand(self):
        # P(1) = F(d - t) = 6/10 and P(3) = F(-t - d) = 1/10, so d - t = ln(3/2) and d + t = ln 9.
        fit = ordinal(make_ratings([0] * 10, [1] * 10, [1] * 6 + [2] * 3 + [3], 3, 2), position=False)
        difference, threshold = (np.log(9) + np.log(1.5)) / 2, (np.log(9) - np.log(1.5)) / 2
        assert fit.rating[0] - fit.rating[1] == pytest.approx(POINTS * difference)
        assert fit.rating[0] - fit.rating[1] == pytest.approx(226.07, abs=0.01)
        assert fit.thresholds[3] == pytest.approx([-threshold, threshold])
        assert not fit.prior
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
        both = zip(columns(ratings), columns(mirrored(ratings)), strict=True)
        first, second, rating = (np.concatenate(pair) for pair in both)
        design = np.zeros((len(first), 4))
        design[np.arange(len(first)), first] -= 1
        design[np.arange(len(first)), second] += 1
        model = OrderedModel(rating, design[:, 1:], distr="logit")
        result = model.fit(method="lbfgs", disp=0, maxiter=500)
        theta = np.concatenate(([0.0], result.params[:3]))
        cuts = model.transform_threshold_params(result.params)[1:-1]
        fit = ordinal(make_ratings(first, second, rating, 8, 4), position=False)
        assert fit.rating == pytest.approx(1000 + POINTS * (theta - theta.mean()), abs=0.01)
        assert fit.thresholds[8] == pytest.approx(cuts, abs=1e-4)

    def test_two_points_is_logistic_regression_with_position(self):
        ratings = simulated_ratings(30, points=2, seed=4)
        design = np.zeros((len(ratings), 5))
        design[np.arange(len(ratings)), ratings.first] = 1
        design[np.arange(len(ratings)), ratings.second] = -1
        design[:, 4] = 1
        model = sm.Logit((ratings.rating == 1).astype(float), design[:, 1:])
        result = model.fit(disp=0, tol=1e-12)
        robust = model.fit(disp=0, tol=1e-12, cov_type="cluster", cov_kwds={"groups": ratings.prompt})
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

    def test_winners_that_need_the_prior(self):
        fit = ordinal(make_ratings([0], [1], [1], 2, 2), position=False)
        assert fit.prior
        assert fit.unbounded == ("above", "below")
        assert fit.rating == pytest.approx(bradley_terry(make_games([0], [1], [1], 2)).rating, abs=1e-6)
        ratings = simulated_ratings(20, points=2, theta=(0.3, 0, -0.3), seed=7)
        wins = make_ratings(
            [*ratings.first, 3, 3, 0, 1], [*ratings.second, 0, 1, 3, 3], [*ratings.rating, 1, 1, 2, 2], 2, 4
        )
        fit = ordinal(wins)
        assert fit.unbounded == ("below", "below", "below", "above")
        assert np.isfinite(fit.rating).all()
        assert fit.rating.argmax() == 3
        fit = ordinal(make_ratings([0, 1] * 10, [1, 0] * 10, [1] * 20, 2, 2))
        assert fit.prior
        assert fit.position > 0
        assert fit.unbounded == (None, None)
        assert fit.rating == pytest.approx([1000, 1000])

    def test_winners_that_need_no_prior(self):
        # "Slightly better" every time is an answer in itself; only "much better" every time has no limit.
        rating = [3] * 10 + [6] * 10 + [1, 2, 4, 5, 7, 8] * 2
        first = [0] * 10 + [1] * 10 + [1] * 6 + [2] * 6
        second = [1] * 10 + [0] * 10 + [2] * 6 + [1] * 6
        fit = ordinal(make_ratings(first, second, rating, 8, 3))
        assert not fit.prior
        assert fit.unbounded == (None, None, None)
        fit = ordinal(make_ratings([0] * 100_000, [1] * 100_000, [1] * 99_999 + [2], 2, 2), position=False)
        assert not fit.prior
        assert fit.rating[0] - fit.rating[1] == pytest.approx(400 * np.log10(99_999), abs=1e-3)


def grows_for_ever(table):
    """Whether some direction lowers no term of the likelihood and raises one."""
    penalty = np.zeros((table.layout.size, 1))
    sums = OrdinalLikelihood.of(table, table.count[:, None], np.array([[False]]), penalty)
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

    def test_levels_nobody_used_or_all_used(self):
        # On 8 points with 1 and 8 alone, a rating is a game.
        ratings = simulated_ratings(100, points=2, seed=9)
        ends = make_ratings(ratings.first, ratings.second, np.where(ratings.rating == 1, 1, 8), 8, 4)
        expected = ordinal(ratings)
        assert ordinal(ends).rating == pytest.approx(expected.rating, abs=1.5)
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


def test_groups_that_never_met_have_means_of_their_own():
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
    def test_what_cannot_be_fitted_is_one_sentence(self):
        with pytest.raises(NoGamesError, match="no ratings to rank"):
            ordinal(make_ratings([], [], [], 8, 3))
        with pytest.raises(ParameterError, match="'style'; the covariates of these ratings: length"):
            ordinal(simulated_ratings(5), adjust=["style"])
        flat = dataclasses.replace(simulated_ratings(5), covariates={"length": np.zeros(30)})
        with pytest.raises(ParameterError, match="equal in length everywhere"):
            ordinal(flat, adjust=["length"])
        with pytest.raises(ParameterError, match="name no raters"):
            ordinal(make_ratings([0], [1], [1], 2, 2), raters=True)
        with pytest.raises(ParameterError, match="position cannot be told from the models"):
            ordinal(make_ratings([0] * 4, [1] * 4, [1, 1, 1, 2], 2, 2))
        ratings = simulated_ratings(20, seed=15)
        own = np.array([5.0, 3, 2, 1])
        mixed = dataclasses.replace(
            ratings, covariates={"size": own[ratings.first] - own[ratings.second], **ratings.covariates}
        )
        with pytest.raises(ParameterError, match="effect of size cannot"):
            ordinal(mixed, adjust=["length", "size"])
        with pytest.raises(ParameterError, match="resample"):
            ordinal(simulated_ratings(5), resample="pairs")

    @pytest.mark.parametrize("unit", [1e-300, 1e300])
    def test_covariates_in_any_unit(self, unit):
        ratings = simulated_ratings(20, effect=0.3, seed=17)
        other = dataclasses.replace(ratings, covariates={"length": unit * ratings.covariates["length"]})
        here, there = ordinal(ratings, adjust=["length"]), ordinal(other, adjust=["length"])
        assert there.rating == pytest.approx(here.rating, abs=1e-6)
        assert there.effects["length"].log_odds == pytest.approx(here.effects["length"].log_odds)
        assert there.effects["length"].sd == pytest.approx(unit * here.effects["length"].sd)


def taken(ratings, rows):
    return make_ratings(
        ratings.first[rows],
        ratings.second[rows],
        ratings.rating[rows],
        ratings.points[rows],
        ratings.contestants,
        prompt=ratings.prompt[rows],
        rater=ratings.rater[rows],
        covariates={name: column[rows] for name, column in ratings.covariates.items()},
    )


class TestBootstrapReferences:
    @pytest.mark.parametrize(
        ("resample", "adjust"), [("prompts", []), ("raters", []), ("prompts", ["length"])]
    )
    def test_a_round_is_a_fit_of_what_it_drew(self, resample, adjust):
        ratings = simulated_ratings(40, effect=0.4, raters=3, seed=1)
        unit = ratings.unit(resample)
        found = bootstrap_ordinal(ratings, resample=resample, rounds=20, seed=5, adjust=adjust)
        whole = ordinal(ratings, adjust=adjust).effects
        for number, drawn in enumerate(cluster_draws(5, np.arange(20), unit.max() + 1)):
            rows = np.concatenate([np.flatnonzero(unit == one) for one in drawn])
            fit = ordinal(taken(ratings, rows), adjust=adjust)
            assert found.samples[number] == pytest.approx(fit.rating, abs=1e-6)
            assert found.others["position"][number] == pytest.approx(fit.position, abs=1e-8)
            for name, effect in fit.effects.items():
                per_unit = found.effects[name][number] / whole[name].sd
                assert per_unit == pytest.approx(effect.log_odds / effect.sd, abs=1e-8)

    @pytest.mark.parametrize("prompts", [3, 8, 60, None])
    def test_two_points_without_position_is_bootstrapped_bradley_terry(self, prompts):
        # Few prompts bring rounds that need the prior, and rounds that fall apart.
        ratings = simulated_ratings(prompts or 12, points=2, seed=3)
        if prompts is None:  # contestants 2 and 3 meet the others on few of 12 prompts
            ratings = simulated_ratings(12, points=2, theta=(0.2, 0.1, 0, -0.1), raters=20, seed=11)
            ratings = taken(
                ratings,
                np.flatnonzero((np.maximum(ratings.first, ratings.second) < 2) | (ratings.prompt < 3)),
            )
        games = ratings.games(ties=True, resample="prompts")
        expected = bootstrap_bradley_terry(
            games.a, games.b, games.score, 4, rounds=150, cluster=games.cluster
        )
        found = bootstrap_ordinal(ratings, rounds=150, position=False)
        assert found.samples == pytest.approx(expected.samples, abs=1e-5)
        assert found.prior_rounds == expected.prior_rounds
        assert prompts or 0 < found.prior_rounds < 30

    def test_resampling_games_agrees_with_the_sandwich(self):
        ratings = simulated_ratings(100, seed=4)
        found = bootstrap_ordinal(ratings, resample="games", rounds=2000)
        fit = ordinal(ratings, resample="games")
        assert found.samples.std(axis=0) == pytest.approx(fit.rating_se, rel=0.08)
        assert found.others["position"].std() == pytest.approx(fit.position_se, rel=0.08)
        assert found.clusters is None

    def test_position_among_raters_who_lean_is_as_uncertain_as_their_mean(self):
        ratings = simulated_ratings(40, raters=20, lean_sd=0.6, seed=10)
        fit = ordinal(ratings, raters=True, resample="raters")
        found = bootstrap_ordinal(ratings, raters=True, resample="raters", rounds=300)
        # Their mean lean, and 240 ratings of each rater, about 0.11 for one.
        expected = np.sqrt((fit.rater_lean.var() + 0.11**2) / 20)
        assert fit.position_se == pytest.approx(expected, rel=0.1)
        assert found.others["position"].std() == pytest.approx(expected, rel=0.15)
        these = ordinal(ratings, raters=True, resample="prompts")
        assert these.position_se < expected / 2


class TestRounds:
    def test_all_ratings_once_is_the_whole_fit(self):
        ratings = simulated_ratings(20, effect=0.3, raters=2, lean_sd=0.5, seed=5)
        fit = fit_everything(make_table(ratings, position=True, adjust=["length"], raters=True))
        place, prior = fit_rounds(fit, np.repeat(fit.table.count[:, None], 3, axis=1), np.ones((2, 3)))
        assert place == pytest.approx(np.repeat(fit.reference.x, 3, axis=1), abs=1e-9)
        assert not prior.any()

    def test_threads_blocks_and_seeds(self):
        ratings = simulated_ratings(30, raters=2, seed=6)
        one = bootstrap_ordinal(ratings, rounds=200, threads=1, adjust=["length"])
        two = bootstrap_ordinal(ratings, rounds=200, threads=2, adjust=["length"])
        fewer = bootstrap_ordinal(ratings, rounds=130, adjust=["length"])
        assert np.array_equal(one.samples, two.samples)
        assert one.samples[:130] == pytest.approx(fewer.samples, abs=1e-6)
        ratings = simulated_ratings(30, seed=7)
        first, again, other = (bootstrap_ordinal(ratings, rounds=10, seed=seed).samples for seed in (1, 1, 2))
        assert np.array_equal(first, again)
        assert not np.allclose(first, other)

    def test_thresholds_that_a_round_leaves_empty(self):
        # One prompt alone uses the ends of the scale.
        ratings = simulated_ratings(12, seed=8)
        rating = np.where(
            ratings.prompt == 0, np.where(ratings.rating > 4, 8, 1), np.clip(ratings.rating, 2, 7)
        )
        found = bootstrap_ordinal(dataclasses.replace(ratings, rating=rating), rounds=100)
        assert np.isfinite(found.samples).all()
        assert np.abs(found.samples - 1000).max() < 1000

    @given(small_ratings(), st.integers(0, 3))
    def test_any_ratings(self, ratings, seed):
        found = bootstrap_ordinal(ratings, rounds=20, seed=seed, position=False)
        assert found.samples.shape == (20, CONTESTANTS)
        assert np.isfinite(found.samples).all()
        for number in np.unique(found.component):
            means = found.samples[:, found.component == number].mean(axis=1)
            assert means == pytest.approx(np.full(20, 1000.0), abs=1e-6)


class TestBootstrapInput:
    def test_what_made_the_samples(self):
        ratings = simulated_ratings(10, raters=2)
        found = bootstrap_ordinal(ratings, rounds=5, seed=9, adjust=["length"], resample="raters")
        assert (found.rounds, found.seed, found.clusters, list(found.effects)) == (5, 9, 2, ["length"])
        assert found.effects["length"].shape == (5,)

    @pytest.mark.parametrize("options", [{"rounds": 0}, {"threads": 0}, {"seed": -1}, {"resample": "pairs"}])
    def test_what_it_cannot_run_with(self, options):
        with pytest.raises(ParameterError):
            bootstrap_ordinal(simulated_ratings(5), **options)
        with pytest.raises(NoGamesError):
            bootstrap_ordinal(make_ratings([], [], [], 8, 3), resample="games")


def test_95_percent_intervals_of_60_prompts():
    # The whole simulation: tests/simulations/test_coverage_ordinal.py.
    bootstrap, errors = coverage(Setting("quick", studied={"prompts": 60}), studies=80, rounds=100)
    assert ((bootstrap > 0.87) & (bootstrap < 0.99)).all()
    assert ((errors > 0.89) & (errors < 0.99)).all()
