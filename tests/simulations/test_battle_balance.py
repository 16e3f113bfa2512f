"""The balance of live battles: the limits that judging/battles/weighing.py states, in simulated seasons.

Every pair is drawn; after warm-up the least drawn model has at least half of the mean; the random share is as
stated; a model that is down has no battle and catches up later; a new model warms up at once, and in at most
half of the battles that are not drawn at random.
"""

import random

import pytest

from tests.simulations.battle_balance import WARM_UP, Season

BATTLES = 3000
FIELDS = {
    "alike": [1000.0] * 10,
    "spread": [700.0 + 60 * number for number in range(10)],
    "one far behind": [200.0] + [1000.0] * 9,
    "one far ahead": [1800.0] + [1000.0] * 9,
    "two camps": [400.0] * 5 + [1600.0] * 5,
    "three": [200.0, 1000.0, 1800.0],
    "two": [200.0, 1800.0],
    "thirty": [600.0 + 30 * number for number in range(30)],
}


@pytest.mark.parametrize("random_share", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("name", FIELDS)
def test_balance(name: str, random_share: float) -> None:
    season = Season(FIELDS[name], random.Random(f"{name} {random_share}"), random_share=random_share)
    battles = max(BATTLES, 20 * len(FIELDS[name]) * (len(FIELDS[name]) - 1) // 2)
    season.play(battles)
    assert not season.unmet()
    least = season.least_to_mean(since=len(FIELDS[name]) * WARM_UP)
    fewest = min(season.pairs.values()) * len(season.pairs) / battles
    print(f"{name}, random {random_share}: least drawn model {least:.2f}, pair {fewest:.2f} of the mean")
    assert least >= 0.5
    assert abs(season.at_random / battles - random_share) < 0.03


def test_what_says_more_is_drawn_more() -> None:
    season = Season(FIELDS["spread"], random.Random(1), random_share=0.0)
    season.play(BATTLES)
    near = sum(season.pairs[one, one + 1] for one in range(9)) / 9
    far = sum(season.pairs[one, one + 7] for one in range(3)) / 3
    print(f"neighbours {near:.0f}, far apart {far:.0f} battles")
    assert near > 1.2 * far


def test_a_model_that_is_down_has_no_battle_and_comes_back() -> None:
    season = Season(FIELDS["spread"], random.Random(2))
    season.play(1000)
    before = season.battles[4]
    up = [each for each in range(10) if each != 4]
    season.play(1000, lambda number: up)
    assert season.battles[4] == before
    season.play(1000)
    gained = season.battles[4] - before
    print(f"down for 1000 battles, then in {gained} of 1000; the others in {2000 / 10:.0f} on average")
    assert 200 < gained < 600


def test_a_new_model_warms_up_and_floods_nobody() -> None:
    season = Season([*FIELDS["spread"][:9], 1500.0], random.Random(3))
    season.play(2000, lambda number: range(9))
    season.play(200)
    first = [9 in pair for pair in season.drawn[2000:]]
    warm = next(number for number in range(200) if sum(first[: number + 1]) == WARM_UP)
    before, after = sum(first[: warm + 1]) / (warm + 1), sum(first[warm + 1 :]) / (199 - warm)
    print(f"a new model has {WARM_UP} battles after {warm + 1}, then {after:.2f} of them")
    assert warm < 4 * WARM_UP
    assert before < 0.75
    assert after < 0.6
