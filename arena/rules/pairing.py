"""Which pair, and in which order, a rater gets next. Pure.

After adding to STRATEGIES run ``makemigrations``.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol


class Free(Protocol):
    """The pairs that a rater can be offered now."""

    def least_rated(self, contestants: tuple[int, int] | None = None) -> Any:
        """Return the first in turn of the pairs with fewest ratings; None if there is none.

        ``contestants``: only pairs of these two.
        """

    def worth(self) -> Mapping[tuple[int, int], float]:
        """Return what another comparison of two contestants is worth, by their ids."""


def balanced(free: Free, rng: random.Random) -> Any:
    return free.least_rated()


def adaptive(free: Free, rng: random.Random) -> Any:
    """A pair of two contestants drawn by the worth of comparing them (Chiang et al. 2024, section 5)."""
    worth = {both: value for both, value in free.worth().items() if value > 0}
    while worth:
        [drawn] = rng.choices(list(worth), list(worth.values()))
        if (pair := free.least_rated(drawn)) is not None:
            return pair
        del worth[drawn]
    return free.least_rated()


@dataclass(frozen=True)
class Strategy:
    """A way to choose the next pair: ``choose`` gives one of the free pairs, or None.

    With has_control the study's control share is drawn evenly instead, as an audit. asks_judges: pairs about
    which judges and a feature of the answers disagree have the first turns.
    """

    name: str
    label: str
    help: str
    choose: Callable[[Free, random.Random], Any] = balanced
    has_control: bool = False
    asks_judges: bool = False


STRATEGIES: Final = {
    strategy.name: strategy
    for strategy in (
        Strategy("balanced", "Balanced", "the least rated pair first"),
        Strategy("adaptive", "Adaptive", "the most informative pairs first", adaptive, has_control=True),
        Strategy(
            "disagreement",
            "Disagreement",
            "pairs first about which judges and a feature of the answers disagree",
            has_control=True,
            asks_judges=True,
        ),
    )
}
"""By name; the first is the default."""

DEFAULT_STRATEGY: Final = next(iter(STRATEGIES))

STRATEGY_CHOICES: Final = [
    (name, f"{strategy.label}: {strategy.help}") for name, strategy in STRATEGIES.items()
]


def choose_order(seed: int) -> bool:
    """Return whether to show the pair swapped: a fair coin that depends on nothing seen before.

    The coin is not that of ``random.Random(seed)``, which draws what the pair is for: a hidden check must not
    come in one order.
    """
    return random.Random(f"order {seed}").random() < 0.5  # noqa: S311 - the seed is secret
