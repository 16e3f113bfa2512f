"""p-values of several tests, adjusted so that each may be held against the level of all."""

import numpy as np

from leaderboard.stats.checks import FloatArray, IntArray


def holm(p: FloatArray) -> FloatArray:
    """Holm's step-down procedure (1979): the chance of any false alarm stays below the level."""
    order = np.argsort(p).astype(np.int64)
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _placed(steps, order)


def benjamini_yekutieli(p: FloatArray) -> FloatArray:
    """Benjamini and Yekutieli (2001): the share of false alarms stays below it, however tests depend."""
    order, ranks = np.argsort(p).astype(np.int64), np.arange(1, len(p) + 1)
    steps = p[order] * len(p) * (1.0 / ranks).sum() / ranks
    return _placed(np.minimum.accumulate(steps[::-1])[::-1], order)


def _placed(steps: FloatArray, order: IntArray) -> FloatArray:
    found = np.empty_like(steps)
    found[order] = np.minimum(steps, 1.0)
    return found
