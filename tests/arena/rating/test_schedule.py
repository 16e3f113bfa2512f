"""The pairs before any turn are balanced."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rating.schedule import Schedule

Turn = tuple[float, int, int, int]


def turns(
    schedule: Schedule, prompts: dict[int, str], missing: set[tuple[int, int]] = frozenset()
) -> list[Turn]:  # type: ignore[assignment]
    """Every pair as turn, prompt and slots, in order; missing: prompts and slots without a text."""
    slots = [*schedule.slot.values(), *schedule.slots_without]
    return sorted(
        (schedule.turn(prompt, one, other), prompt, one, other)
        for prompt in prompts
        for one, other in combinations([slot for slot in slots if (prompt, slot) not in missing], 2)
    )


@given(st.integers(1, 25), st.integers(0, 9), st.integers(0, 3), st.integers(1, 99))
def test_before_any_turn_all_had_about_the_same_share(
    prompts: int, contestants: int, more: int, ids: int
) -> None:
    categories = {ids + number: "ab"[number % 3 == 0] for number in range(prompts)}
    schedule = Schedule(categories, range(10, 10 + contestants), more)
    found = turns(schedule, categories)
    assert len({turn for turn, *_ in found}) == len(found)
    assert all(0 <= turn < 1 for turn, *_ in found)
    slots, of_prompts, of_categories = Counter[int](), Counter[int](), Counter[str]()
    sizes = Counter(categories.values())
    for number, (_, prompt, one, other) in enumerate(found, start=1):
        slots.update((one, other))
        of_prompts[prompt] += 1
        of_categories[categories[prompt]] += 1
        assert max(slots.values()) - min(slots[slot] for slot in range(contestants + more)) <= 2
        assert max(of_prompts.values()) - min(of_prompts[each] for each in categories) <= 1
        for category, size in sizes.items():
            assert of_categories[category] == pytest.approx(number * size / prompts, abs=2)


def test_contestants_with_few_texts_get_their_share_of_pairs() -> None:
    prompts = dict.fromkeys(range(1, 41), "a")
    schedule = Schedule(prompts, range(8))
    missing = {(prompt, slot) for prompt in prompts for slot in (0, 1) if prompt % 4}
    found = turns(schedule, prompts, missing)
    half = Counter(slot for _, _, *both in found[: len(found) // 2] for slot in both)
    whole = Counter(slot for _, _, *both in found for slot in both)
    assert all(half[slot] / whole[slot] == pytest.approx(0.5, abs=0.1) for slot in range(8))


def test_the_order_is_the_same_every_time_and_another_in_another_study() -> None:
    prompts = dict.fromkeys(range(1, 6), "a")
    fields = [1, 2, 3, 4], [1, 2, 3, 4], [5, 6, 7, 8]
    first, again, other = (turns(Schedule(prompts, field), prompts) for field in fields)
    assert first == again != other
