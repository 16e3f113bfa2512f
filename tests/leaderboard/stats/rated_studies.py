"""Simulated studies in which prompts and raters have tastes of their own, and what is true of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from leaderboard.stats.bradley_terry import bootstrap_bradley_terry, bradley_terry
from leaderboard.stats.davidson import bootstrap_davidson, davidson
from leaderboard.stats.games import make_games
from leaderboard.stats.intervals import central_interval, normal_interval
from leaderboard.stats.sandwich import sandwich
from tests.leaderboard.stats.simulation import PUBLISHED

LEVELS = (90.0, 95.0)
POINTS = 400 / np.log(10)
METHODS: dict[str, tuple[Any, Any]] = {
    "Bradley-Terry": (bradley_terry, bootstrap_bradley_terry),
    "Davidson": (davidson, bootstrap_davidson),
}


@dataclass(frozen=True)
class Design:
    """Every pair of the four published contestants on every prompt, by ``on_prompt`` of the ``raters``.

    ``prompt_taste`` and ``rater_taste`` are standard deviations in points: how much better than its rating a
    contestant is on one prompt, or for one rater. A share nu / (2 + nu) of games between equals is tied.
    """

    prompts: int
    raters: int = 1
    on_prompt: int = 1
    prompt_taste: float = 0.0
    rater_taste: float = 0.0
    nu: float = 0.5


def outcome_chances(difference, nu):
    """Win, tie and loss by Davidson's model for a difference in points, (3, ...)."""
    half = np.exp(difference / POINTS / 2)
    weights = np.stack((half, np.full_like(half, nu), 1 / half))
    return weights / weights.sum(axis=0)


def simulate(design, seed):
    """The games of one study, and the prompt and the rater of each."""
    generator = np.random.default_rng(seed)
    low, high = np.triu_indices(len(PUBLISHED), 1)
    turn = np.arange(design.prompts)[:, None] + np.arange(design.on_prompt)
    shape = (design.prompts, design.on_prompt, len(low))
    rater = np.broadcast_to((turn % design.raters)[:, :, None], shape).reshape(-1)
    prompt = np.broadcast_to(np.arange(design.prompts)[:, None, None], shape).reshape(-1)
    a, b = (np.broadcast_to(side, shape).reshape(-1) for side in (low, high))
    taste = generator.normal(0, design.prompt_taste, (design.prompts, 4))
    liking = generator.normal(0, design.rater_taste, (design.raters, 4))
    strength = np.array(PUBLISHED) + taste[prompt] + liking[rater]
    rows = np.arange(len(a))
    win, tie, _ = outcome_chances(strength[rows, a] - strength[rows, b], design.nu)
    lot = generator.random(len(a))
    score = np.where(lot < win, 1.0, np.where(lot < win + tie, 0.5, 0.0))
    return make_games(a, b, score, 4), prompt, rater


def truth(design, method):
    return truth_of(design, METHODS[method][0])


def truth_of(design, fit):
    """What the fit finds in a study without end: tastes averaged over, by Gauss and Hermite's rule."""
    node, weight = np.polynomial.hermite_e.hermegauss(61)
    spread = np.sqrt(2.0) * np.hypot(design.prompt_taste, design.rater_taste)
    low, high = np.triu_indices(len(PUBLISHED), 1)
    gap = np.array(PUBLISHED)[low] - np.array(PUBLISHED)[high]
    chance = outcome_chances(gap[:, None] + spread * node, design.nu) @ weight / weight.sum()
    counts = np.rint(chance * 100_000).astype(int)
    a, b, score = (
        np.repeat(np.broadcast_to(x, counts.shape), counts.reshape(-1))
        for x in (low, high, np.array([[1.0], [0.5], [0.0]]))
    )
    rating: np.ndarray = fit(make_games(a, b, score, 4)).rating
    return rating


def intervals(games, method, rounds):
    """For each kind of interval and level the ends of each contestant's."""
    fit, bootstrap = METHODS[method]
    arrays, units = (games.a, games.b, games.score, 4), {"cluster": games.cluster, "crossed": games.crossed}
    samples = bootstrap(*arrays, rounds=rounds, **units).samples
    fitted = fit(games)
    error = sandwich(games, fitted).standard_error
    for level in LEVELS:
        yield "percentiles", level, central_interval(samples, level)
        yield "bootstrap", level, central_interval(samples, level, games.units)
        yield "sandwich", level, normal_interval(fitted.rating, error, level)
        yield "t", level, normal_interval(fitted.rating, error, level, games.units)


def coverage(design, unit, studies, rounds, method):
    """The share of intervals that hold the truth, by kind and level, over studies and contestants."""
    inside: dict[tuple[str, float], list[np.ndarray]] = {}
    true = truth(design, method)
    for seed in range(studies):
        games, prompt, rater = simulate(design, seed)
        cluster = {"games": None, "raters": rater}.get(unit, prompt)
        crossed = rater if unit == "prompts-and-raters" else None
        drawn = make_games(games.a, games.b, games.score, 4, cluster=cluster, crossed=crossed)
        for kind, level, (low, high) in intervals(drawn, method, rounds):
            inside.setdefault((kind, level), []).append((low <= true) & (true <= high))
    return {key: float(np.mean(found)) for key, found in inside.items()}
