"""Intervals that hold at every look: by hand, against a direct computation, and by simulation."""

import numpy as np
import pytest
from scipy.stats import norm

from leaderboard.stats.confidence_sequences import every_look_reach, share_at_every_look


def test_the_reach_by_its_formula():
    # alpha = 0.05, t = t* = 100: rho² t = 2 log 20 + log(1 + 2 log 20) = 7.9362.
    mixed = 2 * np.log(20) + np.log(1 + 2 * np.log(20))
    assert mixed == pytest.approx(7.9362, abs=1e-4)
    reach = np.sqrt(2 * (mixed + 1) / mixed * np.log(np.sqrt(mixed + 1) / 0.05))
    assert reach == pytest.approx(3.0355, abs=1e-3)
    # Student's t with 99 degrees of freedom reaches a little farther; with very many units it would not.
    assert reach < every_look_reach(100, 95) < reach + 0.15
    assert every_look_reach(10, 95) > every_look_reach(30, 95) > every_look_reach(100, 95) > norm.ppf(0.975)
    assert every_look_reach(100, 99) > every_look_reach(100, 95) > every_look_reach(100, 80)


def capital(x, mean, alpha):
    """The larger of both hedged capitals after all bets, bet by bet."""
    up = down = 0.5
    estimate, variance, seen = 0.5, 0.25, []
    for t, value in enumerate(x, start=1):
        stake = np.sqrt(2 * np.log(2 / alpha) / (variance * t * np.log(1 + t)))
        up *= 1 + min(stake, 0.5 / mean) * (value - mean)
        down *= 1 - min(stake, 0.5 / (1 - mean)) * (value - mean)
        seen.append((value - (0.5 + sum(x[:t])) / (t + 1)) ** 2)
        variance = (0.25 + sum(seen)) / (t + 1)
        estimate = (0.5 + sum(x[:t])) / (t + 1)
    assert 0 < estimate < 1
    return max(up, down)


def test_the_ends_are_where_the_capital_reaches_one_in_alpha():
    x = np.random.default_rng(2).choice([0.0, 0.5, 1.0], size=60, p=[0.2, 0.3, 0.5])
    low, high = share_at_every_look(x, 95)
    for end, inwards in ((low, 1), (high, -1)):
        assert capital(x, end + inwards * 0.002, 0.05) < 20 < capital(x, end - inwards * 0.002, 0.05)


def test_nothing_said_is_everything_possible():
    assert share_at_every_look([], 95) == (0.0, 1.0)
    assert share_at_every_look([1.0], 95) == (0.0, 1.0)
    low, high = share_at_every_look([1.0] * 50, 95)
    assert 0.5 < low < 1.0
    assert high == 1.0


@pytest.mark.parametrize("chances", [(0.4, 0.2, 0.4), (0.02, 0.03, 0.95)])
def test_in_95_of_100_studies_every_look_holds(chances):
    generator, values = np.random.default_rng(1), np.array([0.0, 0.5, 1.0])
    mean, missed = values @ chances, 0
    for _ in range(40):
        x = generator.choice(values, size=200, p=chances)
        ends = [share_at_every_look(x[:look], 95) for look in (20, 40, 60, 100, 200)]
        missed += any(not low <= mean <= high for low, high in ends)
    assert missed <= 2
    low, high = ends[-1]
    assert high - low < 0.25
