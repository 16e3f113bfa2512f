from math import comb

import numpy as np
from scipy.stats import chisquare

from leaderboard.stats.bootstrap import weights_of_rounds
from leaderboard.stats.pair_table import Outcomes

ROUNDS = np.arange(20_000)


def weights(counts, rounds=ROUNDS, seed=0):
    """How often each outcome is drawn, of games with so many of each in a mixed order."""
    number = np.arange(len(counts))
    of_game = np.random.default_rng(5).permutation(np.repeat(number, counts))
    return weights_of_rounds(Outcomes(number, number, number / 2, of_game), None, seed)(rounds)


def test_four_games_of_two_outcomes_are_a_binomial_draw():
    drawn = weights([1, 3])[0].astype(int)
    expected = [comb(4, k) * 0.25**k * 0.75 ** (4 - k) * len(ROUNDS) for k in range(5)]
    assert chisquare(np.bincount(drawn, minlength=5), expected).pvalue > 1e-4


def test_pairs_of_outcomes_vary_together_as_in_a_multinomial_draw():
    counts = np.array([40, 5, 1, 70, 130, 9, 1, 64])
    drawn = weights(counts, seed=3)
    games = counts.sum()
    expected = np.diag(counts) - np.outer(counts, counts) / games
    error = np.sqrt(np.outer(counts, counts) / len(ROUNDS))
    assert (np.abs(drawn.mean(axis=1) - counts) < 4.5 * np.sqrt(counts / len(ROUNDS))).all()
    assert (np.abs(np.cov(drawn) - expected) < 7 * error).all()


def test_every_round_has_all_games_whatever_its_block():
    for counts in ([1], [2, 1], [3] * 40, [1600, 64, 1, 512]):
        assert (weights(counts, np.arange(100)).sum(axis=0) == sum(counts)).all()
    counts = [30, 2, 9, 200, 41]
    together = weights(counts, np.arange(294))
    alone = [weights(counts, np.arange(start, start + 7)) for start in range(0, 294, 7)]
    assert np.array_equal(np.concatenate(alone, axis=1), together)
    assert not np.array_equal(weights(counts, np.arange(9), seed=1), together[:, :9])
