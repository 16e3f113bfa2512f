"""Which pair and which presentation order a rater gets next. Pure: numbers in, a choice out."""

import random
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations

PairKey = tuple[int, int]
"""Two completion ids, the smaller one first."""

BIASED_COIN = 2 / 3
"""Probability of the order that restores balance (Efron 1971, "Forcing a sequential experiment...")."""


@dataclass(frozen=True)
class PromptLoad:
    """How full one prompt is.

    completions: how many completions can be paired; taken: ratings given plus live claims on its pairs;
    seen: how many of its pairs this rater has already been offered.
    """

    completions: int
    taken: int
    seen: int

    @property
    def pairs(self) -> int:
        return self.completions * (self.completions - 1) // 2


def order_prompts(loads: Mapping[int, PromptLoad], rng: random.Random) -> list[int]:
    """Prompt ids to try, the least rated per pair first, in random order among equals.

    Prompts of which this rater has seen every pair are left out.
    """
    open_prompts = [prompt for prompt, load in loads.items() if load.seen < load.pairs]
    rng.shuffle(open_prompts)
    return sorted(open_prompts, key=lambda prompt: loads[prompt].taken / loads[prompt].pairs)


def choose_pair(
    completions: Sequence[int],
    load: Mapping[PairKey, int],
    seen: Set[PairKey],
    wanted: int,
    rng: random.Random,
) -> PairKey | None:
    """The pair of one prompt to offer, or None when nothing is left for this rater.

    Least-rated pairs first; among those, the pair whose completions have been rated least; then at random.
    ``load`` counts ratings and live claims by pair, absent meaning none; pairs that have ``wanted`` of them
    are full.
    """
    by_completion = dict.fromkeys(completions, 0)
    for (first, second), count in load.items():
        if first in by_completion and second in by_completion:
            by_completion[first] += count
            by_completion[second] += count
    free = [
        pair
        for pair in combinations(sorted(completions), 2)
        if pair not in seen and load.get(pair, 0) < wanted
    ]
    if not free:
        return None
    return min(
        free,
        key=lambda pair: (load.get(pair, 0), by_completion[pair[0]] + by_completion[pair[1]], rng.random()),
    )


def choose_order(seed: int, *, pair_imbalance: int, rater_imbalance: int) -> bool:
    """Whether to show the pair swapped, drawn from ``seed`` alone and the counts so far.

    pair_imbalance: times this pair was shown straight minus times swapped; where they differ, the rarer
    order is taken. rater_imbalance: the same over all pairs of this rater; it biases the coin towards the
    rarer order without making it predictable.
    """
    if pair_imbalance:
        return pair_imbalance > 0
    swapped_probability = 0.5
    if rater_imbalance:
        swapped_probability = BIASED_COIN if rater_imbalance > 0 else 1 - BIASED_COIN
    return random.Random(seed).random() < swapped_probability  # noqa: S311
