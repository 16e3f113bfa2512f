"""How many comparisons each way to choose pairs needs until intervals are equally narrow, by simulation.

    python -m tests.simulations.pairing
    python -m tests.simulations.pairing --studies 100 --only "20, uneven strengths"

Pairs are chosen by the arena's own functions (arena.rules.pairing, schedule). Who wins follows a
Bradley-Terry model with known strengths; prompts make no difference and there are no ties. In each simulated
study, balanced choice goes on for a set number of comparisons; the others go on until the mean width of the
95 % intervals is the same. Intervals are those of a Bradley-Terry fit with hardly any prior (deviation 10
logits), not those that chose the pairs. Beside the ratio stand how often intervals hold the true strength,
and the slope of the estimates on the true strengths: 1 would be unbiased.
"""

import argparse
import random
from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Final

import numpy as np

from arena.rating.worth import fit
from tests.simulations.pair_queue import Queue

ELO: Final = 400 / np.log(10)
EVERY: Final = 20
"""Comparisons between two looks at the intervals."""

CONTROL: Final = 0.2
"""The share that is chosen at random unless a study says otherwise."""

Choose = Callable[["Run"], int | None]


@dataclass(frozen=True)
class Setting:
    """A kind of study. few: how many of the contestants have only a fifth of the texts."""

    name: str
    contestants: int
    deviation: float
    prompts: int
    comparisons: int
    few: int = 0
    joins_late: bool = False


SETTINGS: Final = (
    Setting("5, even strengths", 5, 0.2, 200, 600),
    Setting("5, uneven strengths", 5, 1.5, 200, 600),
    Setting("20, even strengths", 20, 0.2, 30, 2000),
    Setting("20, uneven strengths", 20, 1.5, 30, 2000),
    Setting("20, five of them with few texts", 20, 0.7, 30, 2000, few=5),
    Setting("20, one joins after 1,500", 20, 0.7, 30, 500, joins_late=True),
)


class Run:
    """One simulated study while its pairs are chosen one after the other."""

    def __init__(self, setting, number):
        self.rng = random.Random(number)
        self._chance = np.random.default_rng(number)
        self._setting = setting
        self.strengths = self._chance.normal(0.0, setting.deviation, setting.contestants)
        self.queue = Queue(dict(self._texts()), setting.contestants)
        if setting.joins_late:
            apart = self.queue.b == setting.contestants - 1
            self.queue.free &= ~apart
            for _ in range(1500):
                self.play(self.queue.least_rated())
            self.queue.free |= apart

    def _texts(self):
        setting = self._setting
        for prompt in range(setting.prompts):
            yield prompt, range(setting.few if prompt % 5 else 0, setting.contestants)

    def play(self, place):
        assert place is not None
        a, b = self.queue.a[place], self.queue.b[place]
        a_wins = self._chance.random() < 1 / (1 + np.exp(self.strengths[b] - self.strengths[a]))
        self.queue.wins[(a, b) if a_wins else (b, a)] += 1
        self.queue.take(place)

    def intervals(self):
        """Estimates and half widths in logits, relative to the mean strength."""
        found = fit(self.queue.wins, deviation=10.0)
        centre = np.eye(len(self.strengths)) - 1 / len(self.strengths)
        variances = np.diag(centre @ found.covariance @ centre)
        return found.strengths - found.strengths.mean(), 1.96 * np.sqrt(variances)

    def width(self):
        """What is to become small: the mean interval, or that of who joined late."""
        _, half = self.intervals()
        return float(2 * ELO * (half[-1] if self._setting.joins_late else half.mean()))


def balanced(run):
    return run.queue.choose("balanced", run.rng)


def uniform(run):
    return run.queue.at_random(run.rng)


def adaptive_only(run):
    return run.queue.choose("adaptive", run.rng)


def with_control(run):
    return uniform(run) if run.rng.random() < CONTROL else adaptive_only(run)


@dataclass(frozen=True)
class Outcome:
    """comparisons needed; held: share of intervals with the true strength in them; slope of the estimates."""

    comparisons: int
    width: float
    held: float
    slope: float


def simulate(setting, number, choose, target):
    """Choose until intervals are as narrow as the target, or without one for as long as the setting says."""
    run, done = Run(setting, number), 0
    most = setting.comparisons if target is None else 4 * setting.comparisons
    while done < most and run.queue.free.any():
        run.play(choose(run))
        done += 1
        if target is not None and done % EVERY == 0 and run.width() <= target:
            break
    estimates, half = run.intervals()
    truth = run.strengths - run.strengths.mean()
    held = float((np.abs(estimates - truth) <= half).mean())
    slope = float(estimates @ truth / (truth @ truth))
    return Outcome(done, run.width(), held, slope)


WAYS: Final[dict[str, Choose]] = {
    "any pair": uniform,
    "adaptive": adaptive_only,
    f"adaptive, {CONTROL:.0%} control": with_control,
}


def report(setting, studies):
    base = [simulate(setting, number, balanced, None) for number in range(studies)]
    width = mean(one.width for one in base)
    yield _row(f"{setting.name} (±{width / 2:.0f})", "balanced", base, [1.0] * studies)
    for name, choose in WAYS.items():
        found = [simulate(setting, number, choose, one.width) for number, one in enumerate(base)]
        ratios = [one.comparisons / first.comparisons for one, first in zip(found, base, strict=True)]
        yield _row("", name, found, ratios)


def _row(setting, way, found, ratios):
    needed, held, slope = (
        mean(values)
        for values in zip(*((one.comparisons, one.held, one.slope) for one in found), strict=True)
    )
    error = stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else 0.0
    ratio = f"{mean(ratios):.2f} ± {1.96 * error:.2f}" if way != "balanced" else "1"
    return f"| {setting} | {way} | {needed:,.0f} | {ratio} | {held:.1%} | {slope:.3f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--studies", type=int, default=40, help="simulated studies of each kind")
    parser.add_argument("--only", choices=[setting.name for setting in SETTINGS])
    given = parser.parse_args()
    print("| contestants | choice | comparisons | / balanced | intervals that hold | slope |")
    print("|---|---|--:|--:|--:|--:|")
    for setting in SETTINGS:
        if given.only in (None, setting.name):
            for line in report(setting, given.studies):
                print(line, flush=True)


if __name__ == "__main__":
    main()
