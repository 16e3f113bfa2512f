"""Which pair, and in which order, a rater gets next: every strategy a study can choose. Pure.

A new strategy is a function and an entry in STRATEGIES; settings, forms and offers read them from there, and
``makemigrations`` writes down the new choice.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # models read the strategies, and need not load NumPy for that
    from arena.rating.possible_pairs import Candidates


def balanced(pairs: "Candidates", rng: random.Random) -> int | None:
    """The least rated free pair."""
    return pairs.least_rated(pairs.places, rng)


def adaptive(pairs: "Candidates", rng: random.Random) -> int | None:
    """A pair of two contestants drawn in proportion to what another comparison of them would say.

    Drawn, as Chatbot Arena does (Chiang et al. 2024, section 5), and not always the best: every pair keeps a
    chance, and raters who ask at the same moment get different ones.
    """
    return pairs.least_rated(pairs.of_contestants_drawn(pairs.worth(), rng), rng)


@dataclass(frozen=True)
class Strategy:
    """A way to choose the next pair.

    name is stored; label and help are what operators read. choose gives the place of a free pair, or None
    where none is free. With ``has_control`` a share of the pairs, the study's control share, is drawn evenly
    instead, so that the strategy can be audited.
    """

    name: str
    label: str
    help: str
    choose: Callable[["Candidates", random.Random], int | None]
    has_control: bool = False


STRATEGIES: Final = {
    strategy.name: strategy
    for strategy in (
        Strategy("balanced", "Balanced", "the least rated pair first", balanced),
        Strategy(
            "adaptive",
            "Adaptive",
            "rather pairs whose result says most about the standings",
            adaptive,
            has_control=True,
        ),
    )
}
"""By name; the first is that of a new study."""

DEFAULT_STRATEGY: Final = next(iter(STRATEGIES))

STRATEGY_CHOICES: Final = [
    (name, f"{strategy.label}: {strategy.help}") for name, strategy in STRATEGIES.items()
]

BIASED_COIN: Final = 2 / 3
"""Probability of the order that restores balance (Efron 1971, "Forcing a sequential experiment...")."""


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
