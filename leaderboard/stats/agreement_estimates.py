"""Intervals of measures that lie between -1 and 1, from their values in rounds of a bootstrap over prompts.

Fisher's z = artanh(r) of such a measure is nearly normal and does not pile up at 1. The interval is z of the
estimate plus and minus Student's t times the standard deviation of z over the rounds. With k prompts t has
k - 1 degrees of freedom, and the deviation is multiplied by sqrt(k / (k - 1)), because a resample of k
prompts varies that much less than a fresh sample of k. Percentiles of the rounds, and BCa (Efron 1987), are
too narrow where prompts are few: see the simulated coverage in docs/methodology.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import stdtrit

from leaderboard.stats.agreement_opinions import Measure, resample
from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.intervals import bounds

CLOSEST: Final = 1e-6
"""A value of a round counts as at most this close to 1 or -1, where z would be infinite."""

LEAST_SHARE: Final = 0.5
"""There is no interval where fewer rounds than this share have a value at all."""


def z_intervals(
    estimate: FloatArray, samples: FloatArray, prompts: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper ends in the shape of ``estimate``; NaN where there is no interval.

    ``samples`` holds the rounds in one more dimension, NaN where undefined; ``prompts`` counts the prompts
    of each estimate (one shape with it, or broadcast to it); ``level`` is in percent. There is no interval
    from one prompt, where all rounds agree (as they do where raters agree on everything), or where most
    rounds are undefined.
    """
    known = ~np.isnan(samples)
    z = np.arctanh(np.clip(np.where(known, samples, 0.0), CLOSEST - 1.0, 1.0 - CLOSEST))
    rounds = np.maximum(known.sum(axis=-1), 1)
    mean = np.where(known, z, 0.0).sum(axis=-1) / rounds
    spread = np.where(known, z - mean[..., None], 0.0)
    units = np.broadcast_to(prompts, estimate.shape)
    freedom = np.maximum(units - 1.0, 1.0)
    variance = (spread**2).sum(axis=-1) / np.maximum(rounds - 1, 1) * (freedom + 1.0) / freedom
    _, upper = bounds(level)
    reach = stdtrit(freedom, upper / 100.0) * np.sqrt(variance)
    given = (units > 1) & (variance > 1e-18) & (rounds >= LEAST_SHARE * samples.shape[-1])
    given &= ~np.isnan(estimate)
    centre = np.arctanh(np.clip(np.where(given, estimate, 0.0), CLOSEST - 1.0, 1.0 - CLOSEST))
    low, high = (np.where(given, np.tanh(centre + sign * reach), np.nan) for sign in (-1.0, 1.0))
    return np.minimum(low, np.where(given, estimate, low)), np.maximum(high, np.where(given, estimate, high))


# Measures of agreement with their intervals.


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
