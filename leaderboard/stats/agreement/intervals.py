"""Intervals of measures that lie between -1 and 1, from their values in rounds of a bootstrap over prompts.

Fisher's z = artanh(r) of such a measure is nearly normal and does not pile up at 1. The interval is z of the
estimate plus and minus Student's t times the standard deviation of z over the rounds. With k prompts t has
k - 1 degrees of freedom, and the deviation is multiplied by sqrt(k / (k - 1)), because a resample of k
prompts varies that much less than a fresh sample of k. Percentiles of the rounds, and BCa (Efron 1987), are
too narrow where prompts are few: see the simulated coverage in docs/rating.md.
"""

from typing import Final

import numpy as np

from leaderboard.stats.intervals import bounds
from leaderboard.stats.plain_values import FloatArray

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
    from scipy.special import stdtrit

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
