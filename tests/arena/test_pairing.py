"""Which pair and which order: exact rules, and balance over many seeded draws."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.pairing import PromptLoad, choose_order, choose_pair, order_prompts


def rng(seed: int = 0) -> random.Random:
    return random.Random(seed)


def test_a_prompt_load_knows_its_pairs() -> None:
    assert [PromptLoad(n, 0, 0).pairs for n in (2, 3, 5)] == [1, 3, 10]


def test_prompts_come_least_rated_per_pair_first() -> None:
    loads = {1: PromptLoad(3, 3, 0), 2: PromptLoad(3, 0, 0), 3: PromptLoad(4, 3, 0)}
    assert order_prompts(loads, rng()) == [2, 3, 1]


def test_prompts_seen_in_full_are_left_out() -> None:
    assert order_prompts({1: PromptLoad(3, 0, 3), 2: PromptLoad(3, 9, 2)}, rng()) == [2]


def test_equal_prompts_come_in_any_order() -> None:
    loads = {prompt: PromptLoad(2, 0, 0) for prompt in range(4)}
    assert len({tuple(order_prompts(loads, rng(seed))) for seed in range(50)}) > 10


def test_the_least_rated_pair_comes_first() -> None:
    load = {(1, 2): 2, (1, 3): 1, (2, 3): 2}
    assert choose_pair([1, 2, 3], load, set(), 5, rng()) == (1, 3)


def test_among_equals_the_least_rated_completions_come_first() -> None:
    assert choose_pair([1, 2, 3, 4], {(1, 2): 1}, set(), 1, rng()) == (3, 4)


def test_full_and_seen_pairs_are_not_offered() -> None:
    load = {(1, 2): 2}
    assert choose_pair([1, 2, 3], load, {(1, 3)}, 2, rng()) == (2, 3)
    assert choose_pair([1, 2, 3], load, {(1, 3), (2, 3)}, 2, rng()) is None


def test_loads_of_retired_completions_do_not_matter() -> None:
    assert choose_pair([1, 2], {(1, 9): 50}, set(), 1, rng()) == (1, 2)


@given(
    completions=st.sets(st.integers(1, 50), min_size=2, max_size=6),
    wanted=st.integers(1, 3),
    seed=st.integers(0, 1000),
)
def test_taking_pairs_until_none_is_left_fills_every_pair_evenly(
    completions: set[int], wanted: int, seed: int
) -> None:
    load: dict[tuple[int, int], int] = {}
    random_numbers = rng(seed)
    while pair := choose_pair(sorted(completions), load, set(), wanted, random_numbers):
        load[pair] = load.get(pair, 0) + 1
        spread = [load.get(each, 0) for each in combinations(sorted(completions), 2)]
        assert max(spread) - min(spread) <= 1
    assert load == dict.fromkeys(combinations(sorted(completions), 2), wanted)


def test_the_order_depends_on_the_seed_alone() -> None:
    orders = [choose_order(seed, pair_imbalance=0, rater_imbalance=0) for seed in range(200)]
    assert orders == [choose_order(seed, pair_imbalance=0, rater_imbalance=0) for seed in range(200)]
    assert 70 < sum(orders) < 130


@pytest.mark.parametrize("imbalance", [1, 5, -1, -5])
def test_the_rarer_order_of_a_pair_is_taken(imbalance: int) -> None:
    for seed in range(20):
        assert choose_order(seed, pair_imbalance=imbalance, rater_imbalance=0) == (imbalance > 0)


@pytest.mark.parametrize("first_seed", [0, 10_000, 20_000])
def test_the_orders_of_one_rater_stay_balanced_and_unpredictable(first_seed: int) -> None:
    imbalance, worst, repeated = 0, 0, 0
    last = None
    for seed in range(first_seed, first_seed + 2000):
        swapped = choose_order(seed, pair_imbalance=0, rater_imbalance=imbalance)
        imbalance += -1 if swapped else 1
        worst = max(worst, abs(imbalance))
        repeated += swapped == last
        last = swapped
    # A fair coin strays about 45 (one standard deviation) from balance in 2000 throws.
    assert worst <= 15
    # Strict alternation would never repeat an order, a fair coin in half of the throws.
    assert 500 < repeated < 1000
