"""How often Bradley-Terry's interval holds the truth, by simulation."""

from functools import cache

import numpy as np

from leaderboard.stats import bootstrap_bradley_terry, bradley_terry, central_interval
from tests.leaderboard.stats.simulation import PUBLISHED, simulated_games

CENTRED = np.array(PUBLISHED) - np.mean(PUBLISHED) + 1000
STUDIES = 150
SHARED = {"raters": 4, "prompt_effect": 150.0}


@cache
def coverage(*, by_prompt: bool, shared: bool = False) -> float:
    """Share of 95 % intervals that hold the true rating, over simulated studies of 60 prompts.

    ``shared`` is four raters on every prompt, and prompts that suit some contestants better than others. That
    flattens average win rates, so the truth is then the limit of a very large study.
    """
    options = SHARED if shared else {}
    truth = bradley_terry(simulated_games(20_000, seed=999, **SHARED)).rating if shared else CENTRED
    inside = []
    for seed in range(STUDIES):
        games = simulated_games(60, seed=seed, clustered=True, **options)
        cluster = games.cluster if by_prompt else None
        found = bootstrap_bradley_terry(games.a, games.b, games.score, 4, rounds=200, cluster=cluster)
        low, high = central_interval(found.samples, 95)
        inside.append((low <= truth) & (truth <= high))
    return float(np.mean(inside))
