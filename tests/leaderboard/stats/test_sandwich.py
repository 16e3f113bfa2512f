from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from scipy.optimize import approx_fprime
from scipy.stats import kstest, norm

from leaderboard.stats.bradley_terry import bootstrap_bradley_terry, bradley_terry
from leaderboard.stats.checks import ParameterError
from leaderboard.stats.davidson import bootstrap_davidson, davidson
from leaderboard.stats.games import make_games
from leaderboard.stats.intervals import normal_interval
from leaderboard.stats.sandwich import sandwich, sandwich_samples
from tests.leaderboard.stats.simulation import CONTESTANTS, simulated_games, small_games

POINTS = 400 / np.log(10)


def make_study(*, clustered, seed=0):
    return simulated_games(60, seed=seed, tie_share=0.2, raters=3, prompt_effect=150.0, clustered=clustered)


class TestByHand:
    def test_three_wins_of_four(self):
        # The difference has curvature 4 * 3/4 * 1/4 = 3/4, squared scores 3 * (1/4)**2 + (3/4)**2 = 3/4, and
        # the factor 4/3 for four games: variance 3/4 / (3/4)**2 * 4/3 = 16/9. Each rating moves half as far.
        games = make_games([0] * 4, [1] * 4, [1, 1, 1, 0], 2)
        found = sandwich(games, bradley_terry(games))
        assert found.standard_error == pytest.approx([POINTS * 2 / 3] * 2)
        assert found.covariance[0, 1] == pytest.approx(-found.covariance[0, 0])
        assert found.clusters is None

    def test_intervals_are_normal_and_with_few_units_students_t(self):
        low, high = normal_interval(np.array([1000.0]), np.array([10.0]), 95)
        assert (low[0], high[0]) == pytest.approx((980.40, 1019.60), abs=0.01)
        low, high = normal_interval(np.array([1000.0]), np.array([10.0]), 95, units=5)
        assert (low[0], high[0]) == pytest.approx((972.24, 1027.76), abs=0.01)
        with pytest.raises(ParameterError, match="interval is 100"):
            normal_interval(np.zeros(1), np.ones(1), 100)


class TestReferences:
    @pytest.mark.parametrize("clustered", [False, True])
    def test_bradley_terry_by_statsmodels(self, clustered):
        games = make_study(clustered=clustered)
        design = np.zeros((len(games), 4))
        design[np.arange(len(games)), games.a], design[np.arange(len(games)), games.b] = 1, -1
        groups = {"groups": games.cluster, "use_correction": False}
        kind = {"cov_type": "cluster", "cov_kwds": groups} if clustered else {"cov_type": "HC0"}
        fit = sm.GLM(games.score, design[:, 1:], family=sm.families.Binomial()).fit(tol=1e-12, **kind)
        full = np.zeros((4, 4))
        full[1:, 1:] = fit.cov_params()
        centring = np.eye(4) - 0.25
        expected = centring @ full @ centring * POINTS**2 * games.units / (games.units - 1)
        assert sandwich(games, bradley_terry(games)).covariance == pytest.approx(expected, abs=1e-7)

    def test_crossed_clusters_by_statsmodels(self):
        games = make_study(clustered=True)
        rater = np.random.default_rng(1).integers(0, 7, len(games))
        design = np.zeros((len(games), 4))
        design[np.arange(len(games)), games.a], design[np.arange(len(games)), games.b] = 1, -1
        model = sm.GLM(games.score, design[:, 1:], family=sm.families.Binomial())
        both = games.cluster * 7 + rater
        full = np.zeros((4, 4))
        for groups, sign in ((games.cluster, 1), (rater, 1), (both, -1)):
            count = len(np.unique(groups))
            options = {"groups": groups, "use_correction": False}
            found = model.fit(tol=1e-12, cov_type="cluster", cov_kwds=options).cov_params()
            full[1:, 1:] += sign * found * count / (count - 1)
        groups = np.column_stack((games.cluster, rater))
        options = {"groups": groups, "use_correction": True}
        in_one = model.fit(tol=1e-12, cov_type="cluster", cov_kwds=options).cov_params()
        # Its correction is ours for each kind of cluster, and one more for the three parameters.
        more = (len(games) - 1) / (len(games) - 3)
        assert in_one == pytest.approx(full[1:, 1:] * more, abs=1e-9)
        centring = np.eye(4) - 0.25
        expected = centring @ full @ centring * POINTS**2
        crossed = sandwich(replace(games, crossed=rater), bradley_terry(games))
        assert crossed.covariance == pytest.approx(expected, abs=1e-7)
        assert (crossed.clusters, crossed.units) == (60, 7)

    @pytest.mark.parametrize("clustered", [False, True])
    def test_davidson_from_numerical_derivatives(self, clustered):
        games = simulated_games(20, seed=1, tie_share=0.3, raters=2, clustered=clustered)
        fit = davidson(games)

        def log_likelihood(x, a, b, score):
            d = np.append(0.0, x[:3])[a] - np.append(0.0, x[:3])[b]
            total = np.log(np.exp(d / 2) + np.exp(-d / 2) + np.exp(x[3]))
            return np.select([score == 1, score == 0], [d / 2, -d / 2], x[3]) - total

        at = np.append((fit.rating[1:] - fit.rating[0]) / POINTS, np.log(fit.nu))
        arrays = (games.a, games.b, games.score)
        scores = approx_fprime(at, lambda x: log_likelihood(x, *arrays), 1e-6)
        unit = games.cluster if clustered else np.arange(len(games))
        summed = np.array([np.bincount(unit, column) for column in scores.T])
        curvature = -approx_fprime(
            at, lambda x: approx_fprime(x, lambda y: log_likelihood(y, *arrays).sum(), 1e-5), 1e-4
        )
        bread = np.linalg.inv(curvature)
        full = np.zeros((4, 4))
        full[1:, 1:] = (bread @ summed @ summed.T @ bread)[:3, :3]
        centring = np.eye(4) - 0.25
        expected = centring @ full @ centring * POINTS**2 * games.units / (games.units - 1)
        assert sandwich(games, fit).covariance == pytest.approx(expected, rel=5e-3, abs=0.5)

    @pytest.mark.parametrize("clustered", [False, True])
    def test_the_bootstrap_has_nearly_the_same_width(self, clustered):
        games = make_study(clustered=clustered)
        arrays = (games.a, games.b, games.score, 4)
        for fit, bootstrap in ((bradley_terry, bootstrap_bradley_terry), (davidson, bootstrap_davidson)):
            spread = bootstrap(*arrays, rounds=800, cluster=games.cluster).samples.std(axis=0)
            assert sandwich(games, fit(games)).standard_error == pytest.approx(spread, rel=0.12)


class TestWhereThereIsNone:
    def test_a_variance_is_never_negative_and_clusters_of_one_kind_say_nothing(self):
        # Each game is alone in its prompt and every rater rates both ways: the plain sum would be negative.
        units = {"cluster": [0, 0, 1, 1], "crossed": [0, 1, 0, 1]}
        games = make_games([0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0], 2, **units)
        found = sandwich(games, bradley_terry(games))
        assert (found.standard_error >= 0).all()
        games = make_study(clustered=True)
        games = replace(games, crossed=np.zeros(len(games), dtype=int))
        found = sandwich(games, bradley_terry(games))
        assert np.isnan(found.standard_error).all()
        games = make_games([0, 0, 0], [1, 1, 1], [1, 1, 0], 2, cluster=[4, 4, 4])
        assert np.isnan(sandwich(games, bradley_terry(games)).standard_error).all()

    def test_a_contestant_that_met_nobody_has_no_error_and_keeps_its_rating(self):
        games = make_games([0, 0, 0], [2, 2, 2], [1, 1, 0], 3)
        found = sandwich(games, davidson(games))
        assert np.isnan(found.standard_error).tolist() == [False, True, False]
        assert np.isnan(found.covariance[1]).all()
        fit = bradley_terry(games)
        samples = sandwich_samples(fit, sandwich(games, fit).covariance, 20)
        assert (samples[:, 1] == 1000).all()
        assert samples[:, 0].std() > 10


def with_a_circle(games):
    """The games, and two prompts in which everybody beats the next, or the one before: no prior needed."""
    around = np.arange(CONTESTANTS)
    following = (around + 1) % CONTESTANTS
    return make_games(
        np.concatenate((games.a, around, following)),
        np.concatenate((games.b, following, around)),
        np.append(games.score, np.ones(2 * CONTESTANTS)),
        CONTESTANTS,
        cluster=np.append(games.cluster, np.repeat([100, 101], CONTESTANTS)),
    )


@given(small_games(clustered=True).map(with_a_circle))
def test_sides_and_doubled_clusters(games):
    """Turning every game changes nothing; every cluster twice halves the variance, but for the factor."""
    fit = bradley_terry(games)
    turned = make_games(games.b, games.a, 1 - games.score, CONTESTANTS, cluster=games.cluster)
    found = sandwich(games, fit).covariance
    assert sandwich(turned, bradley_terry(turned)).covariance == pytest.approx(found, abs=1e-5, nan_ok=True)
    doubled = make_games(
        np.tile(games.a, 2),
        np.tile(games.b, 2),
        np.tile(games.score, 2),
        CONTESTANTS,
        cluster=np.append(games.cluster, games.cluster + games.units),
    )
    n = games.units
    expected = found * (n - 1) / n * (2 * n) / (2 * n - 1) / 2
    assert sandwich(doubled, bradley_terry(doubled)).covariance == pytest.approx(
        expected, abs=1e-5, nan_ok=True
    )


class TestSamples:
    def test_they_have_the_mean_and_the_covariance_and_with_few_units_spread_as_students_t(self):
        games = make_study(clustered=True)
        fit = bradley_terry(games)
        covariance = sandwich(games, fit).covariance
        samples = sandwich_samples(fit, covariance, 4000, seed=3)
        assert samples.mean(axis=0) == pytest.approx(fit.rating, abs=1.0)
        assert np.cov(samples.T) == pytest.approx(covariance, abs=0.08 * covariance.max())
        assert samples.mean(axis=1) == pytest.approx(np.full(4000, 1000.0), abs=1e-5)
        first = (samples[:, 0] - fit.rating[0]) / np.sqrt(covariance[0, 0])
        assert kstest(first, norm.cdf).pvalue > 0.001
        found = sandwich(games, fit)
        samples = sandwich_samples(fit, found.covariance, 20_000, units=5)
        for level in (90, 95):
            low, high = normal_interval(fit.rating, found.standard_error, level, 5)
            assert np.percentile(samples, 50 + level / 2, axis=0) - fit.rating == pytest.approx(
                high - fit.rating, rel=0.08
            )
            assert low + high == pytest.approx(2 * fit.rating)

    def test_more_rounds_keep_the_first_ones_also_with_few_clusters(self):
        games = make_study(clustered=False)
        fit = davidson(games)
        covariance = sandwich(games, fit).covariance
        few, many = (sandwich_samples(fit, covariance, rounds, seed=1) for rounds in (10, 50))
        assert many[:10] == pytest.approx(few, abs=1e-9)
        assert not np.array_equal(few, sandwich_samples(fit, covariance, 10, seed=2))
        games = make_games(
            [0, 1, 2, 0] * 2, [1, 2, 0, 2] * 2, [1, 1, 1, 0.5, 0, 1, 0, 1], 3, cluster=[0] * 4 + [1] * 4
        )
        fit = bradley_terry(games)
        samples = sandwich_samples(fit, sandwich(games, fit).covariance, 30)
        assert np.linalg.matrix_rank(samples - fit.rating, tol=1e-6) == 1
