"""Verdicts and preferences of ratings as arrays, and the majority of verdicts."""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from arena.rules.scales import TIE_BAND, TIE_WIDTH
from leaderboard.stats.checks import BoolArray, FloatArray, IntArray, ParameterError

_ROUNDING: Final = 1e-9
_BAND: Final = re.compile(r"([0-9]{1,3})-([0-9]{1,3})")


@dataclass(frozen=True)
class TieBand:
    """Ratings ``low`` to ``high``, both included, count as ties instead of the usual ones."""

    low: int
    high: int

    @classmethod
    def parse(cls, text: str) -> "TieBand":
        """The band written as LOW-HIGH; raises ParameterError for anything else."""
        found = _BAND.fullmatch(text.strip())
        if not found or int(found[1]) > int(found[2]):
            raise ParameterError(f"tie-band is {text!r}; it must be LOW-HIGH, such as 3-6")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"

    @property
    def points(self) -> int:
        """The scale whose middle it lies about."""
        return self.low + self.high - 1

    def check(self, points: IntArray) -> None:
        """Raise ParameterError where the band does not lie evenly inside the scale of every rating."""
        scales = [int(size) for size in np.unique(points)]
        if len(scales) > 1:
            named = " and ".join(str(size) for size in scales)
            raise ParameterError(
                f"tie-band is {self}, but the ratings are on scales of {named} points; a band needs one scale"
            )
        for size in scales:
            if not 1 <= self.low <= self.high <= size:
                raise ParameterError(f"tie-band is {self}, which is outside the scale 1-{size}")
            if self.low + self.high != size + 1:
                raise ParameterError(
                    f"tie-band is {self}, which is not symmetric about the middle of the scale 1-{size}: "
                    f"low and high must add up to {size + 1}"
                )
            if (self.low, self.high) == (1, size):
                raise ParameterError(f"tie-band is {self}, the whole scale: every rating would be a tie")


def verdicts(
    rating: IntArray, points: IntArray, band: TieBand | None = None, *, ties: bool = True
) -> IntArray:
    """-1 where what is shown first is better, 1 where the second is, 0 for a tie.

    Without ``ties`` only the middle of an odd scale is one.
    """
    found: IntArray = np.sign(2 * rating - points - 1)
    if not ties:
        return found
    asked = {band.points: tuple(range(band.low, band.high + 1))} if band else {}
    for scale, tied in (TIE_BAND | asked).items():
        found[(points == scale) & np.isin(rating, tied)] = 0
    return found


# A preference lies on [-1, 1]: -1 is the strongest for the first, 1 for the second. Those of a rating and of
# its mirror image add up to 0, and ratings on different scales can be compared.


def preference(rating: npt.ArrayLike, points: npt.ArrayLike) -> FloatArray:
    """Ratings as preferences; they need not be whole."""
    given, scale = np.asarray(rating, dtype=np.float64), np.asarray(points, dtype=np.float64)
    return (2.0 * given - scale - 1.0) / (scale - 1.0)


def verdicts_of_means(mean: FloatArray, width: npt.ArrayLike = TIE_WIDTH) -> FloatArray:
    """-1, 0 or 1 for mean preferences, those up to ``width`` from the middle being ties; NaN stays."""
    return np.where(np.abs(mean) < np.asarray(width) + _ROUNDING, 0.0, np.sign(mean))


def commonest(counts: IntArray) -> tuple[IntArray, BoolArray]:
    """The column with the largest number of each row, and whether it is the only one, and above 0."""
    most = counts.max(axis=1, initial=0)
    alone = (counts == most[:, None]).sum(axis=1) == 1
    return counts.argmax(axis=1), (most > 0) & alone
