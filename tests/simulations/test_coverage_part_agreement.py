"""How often rankings of a random fifth of the games are told from those of all, where both are the same.

Run with: .venv/bin/python -m pytest tests/simulations/test_coverage_part_agreement.py -s
"""

import numpy as np
import pytest

from leaderboard.stats.part_agreement import part_agreement
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ratings import ratings_of_games
from tests.leaderboard.stats.simulation import simulated_games

STUDIES = 200


@pytest.mark.parametrize("prompts", [20, 60, 200])
@pytest.mark.parametrize("contestants", [4, 10])
def test_part(prompts, contestants):
    ratings = np.linspace(1150.0, 850.0, contestants)
    alarms, held, taus = 0, [], []
    for seed in range(STUDIES):
        games = simulated_games(prompts, ratings, seed=seed, prompt_effect=100.0, clustered=True)
        part = np.random.default_rng(seed).random(len(games)) < 0.2
        found = part_agreement(ratings_of_games(games), part, Method(rounds=500, seed=seed))
        alarms += bool(found.certain.any())
        held.extend((found.low <= 0) & (found.high >= 0))
        taus.append(found.tau.value)
    print(
        f"\n{contestants} contestants, {prompts} prompts: told from chance in {100 * alarms / STUDIES:.1f} % "
        f"of studies, changes hold 0 in {100 * np.mean(held):.1f} %, mean tau {np.mean(taus):.2f}"
    )
    assert alarms <= 0.12 * STUDIES
