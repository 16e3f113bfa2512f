"""Ratings for tests of the ordinal model: simulated with known parameters, and any that are possible."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from leaderboard.stats.bradley_terry import POINTS_PER_UNIT
from leaderboard.stats.intervals import central_interval
from leaderboard.stats.ordinal import bootstrap_ordinal, ordinal
from leaderboard.stats.ordinal_table import threshold_rows
from leaderboard.stats.ratings import make_ratings
from tests.leaderboard.stats.simulation import CONTESTANTS

THETA = (1.0, 0.4, -0.3, -1.1)
FREE = {2: (), 3: (0.7,), 5: (0.5, 1.6), 8: (0.6, 1.5, 2.6)}
"""Positive thresholds of each scale."""


def simulated_ratings(
    prompts=100,
    *,
    points=8,
    theta=THETA,
    position=0.3,
    effect=0.0,
    lean_sd=0.0,
    raters=1,
    prompt_effect=0.0,
    rater_effect=0.0,
    covariate_of_contestant=None,
    first_share=0.5,
    seed=0,
):
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


# Hypothesis strategies for graded ratings.


@st.composite
def small_ratings(draw, scales=(2, 3, 5, 8)):
    """Between 1 and 30 ratings of five contestants on the scales."""
    row = st.tuples(
        st.integers(0, CONTESTANTS - 1),
        st.integers(1, CONTESTANTS - 1),
        st.sampled_from(scales),
        st.integers(0, max(scales) - 1),
        st.integers(0, 4),
    )
    rows = draw(st.lists(row, min_size=1, max_size=30))
    first, distance, points, raw, prompt = (np.array(column) for column in zip(*rows, strict=True))
    second = (first + distance) % CONTESTANTS
    return make_ratings(first, second, 1 + raw % points, points, CONTESTANTS, prompt=prompt)


NORMAL_95 = 1.959964
POSITION = 0.3


@dataclass(frozen=True)
class Setting:
    """Studies to simulate and how to fit them: arguments of simulated_ratings, and of ordinal."""

    name: str
    resample: str = "prompts"
    studied: dict[str, Any] = field(default_factory=dict)
    fitted: dict[str, Any] = field(default_factory=dict)

    def study(self, seed):
        return simulated_ratings(position=POSITION, seed=seed, **self.studied)

    def truth(self):
        """Ratings, position and effect per unit of the covariate.

        Contestants that suit some prompts (or raters) better than others flatten the average odds, so the
        truth is then the limit of a very large study, where every prompt has raters of its own.
        """
        if self.studied.get("prompt_effect"):
            large = {**self.studied, "prompts": 20_000}
            if "rater_effect" in large:
                spread = np.hypot(large["prompt_effect"], large.pop("rater_effect"))
                large |= {"prompt_effect": spread, "raters": 1, "prompts": 60_000}
            fit = ordinal(simulated_ratings(position=POSITION, seed=999_999, **large), **self.fitted)
            effect = fit.effects.get("length")
            return fit.rating, fit.position, effect.log_odds / effect.sd if effect else np.nan
        theta = np.array(THETA)
        ratings = 1000 + POINTS_PER_UNIT * (theta - theta.mean())
        return ratings, POSITION, self.studied.get("effect", np.nan)


def coverage(setting, studies, rounds):
    """Shares of 95 % intervals that hold the rating, the position and the effect of length.

    First those of the bootstrap, then those of the standard errors. Without a covariate there is no third.
    """
    truth = setting.truth()
    held = np.array([_held(setting, setting.study(seed), truth, rounds) for seed in range(studies)])
    bootstrap, errors = held.mean(axis=0)
    return bootstrap, errors


def _held(setting, ratings, truth, rounds):
    rating, position, effect = truth
    fit = ordinal(ratings, resample=setting.resample, **setting.fitted)
    found = bootstrap_ordinal(ratings, resample=setting.resample, rounds=rounds, **setting.fitted)
    effects = list(fit.effects.values())
    samples = np.column_stack((found.samples, found.others["position"], *found.effects.values()))
    centre = np.array([*fit.rating, fit.position, *(effect.log_odds for effect in effects)])
    error = np.array([*fit.rating_se, fit.position_se, *(effect.se for effect in effects)])
    true = np.array([*rating, position, *(effect * fitted.sd for fitted in effects)])
    intervals = (
        central_interval(samples, 95),
        (centre - NORMAL_95 * error, centre + NORMAL_95 * error),
    )
    both = [(low <= true) & (true <= high) for low, high in intervals]
    bootstrap, errors = ([held[: len(rating)].mean(), *held[len(rating) :]] for held in both)
    return bootstrap, errors
