"""Intervals of measures, from their values in a bootstrap over prompts.

Fisher's z = artanh(r) plus and minus Student's t (k - 1 degrees of freedom for k prompts) times the deviation
of z over rounds times sqrt(k / (k - 1)); differences without z. Percentiles and BCa (Efron 1987) are too
narrow for few prompts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import stdtrit

from leaderboard.stats.agreement_opinions import Beside, Measure, distinct, resample
from leaderboard.stats.checks import BoolArray, FloatArray, IntArray
from leaderboard.stats.intervals import bounds
from leaderboard.stats.plain_values import Estimate, plain

# Values of rounds are kept this far from 1 and -1, where z is infinite.
CLOSEST: Final = 1e-6
# Fewer rounds than this share with a value give no interval.
LEAST_SHARE: Final = 0.5


def z_intervals(
    estimate: FloatArray, samples: FloatArray, prompts: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends, as of t_intervals, on Fisher's scale."""
    low, high = np.tanh(t_intervals(_z(estimate), _z(samples), prompts, level))
    return np.minimum(low, estimate), np.maximum(high, estimate)


def _z(values: FloatArray) -> FloatArray:
    return np.asarray(np.arctanh(np.clip(values, CLOSEST - 1.0, 1.0 - CLOSEST)))


def t_intervals(
    estimate: FloatArray, samples: FloatArray, prompts: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends in the shape of ``estimate``; NaN where there is no interval.

    ``samples`` has the rounds in one more dimension, NaN where undefined; ``prompts``, broadcast, counts the
    prompts of each estimate. One prompt, equal rounds and mostly undefined rounds give no interval.
    """
    known = ~np.isnan(samples)
    rounds = np.maximum(known.sum(axis=-1), 1)
    mean = np.where(known, samples, 0.0).sum(axis=-1) / rounds
    spread = np.where(known, samples - mean[..., None], 0.0)
    units = np.broadcast_to(prompts, estimate.shape)
    freedom = np.maximum(units - 1.0, 1.0)
    variance = (spread**2).sum(axis=-1) / np.maximum(rounds - 1, 1) * (freedom + 1.0) / freedom
    _, upper = bounds(level)
    reach = stdtrit(freedom, upper / 100.0) * np.sqrt(variance)
    given = (units > 1) & (variance > 1e-18) & (rounds >= LEAST_SHARE * samples.shape[-1])
    low, high = (np.where(given, estimate + sign * reach, np.nan) for sign in (-1.0, 1.0))
    return low, high


def is_alike(estimate: FloatArray, samples: FloatArray) -> BoolArray:
    """Which values all rounds give; none that is undefined in a round."""
    return np.asarray((np.abs(samples - estimate[..., None]) < CLOSEST).all(axis=-1))


@dataclass(frozen=True, eq=False)
class Wanted:
    """A measure with its exact values (rows, values)."""

    measure: Measure | Beside
    pair: IntArray  # of each thing it is about
    values: FloatArray
    shares: tuple[int, ...] = ()  # numbers of the values on [0, 1]; the others lie on [-1, 1]
    differences: tuple[int, ...] = ()  # numbers of the values on [-2, 2], whose intervals need no z

    @property
    def prompts(self) -> FloatArray:
        topics = self.measure.topics
        return topics.add_up(topics.category[distinct(topics.prompt[self.pair])])


@dataclass(frozen=True, eq=False)
class Estimates:
    """Values and the ends of their intervals, each (rows, values); NaN where there is none.

    ``alike`` marks values that every round gives, so that there is no interval.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray
    prompts: FloatArray
    alike: BoolArray

    def row(self, row: int) -> list[Estimate]:
        ends = np.stack((self.value[row], self.low[row], self.high[row]), axis=1)
        return [Estimate(*map(plain, each)) for each in ends]


def estimates(wanted: Sequence[Wanted], *, level: float, rounds: int, seed: int) -> list[Estimates]:
    """Every measure with intervals of ``level`` percent, from one bootstrap over prompts."""
    drawn = resample([each.measure for each in wanted], rounds, seed)
    return [_estimates(each, samples, level) for each, samples in zip(wanted, drawn, strict=True)]


def _estimates(wanted: Wanted, samples: FloatArray, level: float) -> Estimates:
    shares, differences, prompts = list(wanted.shares), list(wanted.differences), wanted.prompts
    value, rounds = wanted.values.copy(), samples.copy()
    value[:, shares], rounds[:, shares] = 2.0 * value[:, shares] - 1.0, 2.0 * rounds[:, shares] - 1.0
    low, high = z_intervals(value, rounds, prompts[:, None], level)
    for ends in (low, high):
        ends[:, shares] = (ends[:, shares] + 1.0) / 2.0
    plain = t_intervals(value[:, differences], rounds[:, differences], prompts[:, None], level)
    low[:, differences], high[:, differences] = np.clip(plain, -2.0, 2.0)
    return Estimates(wanted.values, low, high, prompts, is_alike(value, rounds))
