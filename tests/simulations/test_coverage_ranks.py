"""Whether ranks, groups and probabilities hold what they say, by simulation."""

from itertools import pairwise

import numpy as np
import pytest

from leaderboard.stats.bradley_terry import bootstrap_bradley_terry, bradley_terry
from leaderboard.stats.intervals import central_interval
from leaderboard.stats.sandwich import sandwich
from leaderboard.stats.separation import (
    difference_errors,
    probability_above,
    rank_interval,
    rank_upper_bound,
    told_apart,
)
from tests.leaderboard.stats.simulation import simulated_games

STUDIES = 400
PROMPTS = 100
ROUNDS = 300
TOGETHER = np.zeros(6, dtype=int)

TRUTHS = {
    "all equal": (1000.0,) * 6,
    "three pairs of equals, 40 apart": (1040.0, 1040.0, 1000.0, 1000.0, 960.0, 960.0),
    "15 apart": tuple(np.linspace(1037.5, 962.5, 6)),
    "60 apart": tuple(np.linspace(1150.0, 850.0, 6)),
}


def studied(ratings, prompts, seed):
    return simulated_games(prompts, ratings, seed=seed, clustered=True)


def bootstrap(ratings, prompts, seed):
    games = studied(ratings, prompts, seed)
    found = bootstrap_bradley_terry(
        games.a, games.b, games.score, len(ratings), rounds=ROUNDS, cluster=games.cluster, seed=seed
    )
    return found.samples


def percentiles_of_ranks(samples):
    """The obvious interval, for comparison: percentiles of the rank in each round."""
    rank = 1 + (samples[:, None, :] > samples[:, :, None]).sum(axis=2)
    low, high = np.percentile(rank, (2.5, 97.5), axis=0)
    return np.floor(low), np.ceil(high)


@pytest.mark.parametrize("name", TRUTHS)
def test_ranks(name):
    truth = np.array(TRUTHS[name])
    best = 1 + (truth[None, :] > truth[:, None]).sum(axis=1)
    worst = len(truth) - (truth[None, :] < truth[:, None]).sum(axis=1)
    upper, interval, obvious, width, apart = [], [], [], [], []
    for seed in range(STUDIES):
        samples = bootstrap(TRUTHS[name], PROMPTS, seed)
        upper.append(rank_upper_bound(*central_interval(samples, 95), TOGETHER) <= best)
        low, high = rank_interval(samples, 95, TOGETHER)
        interval.append((low <= best) & (worst <= high))
        width.append(high - low + 1)
        low, high = percentiles_of_ranks(samples)
        obvious.append((low <= best) & (worst <= high))
        games = studied(TRUTHS[name], PROMPTS, seed)
        fit = bradley_terry(games)
        found = sandwich(games, fit)
        error = difference_errors(found.covariance, found.pull)
        apart.append(told_apart(fit.rating, error, games.units, 95, TOGETHER))
    pairs = np.triu_indices(len(truth), 1)
    equal = (truth[:, None] == truth[None, :])[pairs]
    told = np.mean(apart, axis=0)[pairs]
    errors = f"{100 * told[equal].mean():5.1f} %" if equal.any() else "      -"
    others = f"{100 * told[~equal].mean():5.1f} %" if (~equal).any() else "      -"
    print(
        f"\n{name}: rank_ub holds {100 * np.mean(upper):.1f} %, rank interval "
        f"{100 * np.mean(interval):.1f} % (mean width {np.mean(width):.2f}), "
        f"percentiles of ranks {100 * np.mean(obvious):.1f} %; equals told apart {errors}, others {others}"
    )
    assert np.mean(upper) > 0.95
    assert np.mean(interval) > 0.9
    assert not equal.any() or 0.02 < told[equal].mean() < 0.09


@pytest.mark.parametrize("spread", [200.0, 50.0])
def test_probability_of_being_above(spread):
    generator = np.random.default_rng(int(spread))
    said, true = [], []
    for seed in range(400):
        truth = tuple(generator.normal(1000.0, spread, 6))
        share = probability_above(bootstrap(truth, 60, seed), TOGETHER)
        for first, second in zip(*np.triu_indices(6, 1), strict=True):
            likelier = share[first, second] >= 0.5
            said.append(max(share[first, second], share[second, first]))
            true.append((truth[first] > truth[second]) == likelier)
    print(f"\nTrue ratings with a spread of {spread:g} points, 60 prompts:")
    edges = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.01)
    numbers, right = np.array(said), np.array(true)
    for low, high in pairwise(edges):
        own = (low <= numbers) & (numbers < high)
        print(
            f"  said {low:.2f}-{min(high, 1):.2f}: {own.sum():5d} pairs, said {numbers[own].mean():.3f}, ",
            end="",
        )
        print(f"true {right[own].mean():.3f}")
    gap = numbers.mean() - right.mean()
    assert abs(gap) < 0.04
