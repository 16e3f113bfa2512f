"""How likely each pair of models is drawn for a battle. Pure.

A pair says the more, the closer its models and the less is known of them: the variance of the difference of
two strengths falls with the battles of each, and an outcome says most where it is least sure (Chaloner and
Verdinelli, Bayesian experimental design, 1995). Both are held within bounds, so that every pair keeps being
drawn: so the balance that docs/live.md states does not depend on how strong models are.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, TypeVar

MOST_AHEAD: Final = 3.0  # a model or pair that is little known counts at most so many times one that is known
LEAST_CLOSENESS: Final = 0.4  # of models far apart, beside 1 of models that win as often
WARMING_SHARE: Final = 0.5  # of the pairs that are not drawn at random, while models warm up
PRIOR: Final = 2.0  # battles, half of them won, that each model has beside its own

Key = TypeVar("Key")
Pair = tuple[int, int]
"""The ids of two models, the smaller one first."""


@dataclass(frozen=True)
class Tallies:
    """What is known of models by their ids: battles, and the sum of their scores from 0 to 1."""

    battles: Mapping[int, int] = field(default_factory=dict)
    rated: Mapping[int, int] = field(default_factory=dict)
    won: Mapping[int, float] = field(default_factory=dict)
    together: Mapping[Pair, int] = field(default_factory=dict)


def pair_of(one: int, other: int) -> Pair:
    return min(one, other), max(one, other)


def pair_weights(
    models: Collection[int], known: Tallies, *, random_share: float, warm_up: int
) -> dict[Pair, float]:
    """Return the probability of each pair of these models, the random share included."""
    chosen = chosen_weights(models, known, warm_up)
    even = random_share / len(chosen) if chosen else 0.0
    return {pair: even + (1 - random_share) * weight for pair, weight in chosen.items()}


def chosen_weights(models: Collection[int], known: Tallies, warm_up: int) -> dict[Pair, float]:
    """Return the probability of each pair where none is drawn at random."""
    worth = _worth(models, known)
    warming = {model for model in models if known.battles.get(model, 0) < warm_up}
    if not warming:
        return _scaled(worth)
    with_new = _scaled({pair: weight for pair, weight in worth.items() if warming & set(pair)})
    others = _scaled({pair: weight for pair, weight in worth.items() if pair not in with_new})
    share = WARMING_SHARE if others else 1.0
    return {pair: share * with_new.get(pair, 0.0) + (1 - share) * others.get(pair, 0.0) for pair in worth}


def _worth(models: Collection[int], known: Tallies) -> dict[Pair, float]:
    pairs = list(combinations(sorted(models), 2))
    ahead = _ahead(models, known.battles)
    pair_ahead = _ahead(pairs, known.together)
    strength = {model: _strength(model, known) for model in models}
    return {
        (one, other): _closeness(strength[one] - strength[other])
        * (ahead[one] + ahead[other] + pair_ahead[one, other])
        for one, other in pairs
    }


def _ahead(keys: Iterable[Key], counts: Mapping[Key, int]) -> dict[Key, float]:
    """How many times as much there is to learn of each as of the best known one."""
    found = {key: counts.get(key, 0) + 1 for key in keys}
    most = max(found.values(), default=1)
    return {key: min(MOST_AHEAD, most / count) for key, count in found.items()}


def _strength(model: int, known: Tallies) -> float:
    """The log-odds of its score."""
    won = known.won.get(model, 0.0) + PRIOR / 2
    return math.log(won / (known.rated.get(model, 0) + PRIOR - won))


def _closeness(gap: float) -> float:
    """How unsure the outcome is: 1 for equal strengths, and never less than its bound."""
    share = 1 / (1 + math.exp(-max(-50.0, min(50.0, gap))))
    return max(LEAST_CLOSENESS, 4 * share * (1 - share))


def _scaled(weights: Mapping[Pair, float]) -> dict[Pair, float]:
    total = sum(weights.values())
    return {pair: weight / total for pair, weight in weights.items()}
