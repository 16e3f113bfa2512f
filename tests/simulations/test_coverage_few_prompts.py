"""How often 95 % intervals of every method hold the truth, from few prompts to many.

Every pair of four contestants once on every prompt, on which each is better or worse by 150 points (standard
deviation). *Plain* percentiles are not widened for the number of prompts.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.stats.bradley_terry import bootstrap_fit, bradley_terry
from leaderboard.stats.davidson import bootstrap_davidson, davidson
from leaderboard.stats.elo import EloParameters
from leaderboard.stats.elo_mean import bootstrap_mean_elo, mean_elo
from leaderboard.stats.intervals import central_interval, normal_interval
from leaderboard.stats.ordinal import bootstrap_ordinal, ordinal
from leaderboard.stats.sandwich import sandwich
from tests.leaderboard.stats.ordinal_studies import Setting
from tests.leaderboard.stats.rated_studies import Design, simulate, truth_of

STUDIES = {5: 250, 15: 1000, 60: 700, 200: 700}
"""By the number of prompts; a third of them for the ordinal model."""
ROUNDS = 500
ELO = EloParameters()
KINDS = ("plain", "bootstrap", "sandwich")


def fitted(design, seed):
    """Of each method of games its strengths, their standard errors and its samples."""
    games, prompt, _ = simulate(design, seed)
    games = replace(games, cluster=prompt)
    arrays = {"cluster": prompt, "rounds": ROUNDS, "seed": seed}
    elo, plain, ties = mean_elo(games, ELO), bradley_terry(games), davidson(games)
    found = {
        "Elo": (elo, bootstrap_mean_elo(games, elo, rounds=ROUNDS, seed=seed)),
        "Bradley-Terry": (plain, bootstrap_fit(games, plain, rounds=ROUNDS, seed=seed)),
        "Davidson": (ties, bootstrap_davidson(games.a, games.b, games.score, 4, **arrays)),
    }
    for name, (fit, again) in found.items():
        yield name, fit.rating, sandwich(games, fit).standard_error, again.samples


def fitted_ordinal(setting, seed):
    ratings = setting.study(seed)
    fit = ordinal(ratings, resample="prompts")
    again = bootstrap_ordinal(ratings, resample="prompts", rounds=ROUNDS, seed=seed)
    yield "ordinal", fit.rating, fit.rating_se, again.samples


def held(found, true, prompts) -> Iterator[tuple[str, list[float]]]:
    """The share of contestants whose interval holds the truth: plain, bootstrap, sandwich; mean widths."""
    for name, rating, error, samples in found:
        ends = (
            central_interval(samples, 95),
            central_interval(samples, 95, prompts),
            normal_interval(rating, error, 95, prompts),
        )
        inside = [np.mean((low <= true[name]) & (true[name] <= high)) for low, high in ends]
        yield name, [*inside, *(np.mean(high - low) for low, high in ends)]


@pytest.mark.parametrize("prompts", STUDIES)
def test_coverage(prompts):
    design = Design(prompts, prompt_taste=150.0)
    setting = Setting("", "prompts", {"prompts": prompts, "prompt_effect": 0.86})
    fits = {"Elo": lambda games: mean_elo(games, ELO), "Bradley-Terry": bradley_terry, "Davidson": davidson}
    true = {name: truth_of(design, fit) for name, fit in fits.items()} | {"ordinal": setting.truth()[0]}
    rows: dict[str, list[list[float]]] = {}
    for seed in range(STUDIES[prompts]):
        found = [*fitted(design, seed)]
        if seed < STUDIES[prompts] // 3:
            found.extend(fitted_ordinal(setting, seed))
        for name, row in held(found, true, prompts):
            rows.setdefault(name, []).append(row)
    print(f"\n\n{STUDIES[prompts]} studies, {ROUNDS} rounds")
    print(f"| prompts | method | {' | '.join(KINDS)} | widths of the same |\n|--:|---{'|--:' * 6}|")
    for name, each in rows.items():
        shares, widths = np.split(np.mean(each, axis=0), 2)
        cells = [f"{100 * share:.1f}" for share in shares] + [f"{width:.0f}" for width in widths]
        print(f"| {prompts} | {name} | {' | '.join(cells)} |", flush=True)
        assert 0.925 < shares[1] < 0.965
