"""How often the outlier test errs, and whom it finds: python -m tests.simulations.rater_outliers

Everything is simulated. Contestants have Bradley-Terry strengths with equal gaps, from which the votes of
honest raters are drawn; a clicker prefers either side by lot, a contrarian turns every honest vote round.
"""

import argparse

import numpy as np

from leaderboard.stats.rater_quality import outliers

CONTESTANTS = 6
RATERS = 40


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    rounds = parser.parse_args().rounds
    print(f"{RATERS} simulated raters, {CONTESTANTS} contestants, one dishonest rater, {rounds} rounds")
    print(f"{'gap':>5} {'votes':>5} {'test':<10} {'false alarms':>12} {'clicker':>8} {'contrarian':>10}")
    for gap in (0.25, 0.5, 1.0):
        for votes in (30, 100, 300):
            for oriented in (True, False):
                rates = [
                    flagged(gap, votes, kind, rounds, oriented=oriented) for kind in ("clicker", "contrarian")
                ]
                honest = np.mean([rate[0] for rate in rates])
                name = "oriented" if oriented else "published"
                print(
                    f"{gap:5.2f} {votes:5d} {name:<10} {honest:12.1%} {rates[0][1]:8.1%} {rates[1][1]:10.1%}"
                )


def flagged(gap, votes, kind, rounds, *, oriented):
    """The share of honest raters and of dishonest ones that the test flags."""
    rng = np.random.default_rng([round(100 * gap), votes, rounds])
    honest, dishonest = [], []
    for _ in range(rounds):
        first = rng.integers(0, CONTESTANTS, RATERS * votes)
        second = (first + rng.integers(1, CONTESTANTS, RATERS * votes)) % CONTESTANTS
        # By lot: the published test looks at pairs in the order of the contestants' numbers.
        strength = gap * rng.permutation(CONTESTANTS)
        won = rng.random(len(first)) < 1 / (1 + np.exp(strength[second] - strength[first]))
        rater = np.repeat(np.arange(RATERS), votes)
        own = rater == 0
        won[own] = rng.random(votes) < 0.5 if kind == "clicker" else ~won[own]
        found = outliers(rater, first, second, won, oriented=oriented)
        dishonest.append(found[0].flagged)
        honest += [each.flagged for pk, each in found.items() if pk]
    return float(np.mean(honest)), float(np.mean(dishonest))


if __name__ == "__main__":
    main()
