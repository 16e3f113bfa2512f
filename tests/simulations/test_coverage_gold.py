"""How often intervals of a judge's averaged accuracy, and of its lead over another, hold the truth."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import spearmanr

from leaderboard.stats.gold import Judged, intervals
from leaderboard.stats.gold_averages import accuracies
from leaderboard.stats.gold_matrix import rank_correlation
from tests.leaderboard.stats.test_gold_averages import coverage

STUDIES = 1000
PROMPTS = 60


@pytest.mark.parametrize("sizes", [(30,), (100,), (46, 92), (100, 134, 92, 47, 46)])
@pytest.mark.parametrize("chance", [0.6, 0.8, 0.9, 0.95])
def test_gold(sizes, chance):
    mean, lead = coverage(STUDIES, sizes, chance)
    print(f"\n{sizes} instances, accuracy {chance}: held {100 * mean:.1f} %, lead of 0.1 {100 * lead:.1f} %")
    assert mean > 0.93
    assert lead > 0.91


def of_prompts(rng, prompts, pairs, effect):
    """A judge in both orders whose chance of the right answer varies between prompts."""
    chance = expit(1.0 + effect * rng.normal(size=(prompts, 1)))
    right = rng.random((2, prompts, pairs)) < chance
    gold = rng.choice([1, -1], (prompts, pairs))
    said = np.where(right, gold, -gold).reshape(2, -1)
    return Judged(gold.ravel(), said, prompt=np.repeat(np.arange(prompts), pairs))


@pytest.mark.parametrize("pairs", [1, 6, 10])
@pytest.mark.parametrize("effect", [0.0, 1.0, 2.0])
def test_gold_of_prompts_with_many_pairs(pairs, effect):
    """The truth is what 20,000 prompts would show."""
    endless = of_prompts(np.random.default_rng(0), 20_000, pairs, effect).figures()
    held = dict.fromkeys(("accuracy", "agreement", "both_right", "alpha", "kappa"), 0)
    for seed in range(STUDIES):
        own = of_prompts(np.random.default_rng([seed, pairs]), PROMPTS, pairs, effect)
        found = intervals([own], 95) | {"accuracy": accuracies([[own]], 200, seed)[0].mean([0], 95)}
        for name in held:
            held[name] += found[name].low <= getattr(endless, name) <= found[name].high
    shown = ", ".join(f"{name} {100 * times / STUDIES:.1f} %" for name, times in held.items())
    print(f"\n{pairs} pairs of each of {PROMPTS} prompts, effect {effect:g}: {shown}")
    assert min(held.values()) > 0.92 * STUDIES


def ranked(rng, judges, prompts, alike):
    """Whether the interval of Spearman over judges, of two subsets, holds the truth."""
    one, other = rng.normal(0.0, 0.7, (2, judges, 1))
    skill = one, alike * one + np.sqrt(1.0 - alike**2) * other
    right = [rng.random((judges, prompts)) < expit(1.0 + own + rng.normal(size=prompts)) for own in skill]
    drawn = [own @ rng.multinomial(prompts, np.ones(prompts) / prompts, 300).T / prompts for own in right]
    found = rank_correlation("judges", "one", "other", *(own.mean(axis=1) for own in right), *drawn)
    truth = spearmanr(*(own.ravel() for own in skill)).statistic
    value, low, high = found.spearman
    return value is not None and low - 1e-9 <= truth <= high + 1e-9


@pytest.mark.parametrize("judges", [4, 10, 24])
@pytest.mark.parametrize("prompts", [30, 100, 300])
@pytest.mark.parametrize("alike", [0.3, 0.8])
def test_rank_correlations_of_judges(judges, prompts, alike):
    rng = np.random.default_rng([judges, prompts])
    held = np.mean([ranked(rng, judges, prompts, alike) for _ in range(150)])
    print(f"\n{judges} judges on {prompts} prompts, skills correlate at {alike}: held {100 * held:.0f} %")
    assert held > (0.75 if prompts == 30 else 0.88)
