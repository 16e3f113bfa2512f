"""Whether the longer of two completions wins.

Every comparison is entered in both orientations. Longer answers may win because they are longer, or because
better contestants write more.
"""

from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit

from leaderboard.stats.bias_results import LengthBin, LengthEffect
from leaderboard.stats.checks import FloatArray, IntArray, LengthMismatchError, ParameterError, ScoreError
from leaderboard.stats.clustered_means import prompt_numbers, share_over_prompts, sum_error, sums
from leaderboard.stats.intervals import student_reach

# On either side of 0, each with about as many comparisons.
BINS: Final = 5
UNIT: Final = "log-odds of winning per doubling"
# Log-odds per unit of x with a mean square of 1.
_STEEPEST: Final = 1e6


def length_effect(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    score: npt.ArrayLike,
    prompt: npt.ArrayLike,
    level: float = 95.0,
) -> LengthEffect:
    """The effect of size, from whole sizes, the points of the first, and prompts; raises a StatsError."""
    one, other, points = _checked(first, second, score)
    numbers = prompt_numbers(prompt, len(points))
    prompts = int(numbers.max(initial=-1)) + 1
    uneven = one != other
    longer = np.where(one > other, points, 1.0 - points)[uneven]  # the points of the larger
    difference, of = np.abs(one - other)[uneven], numbers[uneven]
    doublings = np.abs(np.log2((one + 1.0) / (other + 1.0)))[uneven]
    share = share_over_prompts(longer, of, level)
    slope, low, high, reason = slope_through_origin(doublings, longer, of, level)
    right = _bins(difference, longer, of, level)
    return LengthEffect(
        n=len(points),
        prompts=prompts,
        equal=int((~uneven).sum()),
        bins=[*map(mirrored, reversed(right)), *right],
        longer_wins=share.value,
        longer_low=share.low,
        longer_high=share.high,
        slope=slope,
        slope_low=low,
        slope_high=high,
        reason=reason,
        unit=UNIT,
    )


def mirrored(bin_: LengthBin) -> LengthBin:
    """The same comparisons seen from the other completion."""
    low, high = (None if end is None else 1.0 - end for end in (bin_["win_high"], bin_["win_low"]))
    return {
        "low": -bin_["high"],
        "high": -bin_["low"],
        "middle": -bin_["middle"],
        "n": bin_["n"],
        "win_rate": 1.0 - bin_["win_rate"],
        "win_low": low,
        "win_high": high,
    }


def slope_through_origin(
    x: FloatArray, points: FloatArray, prompt: IntArray, level: float = 95.0
) -> tuple[float | None, float | None, float | None, str | None]:
    """The slope of points on x without an intercept, its interval, and why there is none.

    Logistic regression with the sandwich over prompts and Student's t.
    """
    used = x != 0
    x, points, prompt = x[used], points[used], prompt[used]
    if not len(x):
        return None, None, None, "no two answers differ in size"
    toward = np.where(x > 0, points, 1.0 - points)
    if (toward == toward[0]).all() and toward[0] != 0.5:
        return None, None, None, f"the longer {'always' if toward[0] == 1.0 else 'never'} won"
    scale = float(np.sqrt((x * x).mean()))
    x = x / scale
    slope = float(brentq(lambda slope: x @ (points - expit(slope * x)), -_STEEPEST, _STEEPEST))
    expected = expit(slope * x)
    curvature = float((x * x * expected * (1.0 - expected)).sum())
    prompts = int((np.bincount(prompt) > 0).sum())
    if prompts < 2:
        return slope / scale, None, None, None
    pull = sums(prompt_numbers(prompt, len(x)), x * (points - expected))
    error = float(sum_error(pull)) / curvature
    reach = student_reach(prompts, level) * error
    return slope / scale, (slope - reach) / scale, (slope + reach) / scale, None


def _bins(difference: FloatArray, longer: FloatArray, prompt: IntArray, level: float) -> list[LengthBin]:
    if not len(difference):
        return []
    ends = np.unique(np.ceil(np.quantile(difference, np.arange(1, BINS + 1) / BINS)))
    place = np.searchsorted(ends, difference)
    found, before = [], 0
    for number, end in enumerate(ends.astype(np.int64).tolist()):
        inside = place == number
        if inside.any():
            share = share_over_prompts(longer[inside], prompt[inside], level)
            middle, rate = float(np.median(difference[inside])), float(longer[inside].mean())
            found.append(
                LengthBin(
                    low=before + 1,
                    high=end,
                    middle=middle,
                    n=share.n,
                    win_rate=rate,
                    win_low=share.low,
                    win_high=share.high,
                )
            )
            before = end
    return found


def _checked(
    first: npt.ArrayLike, second: npt.ArrayLike, score: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    one, other, points = (np.asarray(given, dtype=np.float64).reshape(-1) for given in (first, second, score))
    if not len(one) == len(other) == len(points):
        raise LengthMismatchError(f"there are {len(one)} and {len(other)} sizes but {len(points)} scores")
    if not ((points == 0.0) | (points == 0.5) | (points == 1.0)).all():
        raise ScoreError("every score must be 0, 0.5 or 1")
    for sizes in (one, other):
        if not (np.isfinite(sizes) & (sizes >= 0) & (sizes == np.floor(sizes))).all():
            raise ParameterError("every size must be a whole number from 0 on")
    return one, other, points
