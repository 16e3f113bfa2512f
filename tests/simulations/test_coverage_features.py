"""How often intervals of what features are worth hold the truth, by simulation.

Seeds are fixed, so the numbers are the same every time (to the rounding of another machine). The truth is
what 40,000 prompts say.
"""

from functools import cache

import numpy as np
import pytest

from leaderboard.stats.feature_worth import COEFFICIENTS, feature_correlation, pair_accuracy

STUDIES = 400
LARGE = 40_000
ANSWERS = 4  # to a prompt
GOES_WITH = (0.0, 0.5)  # how much of a feature is quality


def simulated(prompts, seed, share):
    """Feature, quality on 8 points and length of four answers to each prompt; prompts shift all three."""
    rng = np.random.default_rng(seed)
    prompt = np.repeat(np.arange(prompts), ANSWERS)
    shift = rng.normal(0.0, 0.7, (3, prompts))[:, prompt]
    quality = rng.normal(size=len(prompt)) + shift[0]
    feature = share * quality + rng.normal(size=len(prompt)) + shift[1] + 0.3 * shift[0]
    length = 0.3 * quality + rng.normal(size=len(prompt)) + shift[2]
    return feature, np.clip(np.rint(4.5 + 2 * quality), 1, 8), length, prompt


def measured(prompts, seed, share):
    feature, quality, length, prompt = simulated(prompts, seed, share)
    first, second = (np.arange(len(prompt)).reshape(-1, 2)[:, side] for side in (0, 1))
    worth = pair_accuracy(*(each[first] - each[second] for each in (feature, length, quality)), prompt[first])
    found = {"picks the better": worth.feature, "ahead of length": worth.ahead}
    intervals = {name: (each.value, each.low, each.high) for name, each in found.items()}
    together = np.zeros(len(prompt)) if prompts == LARGE else prompt  # no interval is needed of the truth
    correlation = feature_correlation(feature, quality, together)
    return intervals | {name: getattr(correlation, name) for name in COEFFICIENTS}


@cache
def truth(share):
    return {name: value for name, (value, _, _) in measured(LARGE, 0, share).items()}


@pytest.mark.parametrize("prompts", [10, 20, 60, 250])
@pytest.mark.parametrize("share", GOES_WITH)
def test_coverage(prompts, share):
    within = dict.fromkeys(truth(share), 0)
    studies = STUDIES if prompts < 250 else STUDIES // 4
    for seed in range(1, studies + 1):
        for name, (_, low, high) in measured(prompts, seed, share).items():
            within[name] += low is not None and low <= truth(share)[name] <= high
    shares = {name: f"{count / studies:.1%}" for name, count in within.items()}
    print(f"\n{prompts} prompts, share of quality {share}, {studies} studies: {shares}")
    assert all(0.9 < count / studies <= 0.99 for count in within.values())
