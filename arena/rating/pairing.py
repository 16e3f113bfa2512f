"""Which pair, and in which order, a rater gets next. Pure.

After adding to STRATEGIES run ``makemigrations``.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # models read the strategies, and need not load NumPy for that
    from arena.rating.possible_pairs import Candidates


def balanced(pairs: "Candidates", rng: random.Random) -> int | None:
    return pairs.least_rated(pairs.places, rng)


def adaptive(pairs: "Candidates", rng: random.Random) -> int | None:
    """A pair of two contestants drawn by the worth of comparing them (Chiang et al. 2024, section 5)."""
    return pairs.least_rated(pairs.of_contestants_drawn(pairs.worth(), rng), rng)


def disagreement(pairs: "Candidates", rng: random.Random) -> int | None:
    """Of the least rated pairs one about which judges and a feature of the answers disagree most."""
    return pairs.least_rated(pairs.most_disputed(), rng)


@dataclass(frozen=True)
class Strategy:
    """A way to choose the next pair: ``choose`` gives the index of a free pair, or None.

    With has_control the study's control share is drawn evenly instead, as an audit.
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
            "the most informative pairs first",
            adaptive,
            has_control=True,
        ),
        Strategy(
            "disagreement",
            "Disagreement",
            "pairs first about which judges and a feature of the answers disagree",
            disagreement,
            has_control=True,
        ),
    )
}
"""By name; the first is the default."""

DEFAULT_STRATEGY: Final = next(iter(STRATEGIES))

STRATEGY_CHOICES: Final = [
    (name, f"{strategy.label}: {strategy.help}") for name, strategy in STRATEGIES.items()
]


def choose_order(seed: int) -> bool:
    """Whether to show the pair swapped: a fair coin that depends on nothing that anybody saw before.

    The coin is not that of ``random.Random(seed)``, which draws what the pair is for: a hidden check must not
    come in one order.
    """
    return random.Random(f"order {seed}").random() < 0.5  # noqa: S311 - the seed is secret
