"""Resampling prompts and raters at once: the pigeonhole bootstrap (Owen 2007), for every method."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.stats.bootstrap import weights_of_rounds
from leaderboard.stats.bradley_terry import bootstrap_bradley_terry, bradley_terry
from leaderboard.stats.davidson import bootstrap_davidson, davidson
from leaderboard.stats.elo import sequential_elo
from leaderboard.stats.elo_bootstrap import _pools, bootstrap_elo
from leaderboard.stats.games import make_games
from leaderboard.stats.ordinal import bootstrap_ordinal, ordinal
from leaderboard.stats.pair_table import Outcomes
from leaderboard.stats.ratings import make_ratings
from leaderboard.stats.resampling import CROSSED_DRAWS, times_drawn
from leaderboard.stats.sandwich import sandwich
from tests.leaderboard.stats.ordinal_studies import simulated_ratings
from tests.leaderboard.stats.rated_studies import Design, simulate

BOOTSTRAPS = (bootstrap_elo, bootstrap_bradley_terry, bootstrap_davidson)
TASTES = Design(12, 6, 6, 150.0, 100.0)


def crossed_study(design=TASTES, seed=0):
    games, prompt, rater = simulate(design, seed)
    return replace(games, cluster=prompt, crossed=rater)


def drawn_games(games, seed, number):
    """The games of a round by the definition, one by one: each as often as its prompt times its rater."""
    prompts = times_drawn(seed, np.array([number]), games.clusters)[0]
    raters = times_drawn(seed, np.array([number]), games.crossed_clusters, CROSSED_DRAWS)[0]
    return np.repeat(np.arange(len(games)), prompts[games.cluster] * raters[games.crossed])


def units(games):
    return {"cluster": games.cluster, "crossed": games.crossed}


class TestByHand:
    def test_two_prompts_and_two_raters(self):
        """B wins only where the second rater rates the second prompt.

        Each is drawn 0, 1 or 2 times with chances 1/4, 1/2 and 1/4, so B wins k of the four games of a round
        with k = 0 in 7/16, 1 in 4/16, 2 in 4/16 and 4 in 1/16 of them.
        """
        cells = {"cluster": [0, 0, 1, 1], "crossed": [0, 1, 0, 1]}
        rounds = 16_000
        found = bootstrap_bradley_terry([0] * 4, [1] * 4, [1, 1, 1, 0], 2, rounds=rounds, **cells)
        values, often = np.unique(np.round(found.samples[:, 0], 2), return_counts=True)
        always = bradley_terry(make_games([0] * 4, [1] * 4, [1] * 4, 2)).rating[0]
        assert values.tolist() == np.round([2000 - always, 1000.0, 1095.42, always], 2).tolist()
        share = np.array([1, 4, 4, 7]) / 16
        assert np.abs(often / rounds - share).max() < 4 * (0.25 / rounds) ** 0.5

    def test_one_game_in_each_cell_and_raters_of_one_prompt(self):
        """A wins all four games, and every round has four: each ends at what four wins in a row give."""
        cells = {"cluster": [0, 0, 1, 1], "crossed": [0, 1, 0, 1]}
        found = bootstrap_elo([0] * 4, [1] * 4, [1] * 4, 2, rounds=50, **cells)
        assert found.samples == pytest.approx(
            np.tile(sequential_elo([0] * 4, [1] * 4, [1] * 4, 2), (50, 1)), abs=1e-9
        )
        # One game in a cell of its own: it counts prompt times rater, 0 in 7/16 of the rounds, up to 4.
        games = make_games([0, 0], [1, 1], [1, 0], 2, cluster=[0, 1], crossed=[0, 1])
        weights = weights_of_rounds(games.outcomes, games.cluster, 3, games.crossed)
        drawn = np.concatenate(
            [weights(np.arange(first, first + 64)) for first in range(0, 6400, 64)], axis=1
        )
        often = np.bincount(drawn[0].astype(int), minlength=5) / drawn.shape[1]
        assert often == pytest.approx([7 / 16, 4 / 16, 4 / 16, 0, 1 / 16], abs=0.025)


class TestReferences:
    def test_weights_are_products_of_draws(self):
        games = crossed_study(Design(12, 6, 3))
        outcomes = games.outcomes
        found = weights_of_rounds(outcomes, games.cluster, 8, games.crossed)(np.arange(30))
        for number in range(30):
            drawn = outcomes.of_game[drawn_games(games, 8, number)]
            assert found[:, number].tolist() == np.bincount(drawn, minlength=len(outcomes)).tolist()

    @pytest.mark.parametrize("on_prompt", [1, 3, 6])
    def test_elo_plays_what_was_drawn_in_shuffled_order(self, on_prompt):
        games = crossed_study(Design(12, 6, on_prompt, 150.0, 100.0))
        found = bootstrap_elo(games.a, games.b, games.score, 4, rounds=8, seed=42, **units(games))
        assert (found.clusters, found.crossed_clusters) == (12, 6)
        single = replace(games)
        single.__dict__["outcomes"] = Outcomes(games.a, games.b, games.score, np.arange(len(games)))
        for number, pool in enumerate(_pools(single, games.cluster, len(games), 42, np.arange(8))):
            assert sorted(pool) == drawn_games(games, 42, number).tolist()
            expected = sequential_elo(games.a[pool], games.b[pool], games.score[pool], 4)
            assert found.samples[number] == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize(
        ("fit", "bootstrap"), [(bradley_terry, bootstrap_bradley_terry), (davidson, bootstrap_davidson)]
    )
    def test_a_round_is_a_fit_of_what_it_drew(self, fit, bootstrap):
        games = crossed_study()
        found = bootstrap(games.a, games.b, games.score, 4, rounds=20, seed=5, **units(games))
        assert (found.clusters, found.crossed_clusters) == (12, 6)
        for number in range(20):
            rows = drawn_games(games, 5, number)
            expected = fit(make_games(games.a[rows], games.b[rows], games.score[rows], 4)).rating
            assert found.samples[number] == pytest.approx(expected, abs=1e-5)

    def test_so_it_is_with_the_ordinal_model(self):
        ratings = simulated_ratings(30, effect=0.4, raters=4, seed=1)
        games = ratings.games(ties=True, resample="prompts-and-raters")
        found = bootstrap_ordinal(ratings, resample="prompts-and-raters", rounds=10, seed=5)
        assert (found.clusters, found.crossed_clusters) == (30, 4)
        columns = (ratings.first, ratings.second, ratings.rating, ratings.points)
        for number in range(10):
            rows = drawn_games(games, 5, number)
            fit = ordinal(make_ratings(*(column[rows] for column in columns), 4))
            assert found.samples[number] == pytest.approx(fit.rating, abs=1e-6)
            assert found.others["position"][number] == pytest.approx(fit.position, abs=1e-8)

    def test_it_is_as_wide_as_the_sandwich_over_both(self):
        games = crossed_study(Design(60, 20, 20, 150.0, 100.0))
        for fit, bootstrap in ((bradley_terry, bootstrap_bradley_terry), (davidson, bootstrap_davidson)):
            spread = bootstrap(games.a, games.b, games.score, 4, rounds=800, **units(games)).samples.std(
                axis=0
            )
            assert sandwich(games, fit(games)).standard_error == pytest.approx(spread, rel=0.12)

    def test_the_ordinal_sandwich_on_two_points_is_that_of_bradley_terry(self):
        ratings = simulated_ratings(40, points=2, raters=8, lean_sd=0.5, seed=3)
        games = ratings.games(ties=True, resample="prompts-and-raters")
        expected = sandwich(games, bradley_terry(games))
        found = ordinal(ratings, position=False, resample="prompts-and-raters")
        assert found.rating_se == pytest.approx(expected.standard_error, abs=1e-6)
        assert found.units == expected.units == 8

    def test_position_among_raters_who_lean_is_as_uncertain_as_their_mean(self):
        ratings = simulated_ratings(40, raters=20, lean_sd=0.6, seed=10)
        both = "prompts-and-raters"
        fit = ordinal(ratings, raters=True, resample=both)
        assert fit.position_se == pytest.approx(
            ordinal(ratings, raters=True, resample="raters").position_se, rel=0.2
        )
        found = bootstrap_ordinal(ratings, raters=True, resample=both, rounds=200)
        assert found.others["position"].std() == pytest.approx(fit.position_se, rel=0.2)


class TestSpread:
    def test_moments_of_the_weights(self):
        """A cell counts once on average; how two go together is the product of the two multinomials' moments.

        Of n draws from n things, the mean product of how often two were drawn is 1 - 1/n, and 1 more where
        they are the same (Owen 2007, section 3).
        """
        prompts, raters, rounds = 4, 3, 20_000
        cell = np.arange(prompts * raters)
        cluster, crossed = cell // raters, cell % raters
        outcomes = Outcomes(cell, cell, cell / 2, cell.astype(np.uint16))
        draw = weights_of_rounds(outcomes, cluster, 1, crossed)
        weights = np.concatenate([draw(np.arange(at, at + 50)) for at in range(0, rounds, 50)], axis=1)
        assert weights.sum(axis=0).tolist() == [12.0] * rounds
        assert weights.mean(axis=1) == pytest.approx(np.ones(12), abs=0.05)
        same_prompt, same_rater = (one[:, None] == one[None, :] for one in (cluster, crossed))
        expected = (1 - 1 / prompts + same_prompt) * (1 - 1 / raters + same_rater)
        assert weights @ weights.T / rounds == pytest.approx(expected, abs=0.15)

    @pytest.mark.parametrize("bootstrap", BOOTSTRAPS)
    def test_one_rater_leaves_the_draws_of_prompts(self, bootstrap):
        games = crossed_study(Design(9, 1, 1, 150.0))
        arrays = (games.a, games.b, games.score, 4)
        both = bootstrap(*arrays, rounds=30, seed=2, **units(games)).samples
        assert both == pytest.approx(bootstrap(*arrays, rounds=30, seed=2, cluster=games.cluster).samples)


class TestInvariance:
    @settings(max_examples=15)
    @given(st.permutations(range(4)), st.randoms(use_true_random=False))
    def test_renamed_contestants_and_games_in_another_order(self, names, random):
        games = crossed_study(Design(6, 4, 4))
        order = list(range(len(games)))
        random.shuffle(order)
        renamed = np.array(names)
        expected = bootstrap_bradley_terry(games.a, games.b, games.score, 4, rounds=20, **units(games))
        found = bootstrap_bradley_terry(
            renamed[games.b[order]],
            renamed[games.a[order]],
            1 - games.score[order],
            4,
            rounds=20,
            cluster=games.cluster[order],
            crossed=games.crossed[order],
        )
        assert found.samples[:, renamed] == pytest.approx(expected.samples, abs=1e-6)

    @pytest.mark.parametrize("bootstrap", BOOTSTRAPS)
    def test_threads_more_rounds_and_labels_of_text_change_nothing(self, bootstrap):
        games = crossed_study()
        arrays = (games.a, games.b, games.score, 4)
        one = bootstrap(*arrays, rounds=150, threads=1, **units(games)).samples
        assert np.array_equal(bootstrap(*arrays, rounds=150, threads=3, **units(games)).samples, one)
        named = {name: np.array([f"{one:03}" for one in labels]) for name, labels in units(games).items()}
        assert bootstrap(*arrays, rounds=70, **named).samples == pytest.approx(one[:70], abs=1e-6)

    @pytest.mark.parametrize("bootstrap", BOOTSTRAPS)
    def test_rounds_in_which_no_drawn_rater_rated_a_drawn_prompt(self, bootstrap):
        """One game for each prompt and rater: in some rounds none is left, and nobody is above anybody."""
        games = make_games([0, 0], [1, 1], [1, 0], 2, cluster=[0, 1], crossed=[0, 1])
        found = bootstrap(games.a, games.b, games.score, 2, rounds=200, **units(games)).samples
        empty = [not len(drawn_games(games, 0, number)) for number in range(200)]
        assert 0 < sum(empty) < 100
        assert found[empty] == pytest.approx(np.full((sum(empty), 2), 1000.0))
