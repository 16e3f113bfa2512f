from math import comb

import numpy as np
import pytest
from scipy.stats import chisquare, poisson

from leaderboard.stats.outcome_weights import LARGEST_PART, AliasTables, OutcomeDraws
from leaderboard.stats.resampling import round_keys, words

ROUNDS = np.arange(20_000)


def make_draws(counts, seed=0):
    """Draws from games with so many of each outcome, in a mixed order."""
    of_game = np.random.default_rng(5).permutation(np.repeat(np.arange(len(counts)), counts))
    return OutcomeDraws(of_game.astype(np.uint16), len(counts), seed)


def draw_numbers(mean):
    """100,000 numbers from the second of two tables."""
    block = words(round_keys(1, np.arange(1000)), 0, 100)
    return AliasTables.of(np.array([3.0, mean])).draw(np.ones(100, dtype=np.int64), block).reshape(-1)


class TestAliasTables:
    @pytest.mark.parametrize("mean", [0.4, 1.0, 17.3, 63.5, 512.0])
    def test_numbers_are_as_likely_as_poisson_says(self, mean):
        drawn = draw_numbers(mean)
        edges = np.unique(poisson.ppf(np.linspace(0.05, 0.95, 12), mean)) + 0.5
        bounds = np.concatenate(([-1.0], edges, [np.inf]))
        expected = np.diff(poisson.cdf(bounds, mean)) * len(drawn)
        assert chisquare(np.histogram(drawn, bounds)[0], expected).pvalue > 1e-4

    def test_the_chances_in_a_table_are_exact(self):
        """Summed over the slots, without drawing anything."""
        tables = AliasTables.of(np.array([11.0]))
        own = tables.threshold / 2.0**48 / len(tables.threshold)
        size = tables.kept.max() + 1
        chance = np.bincount(tables.kept, own, size)
        chance += np.bincount(tables.other, 1 / len(tables.threshold) - own, size)
        assert chance == pytest.approx(poisson.pmf(np.arange(size), 11.0), abs=1e-13)
        assert not draw_numbers(0.0).any()


class TestOutcomeDraws:
    def test_four_games_of_two_outcomes_are_a_binomial_draw(self):
        drawn = make_draws([1, 3]).weights(ROUNDS)[0].astype(int)
        expected = [comb(4, k) * 0.25**k * 0.75 ** (4 - k) * len(ROUNDS) for k in range(5)]
        assert chisquare(np.bincount(drawn, minlength=5), expected).pvalue > 1e-4

    def test_pairs_of_outcomes_vary_together_as_in_a_multinomial_draw(self):
        counts = np.array([40, 5, 1, 70, 130, 9, 1, 64])
        drawn = make_draws(counts, seed=3).weights(ROUNDS)
        games = counts.sum()
        expected = np.diag(counts) - np.outer(counts, counts) / games
        error = np.sqrt(np.outer(counts, counts) / len(ROUNDS))
        assert (np.abs(drawn.mean(axis=1) - counts) < 4.5 * np.sqrt(counts / len(ROUNDS))).all()
        assert (np.abs(np.cov(drawn) - expected) < 7 * error).all()

    def test_every_round_has_all_games_whatever_its_block(self):
        for counts in ([1], [2, 1], [3] * 40, [LARGEST_PART * 3 + 70, 64, 1, LARGEST_PART]):
            weights = make_draws(counts).weights(np.arange(500))
            assert (weights.sum(axis=0) == sum(counts)).all()
            assert (weights >= 0).all()
        draws = make_draws([30, 2, 9, 200, 41])
        together = draws.weights(np.arange(300))
        alone = [draws.weights(np.arange(start, start + 7)) for start in range(0, 294, 7)]
        assert np.array_equal(np.concatenate(alone, axis=1), together[:, :294])
        first, second = (make_draws([30, 2, 9], seed).weights(np.arange(9)) for seed in (0, 1))
        assert not np.array_equal(first, second)

    def test_outcomes_drawn_in_parts_vary_as_they_should(self):
        counts = [LARGEST_PART * 2 + 100, LARGEST_PART + 1, 3]
        drawn = make_draws(counts).weights(np.arange(4000))
        games = sum(counts)
        variance = [c * (1 - c / games) for c in counts]
        assert drawn.mean(axis=1) == pytest.approx(counts, rel=0.05)
        assert drawn.var(axis=1) == pytest.approx(variance, rel=0.12)
