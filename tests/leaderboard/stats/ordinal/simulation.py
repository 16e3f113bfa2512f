"""Simulated ratings with known contestants, thresholds, position, effects and leans."""

import numpy as np

from leaderboard.stats.ordinal_table import threshold_rows
from leaderboard.stats.ratings import Ratings, make_ratings

THETA = (1.0, 0.4, -0.3, -1.1)
FREE = {2: (), 3: (0.7,), 5: (0.5, 1.6), 8: (0.6, 1.5, 2.6)}
"""Positive thresholds of each scale."""


def simulated_ratings(
    prompts: int = 100,
    *,
    points: int = 8,
    theta: tuple[float, ...] = THETA,
    position: float = 0.3,
    effect: float = 0.0,
    lean_sd: float = 0.0,
    raters: int = 1,
    prompt_effect: float = 0.0,
    rater_effect: float = 0.0,
    covariate_of_contestant: tuple[float, ...] | None = None,
    first_share: float = 0.5,
    seed: int = 0,
) -> Ratings:
    """Every pair on every prompt, seen once by every rater.

    The better of a pair stands first with probability ``first_share``. The covariate "length" is what the
    first has more of: each completion's is normal about its contestant's; ``effect`` is per unit of it.
    ``prompt_effect`` is the standard deviation, in log-odds, of how much better or worse than its rating a
    contestant is on one prompt; all raters of the prompt share it. ``rater_effect`` is the same for a rater
    on all prompts.
    """
    generator = np.random.default_rng(seed)
    low, high = np.triu_indices(len(theta), 1)
    a, b = np.tile(low, prompts * raters), np.tile(high, prompts * raters)
    prompt = np.tile(np.repeat(np.arange(prompts), len(low)), raters)
    rater = np.repeat(np.arange(raters), prompts * len(low))
    swapped = generator.random(len(a)) >= first_share
    first, second = np.where(swapped, b, a), np.where(swapped, a, b)
    typical = np.zeros(len(theta)) if covariate_of_contestant is None else np.array(covariate_of_contestant)
    length = typical + generator.normal(size=(prompts, len(theta)))
    more = length[prompt, first] - length[prompt, second]
    lean = generator.normal(0.0, lean_sd, raters)
    strength = np.array(theta) + generator.normal(0.0, prompt_effect, (prompts, len(theta)))
    odds = strength[prompt, first] - strength[prompt, second] + position + effect * more + lean[rater]
    if rater_effect:
        liking = generator.normal(0.0, rater_effect, (raters, len(theta)))
        odds += liking[rater, first] - liking[rater, second]
    noise = generator.logistic(size=len(a))
    thresholds = threshold_rows(points) @ np.array(FREE[points])
    rating = 1 + (noise[:, None] > thresholds[None, :] + odds[:, None]).sum(axis=1)
    return make_ratings(
        first, second, rating, points, len(theta), prompt=prompt, rater=rater, covariates={"length": more}
    )
