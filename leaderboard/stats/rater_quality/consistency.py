"""Whether a rater says the same about a pair that comes again, in the other order."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.errors import LengthMismatchError
from leaderboard.stats.rater_quality.shares import Share, wilson_share


@dataclass(frozen=True)
class Consistency:
    """``same``: how often the verdict was the same; ``apart``: how many points lie between, on average."""

    same: Share
    apart: float | None


def consistency(
    before: npt.ArrayLike, again: npt.ArrayLike, points: npt.ArrayLike, level: float = 95.0
) -> Consistency:
    """Ratings of the same pairs on scales of ``points``, both in terms of the pair (mirrored where swapped).

    A verdict is first, tie (4 and 5 of 8, the middle of 3 and 5) or second.
    """
    one, other, size = (np.asarray(each, dtype=np.int64) for each in (before, again, points))
    if not len(one) == len(other) == len(size):
        raise LengthMismatchError("before, again and points must have the same length")
    if not len(one):
        return Consistency(Share(0, 0), None)
    same = int((verdicts(one, size) == verdicts(other, size)).sum())
    return Consistency(wilson_share(same, len(one), level), float(np.abs(one - other).mean()))


def verdicts(rating: npt.NDArray[np.int64], points: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """-1 where the first is better, 0 for a tie, 1 for the second; 4 and 5 of 8 are ties."""
    centred = 2 * rating - points - 1
    return np.where((np.abs(centred) <= 1) & (points > 2), 0, np.sign(centred))
