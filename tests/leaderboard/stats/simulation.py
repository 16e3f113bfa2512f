"""Games: simulated with known true ratings, any that are possible, and how often intervals hold the truth."""

from functools import cache

import numpy as np
from hypothesis import strategies as st

from leaderboard.stats.bradley_terry import bootstrap_bradley_terry, bradley_terry
from leaderboard.stats.games import make_games
from leaderboard.stats.intervals import central_interval

PUBLISHED = (1140.0, 1073.0, 986.0, 802.0)
"""Ratings of the published study of four models on 327 prompts, without ties."""


def simulated_games(
    prompts=327, ratings=PUBLISHED, *, seed=0, tie_share=0.0, raters=1, prompt_effect=0.0, clustered=False
):
    """Every pair on every prompt, in random order, won with Elo's probability.

    ``prompt_effect`` is the standard deviation, in points, of how much better or worse than its rating a
    contestant is on one prompt; all raters of the prompt share it.
    """
    generator = np.random.default_rng(seed)
    low, high = np.triu_indices(len(ratings), 1)
    a, b = np.tile(low, prompts * raters), np.tile(high, prompts * raters)
    prompt = np.tile(np.repeat(np.arange(prompts), len(low)), raters)
    strength = np.array(ratings) + generator.normal(0.0, prompt_effect, (prompts, len(ratings)))
    chance = 1.0 / (1.0 + 10.0 ** ((strength[prompt, b] - strength[prompt, a]) / 400.0))
    score = (generator.random(len(a)) < chance).astype(float)
    score[generator.random(len(a)) < tie_share] = 0.5
    order = generator.permutation(len(a))
    cluster = prompt[order] if clustered else None
    return make_games(a[order], b[order], score[order], len(ratings), cluster=cluster)


CONTESTANTS = 5


@st.composite
def small_games(draw, clustered=False):
    game = st.tuples(
        st.integers(0, CONTESTANTS - 1),
        st.integers(1, CONTESTANTS - 1),
        st.sampled_from((0.0, 0.5, 1.0)),
        st.integers(0, 6),
    )
    first, distance, score, cluster = zip(*draw(st.lists(game, min_size=1, max_size=40)), strict=True)
    second = (np.array(first) + np.array(distance)) % CONTESTANTS
    return make_games(first, second, score, CONTESTANTS, cluster=cluster if clustered else None)


CENTRED = np.array(PUBLISHED) - np.mean(PUBLISHED) + 1000
STUDIES = 150
SHARED = {"raters": 4, "prompt_effect": 150.0}


@cache
def coverage(*, by_prompt, shared=False):
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
        low, high = central_interval(found.samples, 95, games.units if by_prompt else len(games))
        inside.append((low <= truth) & (truth <= high))
    return float(np.mean(inside))
