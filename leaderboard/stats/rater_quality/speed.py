"""How long a rater takes."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.rater_quality.shares import Share, wilson_share

FLOOR: Final = 3.0
"""Seconds in which nobody reads two answers."""


@dataclass(frozen=True)
class Speed:
    """Median and quartiles of the seconds that are known, and the share below ``floor``."""

    n: int
    median: float | None
    lower: float | None
    upper: float | None
    floor: float
    below: Share


def speed(seconds: npt.ArrayLike, floor: float = FLOOR, level: float = 95.0) -> Speed:
    """Of the seconds of each comparison; NaN where they are not known."""
    known = np.asarray(seconds, dtype=np.float64)
    known = known[np.isfinite(known)]
    if not len(known):
        return Speed(0, None, None, None, floor, Share(0, 0))
    lower, median, upper = (float(each) for each in np.percentile(known, (25, 50, 75)))
    below = wilson_share(int((known < floor).sum()), len(known), level)
    return Speed(len(known), median, lower, upper, floor, below)
