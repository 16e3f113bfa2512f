"""Measures of agreement with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.stats.agreement.intervals import z_intervals
from leaderboard.stats.agreement.prompts import Measure, resample
from leaderboard.stats.plain_values import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Wanted:
    """A measure that wants intervals: its values of shape (rows, values), and the pairs it is about.

    ``values`` are its own where the measure puts things on a grid. ``shares`` are the numbers of those values
    that lie on [0, 1] and not on [-1, 1].
    """

    measure: Measure
    pair: IntArray
    values: FloatArray
    shares: tuple[int, ...] = ()

    @property
    def prompts(self) -> FloatArray:
        """How many prompts each row is about."""
        topics = self.measure.topics
        return topics.add_up(topics.category[np.unique(topics.prompt[self.pair])])


@dataclass(frozen=True, eq=False)
class Estimates:
    """Values and the ends of their intervals, each of shape (rows, values); NaN where there is none."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    prompts: FloatArray


def estimates(wanted: Sequence[Wanted], *, level: float, rounds: int, seed: int) -> list[Estimates]:
    """Every measure with intervals of ``level`` percent, from one bootstrap over prompts."""
    drawn = resample([each.measure for each in wanted], rounds, seed)
    return [_estimates(each, samples, level) for each, samples in zip(wanted, drawn, strict=True)]


def _estimates(wanted: Wanted, samples: FloatArray, level: float) -> Estimates:
    shares = list(wanted.shares)
    value, rounds = wanted.values.copy(), samples.copy()
    value[:, shares], rounds[:, shares] = 2.0 * value[:, shares] - 1.0, 2.0 * rounds[:, shares] - 1.0
    low, high = z_intervals(value, rounds, wanted.prompts[:, None], level)
    for ends in (low, high):
        ends[:, shares] = (ends[:, shares] + 1.0) / 2.0
    return Estimates(wanted.values, low, high, wanted.prompts)
