"""Whether what is said with more confidence is right more often, and as often as it says.

The expected calibration error is the mean over BINS equal parts of [0, 1] of the distance between the mean
confidence and the share that is right, weighed by their numbers (Naeini et al. 2015; Guo et al. 2017, whose
parts are closed above). It is above 0 by chance alone, the more so the fewer there are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import FloatArray, IntArray, ParameterError, check_length, numbers
from leaderboard.stats.clustered_means import ClusteredMean, prompt_numbers, share_over_prompts
from leaderboard.stats.plain_values import Result

BINS: Final = 10


@dataclass(frozen=True)
class ConfidenceBin(Result):
    """What is said with a confidence above ``low`` up to ``high``: its mean, and how much of it is right."""

    low: float
    high: float
    confidence: float
    right: ClusteredMean


@dataclass(frozen=True)
class Calibration(Result):
    """``bins``: those that hold something. ``error``: the expected calibration error."""

    n: int
    confidence: float | None
    error: float | None
    bins: tuple[ConfidenceBin, ...]


def calibration(
    confidence: npt.ArrayLike, right: npt.ArrayLike, prompt: npt.ArrayLike, level: float = 95.0
) -> Calibration:
    """``confidence`` from 0 to 1; ``right`` is 1 or 0. Raises a StatsError."""
    said, is_right = _columns(confidence, right)
    if ((said < 0) | (said > 1)).any():
        raise ParameterError("confidence must be from 0 to 1")
    bins = tuple(_bins(said, is_right, prompt_numbers(prompt, len(said)), level))
    if not bins:
        return Calibration(0, None, None, ())
    apart = [each.right.n * abs(each.confidence - (each.right.value or 0.0)) for each in bins]
    return Calibration(len(said), float(said.mean()), sum(apart) / len(said), bins)


def _bins(said: FloatArray, right: FloatArray, prompt: IntArray, level: float) -> Iterator[ConfidenceBin]:
    number = np.clip(np.ceil((said * BINS).round(9)).astype(np.int64) - 1, 0, BINS - 1)
    for one in np.unique(number).tolist():
        own = number == one
        share = share_over_prompts(right[own], prompt[own], level)
        yield ConfidenceBin(one / BINS, (one + 1) / BINS, float(said[own].mean()), share)


def tells_apart(confidence: npt.ArrayLike, right: npt.ArrayLike) -> float | None:
    """How often what is right is said with more confidence than what is wrong, equal ones counting half.

    The area under the ROC curve; 0.5 is chance. None where all is right, or wrong. Any numbers will do.
    """
    said, is_right = _columns(confidence, right)
    good, bad = said[is_right > 0], np.sort(said[is_right == 0])
    if not len(good) or not len(bad):
        return None
    below, up_to = (np.searchsorted(bad, good, side=side) for side in ("left", "right"))
    return float((below + up_to).mean() / (2 * len(bad)))


def _columns(confidence: npt.ArrayLike, right: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    said, is_right = numbers("confidence", confidence), numbers("right", right)
    check_length("right", is_right, "confidence", len(said))
    return said, is_right
