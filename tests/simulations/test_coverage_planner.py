"""Whether studies of the planned size tell two contestants apart by `decide` as often as planned."""

from functools import cache

import numpy as np
import pytest

from leaderboard.stats.bradley_terry import bradley_terry
from leaderboard.stats.head_to_head import difference
from leaderboard.stats.planning import WIDE_GAP, plan_from_assumptions, plan_from_data
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ratings import make_ratings
from tests.leaderboard.stats.test_planning import eight_points, make_study

STUDIES = 500
PILOTS = 300
LARGE = 100_000
MAKE = {"eight points": eight_points, "ties by chance": make_study}


def strengths(contestants, apart):
    """Two contestants to be told apart, the others between them."""
    return (1000.0 + apart / 2, 1000.0 - apart / 2, *(1000.0,) * (contestants - 2))


@cache
def truth(kind, contestants, prompt_sd, apart):
    """The gap, the share of ties and two raters' correlation that very large studies show, on average."""
    shown = [of_large(made(kind, LARGE, contestants, prompt_sd, 2, seed, apart)) for seed in range(99, 104)]
    return tuple(np.mean(shown, axis=0).tolist())


def of_large(study):
    games = study.games(ties=True)
    own = (study.first + study.second == 1) & (study.first != study.second)
    score = np.where(study.first == 0, games.score, 1.0 - games.score)
    both = np.empty((LARGE, 2))
    both[study.prompt[own], study.rater[own]] = score[own]
    rating = bradley_terry(games).rating
    return rating[0] - rating[1], (both == 0.5).mean(), np.corrcoef(both.T)[0, 1]


def made(kind, prompts, contestants, prompt_sd, raters, seed, apart):
    effect = {"prompt_sd" if kind == "eight points" else "prompt_effect": prompt_sd}
    return MAKE[kind](prompts, strengths(contestants, apart), raters=raters, seed=seed, **effect)


def told_apart(study, level=95.0):
    low, high = difference(study.games(ties=True), 0, 1, Method()).ends(level)
    return low > 0.0 or high < 0.0


def together(pilot, more):
    """Both as one study, with other raters for the new prompts."""
    columns = [
        np.concatenate((getattr(pilot, name), getattr(more, name) + shift))
        for name, shift in (
            ("first", 0),
            ("second", 0),
            ("rating", 0),
            ("points", 0),
            ("prompt", pilot.prompt.max() + 1),
            ("rater", pilot.rater.max() + 1),
        )
    ]
    return make_ratings(*columns[:4], pilot.contestants, prompt=columns[4], rater=columns[5])


@pytest.mark.parametrize(
    ("kind", "contestants", "apart", "prompt_sd", "raters", "level", "power"),
    [
        ("eight points", 2, 80, 0.0, 1, 95.0, 80.0),
        ("eight points", 2, 80, 150.0, 1, 95.0, 80.0),
        ("eight points", 2, 80, 150.0, 3, 95.0, 80.0),
        ("eight points", 2, 80, 150.0, 3, 95.0, 50.0),
        ("eight points", 2, 80, 150.0, 3, 90.0, 90.0),
        ("eight points", 4, 80, 150.0, 1, 95.0, 80.0),
        ("eight points", 4, 80, 150.0, 3, 95.0, 80.0),
        ("eight points", 4, 80, 300.0, 1, 95.0, 80.0),
        ("eight points", 4, 80, 300.0, 3, 95.0, 80.0),
        ("eight points", 2, 400, 150.0, 1, 95.0, 80.0),  # wide gaps: upper bounds
        ("eight points", 4, 400, 150.0, 3, 95.0, 80.0),
        ("ties by chance", 2, 80, 150.0, 3, 95.0, 80.0),
        ("ties by chance", 4, 80, 150.0, 1, 95.0, 80.0),
    ],
)
def test_plans_from_assumptions(kind, contestants, apart, prompt_sd, raters, level, power):
    gap, ties, correlation = truth(kind, contestants, prompt_sd, apart)
    plan = plan_from_assumptions(
        gap,
        raters=raters,
        level=level,
        power=power,
        ties=ties,
        correlation=max(0.0, correlation),
        contestants=contestants,
    )
    prompts = plan.need.prompts
    told = [
        told_apart(made(kind, prompts, contestants, prompt_sd, raters, seed, apart), level)
        for seed in range(STUDIES)
    ]
    print(
        f"\n{kind}, {contestants} contestants {gap:.1f} apart, prompts ±{prompt_sd:g}, {100 * ties:.0f} % "
        f"ties, raters correlate by {correlation:.2f}, {raters} raters, {level:g} %: {prompts} prompts, told "
        f"apart {100 * np.mean(told):.1f} % (planned {power:g} %)"
    )
    assert -6 < 100 * np.mean(told) - power < (6 if gap < WIDE_GAP else 20)


@pytest.mark.parametrize("contestants", [2, 4])
@pytest.mark.parametrize(("had", "raters"), [(2, 2), (2, 1), (3, 3), (1, 1)])
def test_plans_from_pilots(contestants, had, raters):
    """Each pilot of 60 prompts plans its own new prompts; then both together decide."""
    gap, *_ = truth("eight points", contestants, 150.0, 60)
    needs, told = [], []
    for seed in range(PILOTS):
        pilot = made("eight points", 60, contestants, 150.0, had, 10_000 + seed, 60)
        plan = plan_from_data(pilot, between=(0, 1), gap=gap, raters=raters)
        needs.append(plan.need.prompts)
        study = pilot
        if plan.need.more:
            new = made("eight points", plan.need.more, contestants, 150.0, raters, 20_000 + seed, 60)
            study = together(pilot, new)
        told.append(told_apart(study))
    low, middle, high = np.percentile(needs, (10, 50, 90))
    print(
        f"\nPilots of 60 prompts, {contestants} contestants {gap:.1f} apart, with {had} raters, plans for "
        f"{raters}: {middle:.0f} prompts in all (80 % of pilots say {low:.0f}-{high:.0f}), told apart "
        f"{100 * np.mean(told):.1f} % (planned 80 %)"
    )
    assert abs(100 * np.mean(told) - 80) < 6
