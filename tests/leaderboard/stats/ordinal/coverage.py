"""How often intervals of the ordinal model hold the truth, by simulation."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from leaderboard.stats import Ratings, bootstrap_ordinal, central_interval, ordinal
from leaderboard.stats.bradley_terry import POINTS_PER_UNIT
from tests.leaderboard.stats.ordinal.simulation import THETA, simulated_ratings

NORMAL_95 = 1.959964
POSITION = 0.3


@dataclass(frozen=True)
class Setting:
    """Studies to simulate and how to fit them: arguments of simulated_ratings, and of ordinal."""

    name: str
    resample: str = "prompts"
    studied: dict[str, Any] = field(default_factory=dict)
    fitted: dict[str, Any] = field(default_factory=dict)

    def study(self, seed: int) -> Ratings:
        return simulated_ratings(position=POSITION, seed=seed, **self.studied)

    def truth(self) -> tuple[np.ndarray, float, float]:
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


def coverage(setting: Setting, studies: int, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Shares of 95 % intervals that hold the rating, the position and the effect of length.

    First those of the bootstrap, then those of the standard errors. Without a covariate there is no third.
    """
    truth = setting.truth()
    held = np.array([_held(setting, setting.study(seed), truth, rounds) for seed in range(studies)])
    bootstrap, errors = held.mean(axis=0)
    return bootstrap, errors


def _held(setting: Setting, ratings: Ratings, truth: Any, rounds: int) -> tuple[list[float], list[float]]:
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
