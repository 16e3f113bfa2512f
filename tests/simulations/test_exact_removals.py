"""How often the removals found are the fewest there are, by trying every subset."""

import numpy as np
import pytest

from leaderboard.stats.games import make_games
from leaderboard.stats.robustness import fewest_removals
from tests.leaderboard.stats.test_robustness import fewest_by_enumeration

STUDIES = 150


@pytest.mark.parametrize("unit", ["games", "prompts"])
def test_against_enumeration(unit):
    generator = np.random.default_rng(0)
    exact = more = missed = 0
    for _ in range(STUDIES):
        contestants, count = int(generator.integers(2, 5)), int(generator.integers(3, 13))
        a = generator.integers(0, contestants, count)
        b = (a + generator.integers(1, contestants, count)) % contestants
        score, prompt = generator.choice([0.0, 0.5, 1.0], count), generator.integers(0, 6, count)
        games = make_games(a, b, score, contestants, cluster=prompt)
        found = fewest_removals(games, unit=unit)
        fewest = 0 if found.removed == 0 else fewest_by_enumeration(games, found.first, unit)
        exact += found.removed == fewest
        missed += found.removed is None and fewest is not None
        more += found.removed is not None and found.removed != fewest
    print(
        f"\nRemovals of {unit} from {STUDIES} tiny studies: {exact} exactly the fewest, "
        f"{more} more than the fewest, {missed} not found"
    )
    assert exact >= 0.93 * STUDIES
