"""Sums and means of groups, such as the ratings of a prompt, and their quotients."""

from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import FloatArray, IntArray


def ratio(above: npt.ArrayLike, below: npt.ArrayLike) -> FloatArray:
    """The quotient, NaN where nothing above 0 is divided by."""
    quotient = np.full(np.shape(above), np.nan)
    np.divide(above, below, out=quotient, where=np.greater(below, 0))
    return quotient


def group_means(group: npt.NDArray[Any], value: npt.ArrayLike, groups: int) -> FloatArray:
    """The mean of each group, numbered from 0; NaN where there is nothing."""
    return ratio(np.bincount(group, value, groups), np.bincount(group, minlength=groups))


def centred(value: FloatArray, group: IntArray) -> FloatArray:
    """Each value less the mean of its group."""
    return np.asarray(value - group_means(group, value, int(group.max(initial=-1)) + 1)[group])


def added_up(values: FloatArray, group: IntArray) -> FloatArray:
    """The sum of each group, numbered from 0, along the last axis."""
    order = np.argsort(group, kind="stable")
    start = np.flatnonzero(np.diff(group[order], prepend=-1))
    found = values[..., order]
    return np.asarray(np.add.reduceat(found, start, axis=-1) if len(start) else found, dtype=np.float64)


def mean_of_known(values: FloatArray, axis: int) -> FloatArray:
    """The mean of what is not NaN along an axis; NaN where there is nothing."""
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0.0).sum(axis=axis), known.sum(axis=axis))
