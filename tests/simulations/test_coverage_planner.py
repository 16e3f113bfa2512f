"""Whether studies of the planned size tell two contestants apart as planned."""

from functools import cache

import numpy as np
import pytest

from leaderboard.stats import Method, bradley_terry
from leaderboard.stats.head_to_head import difference
from leaderboard.stats.planning import plan_from_assumptions, plan_from_data
from tests.leaderboard.stats.simulation import simulated_games
from tests.leaderboard.stats.test_planning import make_study

STUDIES = 400
TIES = 0.2


def strengths(contestants):
    """Two contestants to be told apart, the others between them."""
    return (1040.0, 960.0, *(1000.0,) * (contestants - 2))


@cache
def true_gap(contestants, prompt_sd):
    """What a very large study shows: ties and prompts bring the two closer than 80 points."""
    games = simulated_games(150_000, strengths(contestants), seed=99, tie_share=TIES, prompt_effect=prompt_sd)
    rating = bradley_terry(games).rating
    return float(rating[0] - rating[1])


def share_told_apart(prompts, contestants, prompt_sd, raters, level):
    """How often the two are told apart."""
    told = []
    for seed in range(STUDIES):
        games = simulated_games(
            prompts,
            strengths(contestants),
            seed=seed,
            tie_share=TIES,
            raters=raters,
            prompt_effect=prompt_sd,
            clustered=True,
        )
        low, high = difference(games, 0, 1, Method("bradley-terry")).ends(level)
        told.append(low > 0.0 or high < 0.0)
    return float(np.mean(told))


@pytest.mark.parametrize(
    ("contestants", "prompt_sd", "raters", "level", "power"),
    [
        (2, 0.0, 1, 95.0, 80.0),
        (2, 150.0, 1, 95.0, 80.0),
        (2, 150.0, 3, 95.0, 80.0),
        (2, 150.0, 3, 95.0, 50.0),
        (2, 150.0, 3, 90.0, 90.0),
        (4, 150.0, 1, 95.0, 80.0),
        (4, 150.0, 3, 95.0, 80.0),
        (4, 300.0, 5, 95.0, 80.0),
    ],
)
def test_plans_from_assumptions(contestants, prompt_sd, raters, level, power):
    gap = true_gap(contestants, prompt_sd)
    plan = plan_from_assumptions(
        gap, raters=raters, level=level, power=power, ties=TIES, prompt_sd=prompt_sd, contestants=contestants
    )
    share = share_told_apart(plan.need.prompts, contestants, prompt_sd, raters, level)
    print(
        f"\n{contestants} contestants {gap:.1f} apart, prompts ±{prompt_sd:g}, {raters} raters, {level:g} %: "
        f"{plan.need.prompts} prompts, told apart {100 * share:.1f} % (planned {power:g} %)"
    )
    assert abs(100 * share - power) < 9


@pytest.mark.parametrize(("had", "raters"), [(2, 2), (2, 1), (2, 4)])
def test_plans_from_pilots(had, raters):
    """60 pilots of 60 prompts; then studies of new prompts alone with the median number planned."""
    gap = true_gap(4, 150.0)
    needs = []
    for seed in range(60):
        pilot = make_study(60, strengths(4), raters=had, seed=1000 + seed)
        plan = plan_from_data(pilot, between=(0, 1), gap=gap, raters=raters)
        needs.append(plan.variance.of_prompt(raters) / plan.aim.variance)
    low, middle, high = np.percentile(needs, (10, 50, 90))
    share = share_told_apart(round(middle), 4, 150.0, raters, 95.0)
    print(
        f"\nPilots of 60 prompts with {had} raters, plans for {raters}: {middle:.0f} prompts (80 % of "
        f"pilots say {low:.0f}-{high:.0f}), told apart {100 * share:.1f} % (planned 80 %)"
    )
    assert abs(100 * share - 80) < 9
