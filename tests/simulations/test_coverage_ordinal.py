"""What the ordinal model promises, by simulation: coverage, no bias, efficiency."""

import numpy as np
import pytest

from leaderboard.stats.bradley_terry import POINTS_PER_UNIT, bradley_terry
from leaderboard.stats.ordinal import ordinal
from tests.leaderboard.stats.ordinal_studies import Setting, coverage, simulated_ratings

STUDIES, ROUNDS = 200, 400
LENGTH = {"adjust": ["length"]}
SHARED = {"prompts": 60, "raters": 4, "prompt_effect": 0.86}
TASTES = {"prompts": 60, "prompt_effect": 0.86, "rater_effect": 0.58}
LEANING = {"prompts": 60, "raters": 12, "lean_sd": 0.6}

HOLDING = [
    Setting("60 prompts, one rating each", "prompts", {"prompts": 60, "effect": 0.3}, LENGTH),
    Setting("the same, games resampled", "games", {"prompts": 60, "effect": 0.3}, LENGTH),
    Setting("20 prompts, one rating each", "prompts", {"prompts": 20, "effect": 0.3}, LENGTH),
    Setting("60 prompts on 3 points", "prompts", {"prompts": 60, "effect": 0.3, "points": 3}, LENGTH),
    Setting("4 raters, prompts that suit some", "prompts", SHARED),
    Setting("10 raters of different taste, both", "prompts-and-raters", {**TASTES, "raters": 10}),
    Setting("30 raters of different taste, both", "prompts-and-raters", {**TASTES, "raters": 30}),
]
NOT_FOR_ALL = [
    Setting("the same, games resampled", "games", SHARED),
    Setting("10 raters of different taste", "prompts", {**TASTES, "raters": 10}),
    Setting("12 raters who lean, leans fitted", "prompts", LEANING, {"raters": True}),
    Setting("the same, raters resampled", "raters", LEANING, {"raters": True}),
    Setting("the same, both resampled", "prompts-and-raters", LEANING, {"raters": True}),
]


def test_coverage_of_95_percent_intervals():
    print(f"\nOrdinal model, 95 % intervals, {STUDIES} studies, {ROUNDS} rounds: share that holds the truth")
    print(f"{'':36}bootstrap: rating, position, effect; standard errors: the same")
    for setting in HOLDING + NOT_FOR_ALL:
        bootstrap, sandwich = coverage(setting, STUDIES, ROUNDS)
        shares = ["".join(f"{100 * share:7.1f}" for share in each) for each in (bootstrap, sandwich)]
        print(f"{setting.name:36}{shares[0]:24}{shares[1]}", flush=True)
        if setting in HOLDING:
            assert ((bootstrap > 0.88) & (bootstrap < 0.99)).all()
            assert ((sandwich > 0.88) & (sandwich < 0.99)).all()


@pytest.mark.parametrize("points", [2, 3, 5, 8])
def test_efficiency_of_the_whole_scale(points):
    """The same simulated raters, read as ordinal, as games with ties off and as games with ties as halves."""
    fits = {"ordinal": [], "ties off": [], "ties as half": []}
    for seed in range(400):
        ratings = simulated_ratings(60, points=points, position=0.0, seed=seed)
        fits["ordinal"].append(ordinal(ratings, position=False).rating)
        fits["ties off"].append(bradley_terry(ratings.games(ties=False)).rating)
        fits["ties as half"].append(bradley_terry(ratings.games(ties=True)).rating)
    truth = np.array([1.0, 0.4, -0.3, -1.1]) * POINTS_PER_UNIT + 1000
    print(f"\n{points} points, 400 studies of 60 prompts: root mean squared error, bias of first minus last")
    precision = {name: told_apart(np.array(found)) for name, found in fits.items()}
    for name, found in fits.items():
        error = np.sqrt(np.mean((np.array(found) - truth) ** 2))
        bias = np.mean([rating[0] - rating[3] for rating in found]) - (truth[0] - truth[3])
        worth = precision["ordinal"] / precision[name]
        print(f"  {name:14}{error:8.1f}{bias:8.1f}   one ordinal rating is worth {worth:.2f}")
    assert precision["ordinal"] > {2: 0.999, 3: 0.95, 5: 1.1, 8: 1.1}[points] * precision["ties as half"]


def told_apart(ratings):
    """How well neighbours are told apart: squared difference over its variance, averaged over neighbours.

    A method that draws all ratings together, as ties as halves do, gains nothing by it here.
    """
    gaps = ratings[:, :-1] - ratings[:, 1:]
    return float(np.mean(gaps.mean(axis=0) ** 2 / gaps.var(axis=0)))


def test_bias_where_order_and_length_are_uneven():
    """The weaker of two writes longer and mostly stands first; raters like both."""
    found = {"Bradley-Terry": [], "ordinal": [], "ordinal, no position": [], "ordinal, length adjusted": []}
    for seed in range(300):
        ratings = simulated_ratings(
            150,
            theta=(0.3, -0.3),
            position=0.5,
            effect=0.3,
            covariate_of_contestant=(-1.0, 1.0),
            first_share=0.25,
            seed=seed,
        )
        found["Bradley-Terry"].append(bradley_terry(ratings.games(ties=True)).rating)
        found["ordinal, no position"].append(ordinal(ratings, position=False).rating)
        found["ordinal"].append(ordinal(ratings).rating)
        found["ordinal, length adjusted"].append(ordinal(ratings, adjust=["length"]).rating)
    truth = 0.6 * POINTS_PER_UNIT
    print(f"\nTrue lead of the better {truth:.1f}; 300 studies of 150 prompts: mean, standard deviation")
    gaps = {name: np.array(rating)[:, 0] - np.array(rating)[:, 1] for name, rating in found.items()}
    for name, gap in gaps.items():
        print(f"  {name:28}{gap.mean():8.1f}{gap.std():8.1f}   better found first {np.mean(gap > 0):.3f}")
    assert gaps["ordinal, length adjusted"].mean() == pytest.approx(truth, abs=12)
    assert gaps["Bradley-Terry"].mean() < truth - 60
