"""Means and shares with intervals where observations of one prompt are not independent.

The variance is the jackknife's over prompts (Tukey 1958), with Student's t. Shares get Wilson's interval
(1927) at the effective number of observations p(1 - p) / variance (cf. Korn and Graubard 1998).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import FloatArray, IntArray, LengthMismatchError
from leaderboard.stats.intervals import fisher_ends, student_reach
from leaderboard.stats.plain_values import Estimate, Result
from leaderboard.stats.shares import wilson

# A smaller standard error is rounding: prompts cancel exactly where both orders were asked.
_NO_ERROR: Final = 1e-9
_SPARSE: Final = 8


@dataclass(frozen=True)
class ClusteredMean(Result):
    """A number with its interval, None where undefined, from ``n`` observations of ``prompts`` prompts."""

    n: int
    prompts: int
    value: float | None
    low: float | None = None
    high: float | None = None

    def clipped(self, least: float, most: float) -> "ClusteredMean":
        """The estimate with the ends of its interval inside these bounds."""
        if self.low is None or self.high is None:
            return self
        return replace(self, low=max(least, self.low), high=min(most, self.high))

    @property
    def estimate(self) -> Estimate:
        return Estimate(self.value, self.low, self.high)


def prompt_numbers(prompt: npt.ArrayLike, length: int) -> IntArray:
    """Prompts numbered from 0 without gaps; raises LengthMismatchError unless there are ``length``."""
    labels = np.asarray(prompt).reshape(-1)
    if len(labels) != length:
        raise LengthMismatchError(f"there are {length} observations but {len(labels)} prompts")
    if labels.dtype.kind in "iu" and length:
        low, high = int(labels.min()), int(labels.max())
        if high - low < _SPARSE * length:  # ids lie close together: counting them is faster than sorting
            there = np.bincount(labels - low) > 0
            return np.asarray((np.cumsum(there) - 1)[labels - low].astype(np.int64))
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def sums(numbers: IntArray, values: npt.ArrayLike | None = None) -> FloatArray:
    """The sum of each prompt, or how often it comes."""
    return np.bincount(numbers, weights=values).astype(np.float64)


def mean_over_prompts(values: npt.ArrayLike, prompt: npt.ArrayLike, level: float = 95.0) -> ClusteredMean:
    """The mean of observations of these prompts, as of ``mean_estimate``."""
    number = prompt_numbers(prompt, np.size(values))
    return mean_estimate(sums(number, values), sums(number), level)


def share_over_prompts(
    won: npt.ArrayLike, prompt: npt.ArrayLike, level: float = 95.0, among: npt.ArrayLike | None = None
) -> ClusteredMean:
    """The share of observations of these prompts, ``among`` some where not all count."""
    number = prompt_numbers(prompt, np.size(won))
    return share_estimate(sums(number, won), sums(number, among), level)


def sum_error(of_units: FloatArray) -> Any:
    """The standard error of a sum over independent units, from what each adds (Liang and Zeger 1986)."""
    units = len(of_units)
    return np.sqrt(units / (units - 1.0) * (of_units**2).sum(axis=0))


def mean_estimate(total: FloatArray, count: FloatArray, level: float) -> ClusteredMean:
    """The mean; without an interval for a single prompt or equal means of all prompts."""
    value, error, n, prompts = _jackknife(total, count)
    if value is None or error is None or error < _NO_ERROR:
        return ClusteredMean(n, prompts, value)
    reach = student_reach(prompts, level) * error
    return ClusteredMean(n, prompts, value, value - reach, value + reach)


def share_estimate(won: FloatArray, count: FloatArray, level: float) -> ClusteredMean:
    """The share of points won; without an interval for a single prompt."""
    return mean_of_shares([(won, count)], level)


def mean_of_shares(parts: Sequence[tuple[FloatArray, FloatArray]], level: float) -> ClusteredMean:
    """The unweighted mean of the shares of several sets of prompts, each as points won and their number.

    Undefined where a set is empty, and without an interval where one has a single prompt.
    """
    found = [_jackknife(won, count) for won, count in parts]
    n, prompts = sum(each[2] for each in found), sum(each[3] for each in found)
    shares, errors = (np.array([each[place] for each in found], dtype=np.float64) for place in (0, 1))
    value, error = float(shares.mean()), float(np.sqrt((errors**2).sum())) / len(found)
    if math.isnan(error):
        return ClusteredMean(n, prompts, None if math.isnan(value) else value)
    spread = value * (1.0 - value)
    effective = min(float(n), spread / max(error, _NO_ERROR) ** 2) if spread > 0 else float(prompts)
    low, high = wilson(value, effective, student_reach(prompts, level))
    return ClusteredMean(n, prompts, value, low, high)


def mean_of_coefficients(
    parts: Sequence[FloatArray], value: Callable[[FloatArray], FloatArray], level: float
) -> ClusteredMean:
    """The unweighted mean of a coefficient of several sets of prompts, each as sums (kinds, prompts).

    ``value`` makes coefficients (n,) from -1 to 1 of sums (kinds, n), NaN where undefined. The interval is
    Student's t on Fisher's scale; there is none at 1 and -1, nor where a set is undefined without a prompt.
    """
    found = [_coefficient(sums, value) for sums in parts]
    mean = float(np.mean([each[0] for each in found]))
    error = float(np.sqrt(np.sum([each[1] ** 2 for each in found]))) / len(found)
    n, prompts = (sum(each[place] for each in found) for place in (2, 3))
    if math.isnan(error) or error < _NO_ERROR or abs(mean) > 1.0 - _NO_ERROR:
        return ClusteredMean(int(n), int(prompts), None if math.isnan(mean) else mean)
    reach = student_reach(int(prompts), level) * error / (1.0 - mean**2)
    return ClusteredMean(int(n), int(prompts), mean, *fisher_ends(mean, reach))


def _coefficient(
    sums: FloatArray, value: Callable[[FloatArray], FloatArray]
) -> tuple[float, float, float, int]:
    """The coefficient, its standard error, the sum of the first kind, and prompts."""
    own = sums[:, sums[0] > 0]
    total = own.sum(axis=1, keepdims=True)
    without = value(total - own)
    error = jackknife_error(without) if len(without) > 1 else math.nan
    return float(value(total)[0]), error, float(total[0, 0]), own.shape[1]


def _jackknife(total: FloatArray, count: FloatArray) -> tuple[float | None, float | None, int, int]:
    """The ratio of the sums, its standard error (None below two prompts), observations, prompts."""
    present = count > 0
    total, count = total[present], count[present]
    n, prompts = round(float(count.sum())), len(count)
    if not prompts:
        return None, None, 0, 0
    value = float(total.sum() / count.sum())
    if prompts < 2:
        return value, None, n, prompts
    left_out = (total.sum() - total) / (count.sum() - count)
    return value, jackknife_error(left_out), n, prompts


def jackknife_error(left_out: FloatArray) -> float:
    """The standard error of a number, from what it is without each prompt in turn."""
    prompts = len(left_out)
    return float(np.sqrt((prompts - 1.0) / prompts * ((left_out - left_out.mean()) ** 2).sum()))
