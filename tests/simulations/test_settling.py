"""How far Elo has come after the games its warning asks for, by simulation."""

import numpy as np
import pytest

from leaderboard.stats.elo import EloParameters

RUNS = 400


def share_of_the_spread(k, contestants, spread, games_each):
    """Mean share of the true distances that one pass of Elo shows after so many games per contestant."""
    generator = np.random.default_rng(0)
    true = np.linspace(spread / 2, -spread / 2, contestants)
    rating, run = np.zeros((RUNS, contestants)), np.arange(RUNS)
    for _ in range(round(games_each * contestants / 2)):
        a = generator.integers(0, contestants, RUNS)
        b = (a + generator.integers(1, contestants, RUNS)) % contestants
        won = generator.random(RUNS) < 1 / (1 + 10 ** ((true[b] - true[a]) / 400))
        gain = k * (won - 1 / (1 + 10 ** ((rating[run, b] - rating[run, a]) / 400)))
        rating[run, a] += gain
        rating[run, b] -= gain
    return float((rating @ true / (true @ true)).mean())


@pytest.mark.parametrize("spread", [100.0, 400.0, 800.0])
@pytest.mark.parametrize("contestants", [4, 20])
@pytest.mark.parametrize("k", [32.0, 16.0])
def test_the_games_asked_for(k, contestants, spread):
    needed = EloParameters(k=k).settling_games
    few, asked, twice = (
        share_of_the_spread(k, contestants, spread, part * needed) for part in (0.25, 1.0, 2.0)
    )
    print(
        f"\nK={k:g}, {contestants} contestants over {spread:g} points, share of the distances shown: "
        f"{100 * few:.0f} % after {needed / 4:.0f} games each, {100 * asked:.0f} % after {needed:.0f}, "
        f"{100 * twice:.0f} % after {2 * needed:.0f}"
    )
    assert few < 0.8
    assert asked > (0.85 if spread <= 400 else 0.7)
    assert twice > 0.88
