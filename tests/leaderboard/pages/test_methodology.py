"""The worked numbers of docs/methodology.md are those the code computes."""

from pathlib import Path

import numpy as np
import pytest

from leaderboard.snapshots.presentation import interval_line
from leaderboard.stats import (
    METHODOLOGY,
    EloParameters,
    bootstrap_bradley_terry,
    bootstrap_elo,
    bradley_terry,
    central_interval,
    make_games,
    matrices,
    sequential_elo,
)
from leaderboard.stats.separation import rank_upper_bound
from tests.leaderboard.stats.coverage import CENTRED, coverage
from tests.leaderboard.stats.simulation import simulated_games

PAGE = " ".join((Path(__file__).parents[3] / "docs" / "methodology.md").read_text().split())


def half_width(samples, interval):
    low, high = central_interval(samples, interval)
    return ((high - low) / 2).mean()


def test_the_version():
    assert f"Methodology version: {METHODOLOGY}." in PAGE


def test_elo_game_by_game():
    one, two = (sequential_elo([0] * n, [1] * n, [1, 0][:n], 2) for n in (1, 2))
    expected = 1 / (1 + 10 ** ((one[1] - one[0]) / 400))
    assert f"A moves to {one[0]:.2f} and B to {one[1]:.2f}." in PAGE
    assert f"score {expected:.4f}, so A gives back {32 * expected:.2f} points" in PAGE
    assert f"stands at {two[0]:.2f}, B at {two[1]:.2f}." in PAGE


@pytest.mark.parametrize("prompts", [327, 3270])
def test_widths_of_intervals(prompts):
    games = simulated_games(prompts)
    arrays = (games.a, games.b, games.score, 4)
    elo, slow = bootstrap_elo(*arrays).samples, bootstrap_elo(*arrays, k=4).samples
    fitted = bootstrap_bradley_terry(*arrays).samples
    widths = half_width(elo, 90), half_width(elo, 95), half_width(slow, 90), half_width(fitted, 90)
    row = " | ".join([str(prompts), str(len(games)), *(f"{width:.1f}" for width in widths)])
    assert f"| {row} |" in PAGE


def test_games_to_settle():
    fast, slow = (EloParameters(k=k).settling_games for k in (32, 4))
    assert f"{fast:.0f} games per contestant for K=32, {slow:.0f} for K=4" in PAGE


@pytest.mark.parametrize("prompts", [10, 25, 50, 100, 327])
def test_spread_by_number_of_games(prompts):
    studies = [simulated_games(prompts, seed=seed) for seed in range(5)]
    elo = [
        np.ptp(np.median(bootstrap_elo(g.a, g.b, g.score, 4, k=4, rounds=200).samples, axis=0))
        for g in studies
    ]
    fitted = [np.ptp(bradley_terry(games).rating) for games in studies]
    assert f"| {prompts} | {3 * prompts} | {np.mean(elo):.0f} | {np.mean(fitted):.0f} |" in PAGE


def test_the_true_spread():
    assert f"The true distance is {np.ptp(CENTRED):.0f}." in PAGE


def test_bradley_terry_three_to_one():
    rating = bradley_terry(make_games([0] * 4, [1] * 4, [1, 1, 1, 0], 2)).rating
    assert (
        f"400 × log10(3) = {rating[0] - rating[1]:.2f} points: A stands at {rating[0]:.2f} and B at" in PAGE
    )
    assert f"and B at {rating[1]:.2f}." in PAGE


def test_one_game_only():
    fit = bradley_terry(make_games([0], [1], [1], 2))
    assert fit.prior
    assert f"A stands at {fit.rating[0]:.2f} and B at {fit.rating[1]:.2f}. The drawn game" in PAGE


def test_coverage():
    simple = [100 * coverage(by_prompt=by_prompt) for by_prompt in (False, True)]
    hard = [100 * coverage(by_prompt=by_prompt, shared=True) for by_prompt in (False, True)]
    assert (
        f"in {simple[0]:.1f} % of the cases resampling games and {simple[1]:.1f} % resampling prompts" in PAGE
    )
    assert f"in only {hard[0]:.1f} % resampling games" in PAGE
    assert f"and in {hard[1]:.1f} % resampling prompts" in PAGE


def test_best_ranks():
    best = rank_upper_bound([90, 85, 60], [110, 95, 80], [0, 0, 0])
    assert f"best ranks are {best[0]}, {best[1]} and {best[2]}." in PAGE


def test_the_words_beside_an_interval():
    used = {"rounds": 1000, "interval": 95.0, "intervals": "bootstrap", "resample": "prompts", "units": 19}
    assert f'"{interval_line(used)}"' in PAGE


def test_a_row_of_the_matrices():
    found = matrices(make_games([0] * 4, [1] * 4, [1, 1, 0, 0.5], 2))
    assert f"row A shows {found.wins[0, 1]} wins, {found.ties[0, 1]} tie, {found.games[0, 1]} games" in PAGE
    assert f"a win rate of {found.win_rate[0, 1]:.3f} against B" in PAGE
    assert f"4 games and {found.win_rate[1, 0]:.3f}." in PAGE


def test_prompts_and_raters_drawn_together():
    """Shares of 16,000 rounds, whose standard error is at most 0.004."""
    cells = {"cluster": [0, 0, 1, 1], "crossed": [0, 1, 0, 1]}
    samples = bootstrap_bradley_terry([0] * 4, [1] * 4, [1, 1, 1, 0], 2, rounds=16_000, **cells).samples[:, 0]
    values, often = np.unique(np.round(samples, 2), return_counts=True)
    assert np.round(16 * often / 16_000, 1) == pytest.approx([1, 4, 4, 7], abs=0.21)
    assert "none of the four games in 7/16 of the rounds, one in 4/16, two in 4/16 and all" in PAGE
    assert f"where it wins one, A stands at {values[2]:.2f}." in PAGE
