"""How often tests of two equal raters find a difference, where the pairs of a prompt are alike.

A rater is right about a pair with a chance whose log-odds vary between prompts, for each rater by itself.
"""

from typing import Final

import numpy as np
import pytest
from scipy.special import expit

from leaderboard.stats.alternative_annotator import EPSILON, alternative_annotator
from leaderboard.stats.gold import Judged
from leaderboard.stats.gold_averages import accuracies, difference
from leaderboard.stats.p_values import mcnemar
from leaderboard.stats.sides import NOT_ASKED

STUDIES: Final = 1000
PROMPTS: Final = 60
LEVEL: Final = 0.05


def two_judges(rng, pairs, effect, middle=1.0):
    """Right (1) or wrong (0) of both (2, prompts, pairs)."""
    chance = expit(middle + effect * rng.normal(size=(2, PROMPTS, 1)))
    return (rng.random((2, PROMPTS, pairs)) < chance).astype(int)


def found_apart(rng, pairs, effect):
    """Whether McNemar's exact test by prompt and the interval of accuracy tell two equal judges apart."""
    right = two_judges(rng, pairs, effect)
    prompt = np.repeat(np.arange(PROMPTS), pairs)
    gold, gap = np.ones(len(prompt), dtype=int), np.full(len(prompt), NOT_ASKED)
    judges = [[Judged(gold, np.stack([2 * own.ravel() - 1, gap]), prompt=prompt)] for own in right]
    apart = difference(*accuracies(judges, 200, int(rng.integers(1 << 30))), *judges, 95)
    assert apart.mcnemar == mcnemar((right[0] - right[1]).sum(axis=1))
    return apart.mcnemar < LEVEL, apart.low is not None and not apart.low <= 0 <= apart.high


def in_place_of_a_person(rng, pairs, effect, differs=0.5):
    """Whether the judge is found to do well enough where it loses by exactly EPSILON.

    Two of three people always say 0; of the third and the judge one says 1 on half of the pairs.
    """
    lows, highs = -5.0, 5.0
    draws = effect * rng.normal(size=(PROMPTS, 1))
    for _ in range(40):
        middle = (lows + highs) / 2
        mean = differs * (2 * expit(middle + effect * NORMAL).mean() - 1)
        lows, highs = (middle, highs) if mean < EPSILON else (lows, middle)
    unlike = rng.random((PROMPTS, pairs)) < differs
    loses = rng.random((PROMPTS, pairs)) < expit(middle + draws)
    judge, third = (unlike & loses).ravel().astype(int), (unlike & ~loses).ravel().astype(int)
    n = len(judge)
    labels = np.concatenate([third, np.zeros(2 * n, dtype=int)])
    prompt = np.repeat(np.arange(PROMPTS), pairs)
    found = alternative_annotator(
        np.tile(np.arange(n), 3), np.repeat([1, 2, 3], n), labels, judge, prompt=prompt
    )
    return found.people[0].p < LEVEL


NORMAL: Final = np.random.default_rng(0).normal(size=20_000)


@pytest.mark.parametrize("pairs", [1, 6, 10])
@pytest.mark.parametrize("effect", [0.0, 1.0, 2.0])
def test_errors(pairs, effect):
    rng = np.random.default_rng([pairs, int(effect)])
    exact, interval = np.mean([found_apart(rng, pairs, effect) for _ in range(STUDIES)], axis=0)
    stand_in = np.mean([in_place_of_a_person(rng, pairs, effect) for _ in range(STUDIES)])
    print(
        f"\n{pairs} pairs of a prompt, effect {effect:g}: McNemar by prompt {100 * exact:.1f} %, "
        f"interval {100 * interval:.1f} %, alternative annotator {100 * stand_in:.1f} %"
    )
    # The exact test of a single pair for each prompt is McNemar's, which is cautious.
    assert (0.01 if pairs == 1 else 0.03) < exact < 0.07
    assert 0.03 < interval < 0.07
    assert 0.03 < stand_in < 0.07
