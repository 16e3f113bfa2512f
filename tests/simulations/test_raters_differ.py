"""How often a ranking says that raters differ in taste, and how badly intervals fit other raters."""

import numpy as np
import pytest

from leaderboard.stats.bradley_terry import bradley_terry
from leaderboard.stats.intervals import normal_interval
from leaderboard.stats.other_raters import OtherRaters
from leaderboard.stats.ratings import make_ratings
from leaderboard.stats.sandwich import sandwich
from tests.leaderboard.stats.rated_studies import Design, simulate, truth

STUDIES = 200
DESIGNS = ((60, 6, 6), (60, 6, 2), (60, 6, 1), (30, 3, 3), (15, 6, 6), (100, 10, 3), (200, 30, 3))
"""Prompts, raters, and raters on each prompt."""


def looked_at(design):
    """Of each study how much wider intervals for other raters are, if it is said, and who holds the truth."""
    true = truth(design, "Bradley-Terry")
    for seed in range(STUDIES):
        games, prompt, rater = simulate(design, seed)
        rating = (3 - 2 * games.score).astype(int)
        ratings = make_ratings(games.a, games.b, rating, 3, 4, prompt=prompt, rater=rater)
        drawn = ratings.games(ties=True)
        fit = bradley_terry(drawn)
        error = sandwich(drawn, fit).standard_error
        low, high = normal_interval(fit.rating, error, 95, drawn.units)
        found = OtherRaters.of(ratings, ties=True)
        yield found.wider, found.differ, np.mean((low <= true) & (true <= high))


@pytest.mark.parametrize("prompt_taste", [0.0, 150.0])
def test_tastes_are_said_and_chance_seldom_is(prompt_taste):
    print(f"\n\nTastes of prompts {prompt_taste:g} points; {STUDIES} studies a cell: wider, said %, covers %")
    print("| prompts | raters | on a prompt | tastes of raters 0 | 50 | 100 |\n|--:|--:|--:|--:|--:|--:|")
    for prompts, raters, on_prompt in DESIGNS:
        cells, said = [], []
        for taste in (0.0, 50.0, 100.0):
            design = Design(prompts, raters, on_prompt, prompt_taste, taste)
            wider, differ, held = map(np.array, zip(*looked_at(design), strict=True))
            said.append(differ.mean())
            cells.append(f"{np.median(wider):.2f}, {100 * said[-1]:.0f}, {100 * held.mean():.0f}")
        print(f"| {prompts} | {raters} | {on_prompt} | {' | '.join(cells)} |", flush=True)
        assert said[0] < 0.1
        assert said[2] > 0.65
