"""Simulated games with known true ratings."""

import numpy as np

from leaderboard.stats import Games, make_games

PUBLISHED = (1140.0, 1073.0, 986.0, 802.0)
"""Ratings of the published study of four models on 327 prompts, without ties."""


def simulated_games(
    prompts: int = 327,
    ratings: tuple[float, ...] = PUBLISHED,
    *,
    seed: int = 0,
    tie_share: float = 0.0,
    raters: int = 1,
    prompt_effect: float = 0.0,
    clustered: bool = False,
) -> Games:
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
