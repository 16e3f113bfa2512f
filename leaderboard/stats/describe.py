"""Describing amounts: how many, how large, how spread."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Summary:
    """``count`` amounts that are known; None where a number needs more of them.

    ``sd`` divides by count - 1. Quartiles are interpolated linearly (type 7 of Hyndman and Fan 1996, as in
    NumPy and R).
    """

    count: int
    mean: float | None
    sd: float | None
    min: float | None
    q1: float | None
    median: float | None
    q3: float | None
    max: float | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, rounded to 1e-6."""
        return {
            name: round(value, 6) + 0.0 if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }


def describe(values: npt.ArrayLike) -> Summary:
    """Describe amounts; NaN stands for one that is not known and is left out."""
    given = np.asarray(values, dtype=np.float64).reshape(-1)
    known = given[~np.isnan(given)]
    if not len(known):
        return Summary(0, None, None, None, None, None, None, None)
    low, q1, median, q3, high = (float(each) for each in np.percentile(known, (0, 25, 50, 75, 100)))
    spread = float(known.std(ddof=1)) if len(known) > 1 else None
    return Summary(len(known), float(known.mean()), spread, low, q1, median, q3, high)
