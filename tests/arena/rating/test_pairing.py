"""Which pair and which order: exact rules, and balance over many seeded draws."""

import random
from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rating.pairing import STRATEGIES, choose_order
from arena.rating.possible_pairs import (
    BoolArray,
    Candidates,
    FloatArray,
    IntArray,
    Possible,
    Text,
    disagreement,
    possible_pairs,
)


def rng(seed: int = 0) -> random.Random:
    return random.Random(seed)


def texts(prompts: int, contestants: int, category: str = "coding") -> list[Text]:
    """Every contestant answers every prompt; ids as they would be given one after the other."""
    return [
        Text(prompt * contestants + contestant + 1, prompt, category, contestant)
        for prompt in range(prompts)
        for contestant in range(contestants)
    ]


def choose(
    name: str,
    possible: Possible,
    load: IntArray,
    free: BoolArray,
    numbers: random.Random,
    gain: FloatArray | None = None,
) -> int | None:
    worth = np.zeros((0, 0)) if gain is None else gain
    return STRATEGIES[name].choose(Candidates(possible, load, free, lambda: worth), numbers)


def choose_uniform(free: BoolArray, numbers: random.Random) -> int | None:
    return Candidates(possible_pairs([]), free.astype(np.int64), free, lambda: np.zeros((0, 0))).draw(numbers)


def none_rated(possible: Possible) -> IntArray:
    return np.zeros(len(possible), dtype=np.int64)


def all_free(possible: Possible) -> BoolArray:
    return np.ones(len(possible), dtype=bool)


def keys(possible: Possible) -> list[tuple[int, int]]:
    return list(zip(possible.first.tolist(), possible.second.tolist(), strict=True))


@pytest.mark.parametrize("name", STRATEGIES)
def test_where_nothing_is_free_nothing_is_chosen(name: str) -> None:
    possible = possible_pairs(texts(1, 3))
    assert choose(name, possible, none_rated(possible), ~all_free(possible), rng(), np.ones((3, 3))) is None
    assert choose(name, possible_pairs([]), np.zeros(0, int), np.zeros(0, bool), rng()) is None


# --- balanced -----------------------------------------------------------------------------------------------


def balanced(possible: Possible, load: dict[tuple[int, int], int], seed: int = 0) -> tuple[int, int]:
    loads = np.array([load.get(pair, 0) for pair in keys(possible)])
    place = choose("balanced", possible, loads, all_free(possible), rng(seed))
    assert place is not None
    return keys(possible)[place]


@pytest.mark.parametrize(
    ("possible", "load", "first"),
    [
        pytest.param(possible_pairs(texts(1, 3)), {(1, 2): 2, (1, 3): 1, (2, 3): 2}, (1, 3), id="pair"),
        pytest.param(possible_pairs(texts(1, 4)), {(1, 2): 1}, (3, 4), id="contestants, among equals"),
        # Contestants 0 and 1 met at the first prompt, so 2 and 3 meet next, at the other one.
        pytest.param(
            possible_pairs(texts(2, 4), without={(3, 4)}), {(1, 2): 1}, (7, 8), id="contestants over prompts"
        ),
        # One of four pairs is rated in the one category and none in the other.
        pytest.param(
            possible_pairs([*texts(4, 2, "many"), Text(91, 9, "few", 0), Text(92, 9, "few", 1)]),
            {(1, 2): 1},
            (91, 92),
            id="category, for each of its pairs",
        ),
    ],
)
def test_the_least_rated_first(
    possible: Possible, load: dict[tuple[int, int], int], first: tuple[int, int]
) -> None:
    assert balanced(possible, load) == first


def test_equals_come_in_any_order() -> None:
    possible = possible_pairs(texts(1, 4))
    assert {balanced(possible, {}, seed) for seed in range(60)} == set(combinations(range(1, 5), 2))


@given(
    prompts=st.integers(1, 3),
    contestants=st.integers(2, 5),
    wanted=st.integers(1, 3),
    seed=st.integers(0, 1000),
)
def test_taking_all_pairs_fills_them_evenly(prompts: int, contestants: int, wanted: int, seed: int) -> None:
    possible = possible_pairs(texts(prompts, contestants))
    load, numbers = none_rated(possible), rng(seed)
    while (place := choose("balanced", possible, load, load < wanted, numbers)) is not None:
        load[place] += 1
        assert load.max() - load.min() <= 1
    assert (load == wanted).all()


@pytest.mark.parametrize("seed", range(5))
def test_contestants_prompts_and_categories_stay_balanced_on_the_way(seed: int) -> None:
    groups = [texts(10, 8, "a"), [Text(t.pk + 1000, t.prompt + 100, "b", t.contestant) for t in texts(5, 8)]]
    possible = possible_pairs([text for group in groups for text in group])
    load, numbers = none_rated(possible), rng(seed)
    for _ in range(210):  # half of all pairs
        place = choose("balanced", possible, load, load < 1, numbers)
        assert place is not None
        load[place] += 1
    of_contestants = np.bincount(possible.a, load, 8) + np.bincount(possible.b, load, 8)
    assert of_contestants.sum() == 420
    assert of_contestants.max() - of_contestants.min() <= 4
    assert np.bincount(possible.category, load).tolist() == [140, 70]


# --- adaptive and control -----------------------------------------------------------------------------------


def test_contestants_are_drawn_in_proportion_to_what_they_say() -> None:
    # Contestants 0 and 1 have three prompts in common, the others one: that must not count.
    possible = possible_pairs(
        [*texts(1, 3), Text(11, 5, "x", 0), Text(12, 5, "x", 1), Text(13, 6, "x", 0), Text(14, 6, "x", 1)]
    )
    gain = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 5.0], [2.0, 5.0, 0.0]])
    drawn = Counter(
        choose("adaptive", possible, none_rated(possible), all_free(possible), rng(seed), gain)
        for seed in range(4000)
    )
    of_two = Counter[tuple[int, int]]()
    for place, times in drawn.items():
        assert place is not None
        of_two[int(possible.a[place]), int(possible.b[place])] += times
    # Four standard deviations of a share of 1/8, 2/8 and 5/8 of 4000 draws are below 125.
    assert of_two[0, 1] == pytest.approx(500, abs=125)
    assert of_two[0, 2] == pytest.approx(1000, abs=125)
    assert of_two[1, 2] == pytest.approx(2500, abs=125)


def test_full_and_seen_pairs_are_never_drawn() -> None:
    possible = possible_pairs(texts(2, 3))
    gain = np.ones((3, 3)) - np.eye(3)
    free = np.array([pair == (2, 3) for pair in keys(possible)])
    for seed in range(20):
        assert choose("adaptive", possible, none_rated(possible), free, rng(seed), gain) == 2
        assert choose_uniform(free, rng(seed)) == 2


def test_where_nothing_says_anything_the_choice_is_balanced() -> None:
    possible = possible_pairs(texts(1, 3))
    load = np.array([1, 1, 0])
    assert choose("adaptive", possible, load, all_free(possible), rng(), np.zeros((3, 3))) == 2
    nobody = possible_pairs([Text(1, 1, "a", None), Text(2, 1, "a", None)])
    assert choose("adaptive", nobody, none_rated(nobody), all_free(nobody), rng()) == 0
    # Of the two contestants drawn the pair rated least is taken.
    of_two = possible_pairs(texts(3, 2))
    gain = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert choose("adaptive", of_two, np.array([2, 1, 2]), all_free(of_two), rng(), gain) == 1


def test_the_control_share_is_drawn_evenly_from_what_is_free() -> None:
    free = np.array([True, False, True, True])
    drawn = Counter(choose_uniform(free, rng(seed)) for seed in range(3000))
    assert set(drawn) == {0, 2, 3}
    assert all(times == pytest.approx(1000, abs=110) for times in drawn.values())


# --- disagreement -------------------------------------------------------------------------------------------


def disputed(possible: Possible, load: IntArray, free: BoolArray, disagreement: FloatArray) -> int | None:
    known = Candidates(possible, load, free, lambda: np.zeros((0, 0)), lambda: disagreement)
    return STRATEGIES["disagreement"].choose(known, rng())


def test_judges_and_a_feature_disagree_by_hand() -> None:
    """Two contestants, two prompts: each has its own mean, deviation and so -1 and 1."""
    possible = possible_pairs(texts(2, 2))
    feature = {1: 10.0, 2: 0.4, 3: 20.0, 4: 0.2}
    found = disagreement(possible, feature, np.array([1 / 7, 1 / 7]))
    # The feature says the second text of the first prompt and the first of the other, each two deviations.
    assert found == pytest.approx([2 * 6 / 7, -2 * 6 / 7])
    assert disagreement(possible, feature, np.array([1.0, 0.0])) == pytest.approx([0.0, 0.0])
    assert np.isnan(disagreement(possible, {1: 1.0, 3: 2.0}, np.array([1 / 7, np.nan]))).all()


@given(
    st.lists(st.sampled_from([np.nan, -1.0, 0.0, 0.5, 2.0]), min_size=6, max_size=6),
    st.lists(st.integers(0, 2), min_size=6, max_size=6),
    st.lists(st.booleans(), min_size=6, max_size=6),
)
def test_the_most_disputed_of_the_least_rated_pairs_comes_first(
    values: list[float], loads: list[int], frees: list[bool]
) -> None:
    possible = possible_pairs(texts(2, 3))
    disagreement, load, free = np.array(values), np.array(loads), np.array(frees)
    place = disputed(possible, load, free, disagreement)
    assert (place is None) == (not free.any())
    if place is None:
        return
    assert free[place]
    rivals = free & (load == load[free].min()) & (disagreement > 0)
    if rivals.any():
        assert disagreement[place] == disagreement[rivals].max()
    else:  # as without anything known
        assert place == choose("balanced", possible, load, free, rng())
    assert disputed(possible, load, free, np.empty(0)) == choose("balanced", possible, load, free, rng())


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
