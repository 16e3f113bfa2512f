"""Which pair and which order: adaptive draws, and orders over many seeds."""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import pytest

from arena.rules.pairing import adaptive, choose_order

Both = tuple[int, int]


@dataclass
class Free:
    """Contestants that have a free pair each; the pair is named by them, any pair by None."""

    pairs: set[Both]
    gain: Mapping[Both, float]

    def least_rated(self, contestants: Both | None = None) -> Both | str | None:
        if contestants is None:
            return "any" if self.pairs else None
        return contestants if contestants in self.pairs else None

    def worth(self) -> Mapping[Both, float]:
        return self.gain


def test_contestants_are_drawn_in_proportion_to_what_they_say() -> None:
    gain = {(0, 1): 1.0, (0, 2): 2.0, (1, 2): 5.0, (0, 3): 0.0}
    drawn = Counter(adaptive(Free(set(gain), gain), random.Random(seed)) for seed in range(4000))
    # Four standard deviations of a share of 1/8, 2/8 and 5/8 of 4000 draws are below 125.
    expected = {(0, 1): 500, (0, 2): 1000, (1, 2): 2500}
    assert drawn == {both: pytest.approx(times, abs=125) for both, times in expected.items()}


def test_contestants_without_a_free_pair_are_drawn_again() -> None:
    gain = {(0, 1): 1.0, (0, 2): 2.0, (1, 2): 5.0}
    assert {adaptive(Free({(0, 1)}, gain), random.Random(seed)) for seed in range(20)} == {(0, 1)}
    assert adaptive(Free({(4, 5)}, gain), random.Random(0)) == "any"
    assert adaptive(Free({(0, 1)}, {(0, 1): 0.0}), random.Random(0)) == "any"
    assert adaptive(Free(set(), gain), random.Random(0)) is None


# --- presentation order -------------------------------------------------------------------------------------

DRAWS = 100_000
CHANCE = 4 * 0.5 / DRAWS**0.5  # four standard errors of a share of so many fair throws


@cache
def orders() -> list[bool]:
    return [choose_order(seed) for seed in range(DRAWS)]


def test_who_knows_all_own_past_orders_guesses_the_next_no_better_than_chance() -> None:
    told = orders()
    guesses: dict[str, list[bool]] = {"rarer so far": [], "other than last": []}
    balance = 0
    for number, swapped in enumerate(told):
        guesses["rarer so far"].append(balance > 0)
        guesses["other than last"].append(not told[number - 1])
        balance += -1 if swapped else 1
    for length in range(1, 9):  # what followed most often after the last few orders
        after: dict[tuple[bool, ...], int] = {}
        guesses[f"usual after {length}"] = mine = []
        for number, swapped in enumerate(told):
            seen = tuple(told[max(0, number - length) : number])
            mine.append(after.get(seen, 0) > 0)
            after[seen] = after.get(seen, 0) + (1 if swapped else -1)
    for how, mine in guesses.items():
        right = sum(guess == swapped for guess, swapped in zip(mine, told, strict=True)) / DRAWS
        assert abs(right - 0.5) < CHANCE, how


def test_the_order_depends_on_the_seed_alone_and_not_on_what_else_the_seed_draws() -> None:
    told = orders()
    assert told[:1000] == [choose_order(seed) for seed in range(1000)]
    drawn = [random.Random(seed).random() for seed in range(DRAWS)]
    for share in (0.05, 0.5, 0.95):  # a hidden repeat or check is drawn where the first number is below it
        chosen = [swapped for swapped, first in zip(told, drawn, strict=True) if first < share]
        assert abs(sum(chosen) / len(chosen) - 0.5) < 4 * 0.5 / len(chosen) ** 0.5
