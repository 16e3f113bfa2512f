import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.stats import bootstrap_bradley_terry, bootstrap_ordinal, make_ratings, ordinal
from leaderboard.stats.checks import NoGamesError, ParameterError
from leaderboard.stats.ordinal import fit_everything, fit_rounds
from leaderboard.stats.ordinal_table import make_table
from leaderboard.stats.resampling import cluster_draws
from tests.leaderboard.stats.ordinal_studies import Setting, coverage, simulated_ratings, small_ratings
from tests.leaderboard.stats.strategies import CONTESTANTS


def taken(ratings, rows):
    """The ratings in ``rows``, some perhaps more than once."""
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


class TestReferences:
    @pytest.mark.parametrize("resample", ["prompts", "raters"])
    def test_a_round_is_a_fit_of_what_it_drew(self, resample):
        ratings = simulated_ratings(40, effect=0.4, raters=3, seed=1)
        unit = ratings.unit(resample)
        found = bootstrap_ordinal(ratings, resample=resample, rounds=20, seed=5)
        for number, drawn in enumerate(cluster_draws(5, np.arange(20), unit.max() + 1)):
            rows = np.concatenate([np.flatnonzero(unit == one) for one in drawn])
            fit = ordinal(taken(ratings, rows))
            assert found.samples[number] == pytest.approx(fit.rating, abs=1e-6)
            assert found.others["position"][number] == pytest.approx(fit.position, abs=1e-8)

    def test_so_it_is_with_covariates(self):
        ratings = simulated_ratings(30, effect=0.4, seed=2)
        found = bootstrap_ordinal(ratings, rounds=10, adjust=["length"])
        sd = ordinal(ratings, adjust=["length"]).effects["length"].sd
        for number, drawn in enumerate(cluster_draws(0, np.arange(10), 30)):
            rows = np.concatenate([np.flatnonzero(ratings.prompt == one) for one in drawn])
            fit = ordinal(taken(ratings, rows), adjust=["length"])
            assert found.samples[number] == pytest.approx(fit.rating, abs=1e-6)
            effect = fit.effects["length"]
            assert found.effects["length"][number] / sd == pytest.approx(
                effect.log_odds / effect.sd, abs=1e-8
            )

    @pytest.mark.parametrize("prompts", [3, 8, 60])
    def test_two_points_without_position_is_bootstrapped_bradley_terry(self, prompts):
        # Few prompts bring rounds that need the prior, and rounds that fall apart.
        ratings = simulated_ratings(prompts, points=2, seed=3)
        games = ratings.games(ties=True, resample="prompts")
        expected = bootstrap_bradley_terry(
            games.a, games.b, games.score, 4, rounds=150, cluster=games.cluster
        )
        found = bootstrap_ordinal(ratings, rounds=150, position=False)
        assert found.samples == pytest.approx(expected.samples, abs=1e-5)
        assert found.prior_rounds == expected.prior_rounds

    def test_so_it_is_where_rounds_lose_a_contestant(self):
        # Contestants 2 and 3 meet the others on few of 12 prompts.
        ratings = simulated_ratings(12, points=2, theta=(0.2, 0.1, 0, -0.1), raters=20, seed=11)
        rows = np.flatnonzero((np.maximum(ratings.first, ratings.second) < 2) | (ratings.prompt < 3))
        ratings = taken(ratings, rows)
        games = ratings.games(ties=True, resample="prompts")
        expected = bootstrap_bradley_terry(
            games.a, games.b, games.score, 4, rounds=150, cluster=games.cluster
        )
        found = bootstrap_ordinal(ratings, rounds=150, position=False)
        assert 0 < found.prior_rounds < 30
        assert found.prior_rounds == expected.prior_rounds
        assert found.samples == pytest.approx(expected.samples, abs=1e-5)

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
        place, prior = fit_rounds(fit, np.repeat(fit.model.table.count[:, None], 3, axis=1), np.ones((2, 3)))
        assert place == pytest.approx(np.repeat(fit.place, 3, axis=1), abs=1e-9)
        assert not prior.any()

    def test_threads_and_blocks_change_nothing(self):
        ratings = simulated_ratings(30, raters=2, seed=6)
        one = bootstrap_ordinal(ratings, rounds=200, threads=1, adjust=["length"])
        two = bootstrap_ordinal(ratings, rounds=200, threads=2, adjust=["length"])
        fewer = bootstrap_ordinal(ratings, rounds=130, adjust=["length"])
        assert np.array_equal(one.samples, two.samples)
        assert one.samples[:130] == pytest.approx(fewer.samples, abs=1e-6)

    def test_seeds(self):
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

    @settings(max_examples=40, deadline=None)
    @given(small_ratings(), st.integers(0, 3))
    def test_any_ratings(self, ratings, seed):
        found = bootstrap_ordinal(ratings, rounds=20, seed=seed, position=False)
        assert found.samples.shape == (20, CONTESTANTS)
        assert np.isfinite(found.samples).all()
        for number in np.unique(found.component):
            means = found.samples[:, found.component == number].mean(axis=1)
            assert means == pytest.approx(np.full(20, 1000.0), abs=1e-6)


class TestInput:
    def test_what_made_the_samples(self):
        ratings = simulated_ratings(10, raters=2)
        found = bootstrap_ordinal(ratings, rounds=5, seed=9, adjust=["length"], resample="raters")
        assert (found.rounds, found.seed, found.clusters, list(found.effects)) == (5, 9, 2, ["length"])
        assert found.effects["length"].shape == (5,)

    def test_no_ratings(self):
        with pytest.raises(NoGamesError):
            bootstrap_ordinal(make_ratings([], [], [], 8, 3), resample="games")

    @pytest.mark.parametrize("options", [{"rounds": 0}, {"threads": 0}, {"seed": -1}, {"resample": "pairs"}])
    def test_numbers_nothing_can_run_with(self, options):
        with pytest.raises(ParameterError):
            bootstrap_ordinal(simulated_ratings(5), **options)


class TestCoverage:
    def test_95_percent_intervals_of_60_prompts(self):
        # The whole simulation: tests/benchmarks/test_coverage_ordinal.py.
        bootstrap, errors = coverage(Setting("quick", studied={"prompts": 60}), studies=80, rounds=100)
        assert ((bootstrap > 0.87) & (bootstrap < 0.99)).all()
        assert ((errors > 0.89) & (errors < 0.99)).all()
