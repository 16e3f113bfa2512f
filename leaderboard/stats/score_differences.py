"""Judges that give each completion a score: first minus second score, as shown."""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bias_results import ScoreDifferences
from leaderboard.stats.checks import FloatArray, LengthMismatchError, ParameterError
from leaderboard.stats.clustered_means import mean_over_prompts

MOST_BINS: Final = 41
FINEST: Final = 0.001  # no bin is narrower


def score_differences(
    difference: npt.ArrayLike, prompt: npt.ArrayLike, level: float = 95.0
) -> ScoreDifferences | None:
    """The histogram of first minus second score, NaN where there were none; None without any.

    Raises ParameterError for an infinite difference.
    """
    given, prompts = np.asarray(difference, dtype=np.float64).reshape(-1), np.asarray(prompt).reshape(-1)
    if len(given) != len(prompts):
        raise LengthMismatchError(f"there are {len(given)} differences but {len(prompts)} prompts")
    there = ~np.isnan(given)
    given = given[there]
    if not len(given):
        return None
    if not np.isfinite(given).all():
        raise ParameterError("a difference of scores is infinite")
    width = bin_width(given)
    # Half-way goes towards 0 on both sides.
    place = (np.sign(given) * np.ceil(np.round(np.abs(given) / width, 9) - 0.5)).astype(np.int64)
    reach = int(np.abs(place).max())
    mean = mean_over_prompts(given, prompts[there], level)
    return ScoreDifferences(
        n=len(given),
        prompts=mean.prompts,
        width=width,
        bins=[(step - 0.5) * width for step in range(-reach, reach + 1)],
        counts=np.bincount(place + reach, minlength=2 * reach + 1).tolist(),
        mean=mean.value or 0.0,
        mean_low=mean.low,
        mean_high=mean.high,
        first_higher=int((given > 0).sum()),
        equal=int((given == 0).sum()),
        second_higher=int((given < 0).sum()),
    )


def bin_width(difference: FloatArray) -> float:
    """1, 2 or 5 times a power of ten: as narrow as MOST_BINS allow, but 1 or more for whole differences."""
    largest = float(np.abs(difference).max())
    whole = bool((difference == np.round(difference)).all())
    if whole and 2 * largest + 1 <= MOST_BINS:
        return 1.0
    narrowest = max(2 * largest / (MOST_BINS - 1), FINEST)
    power = 10.0 ** math.floor(math.log10(narrowest))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= narrowest * (1 - 1e-9)))
