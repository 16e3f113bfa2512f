"""How far the order moves ratings, on the rating scale: from both orders of a pair, and from one.

Preferences lie on [-1, 1] on every scale, 1 being the strongest for what is shown second. One rater's
preferences for a pair in its two orders would cancel if the order did not matter; half their sum is how far
that pair is moved towards the second, whatever its answers are worth. Ratings in one order tell the same on
average where the order was drawn by lot, with the spread of the pairs added.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bias.clustered import mean_estimate, prompt_numbers, rounded, sums
from leaderboard.stats.bias.flips import both_orders
from leaderboard.stats.games import FloatArray, IntArray


@dataclass(frozen=True)
class Shift:
    """The mean of ``n`` preferences on [-1, 1], above 0 towards the second, with its interval over prompts.

    From both orders ``n`` counts pairs, from one order ratings. None where a number does not exist.
    """

    n: int
    prompts: int
    value: float | None
    low: float | None
    high: float | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, rounded to 1e-6."""
        return rounded(asdict(self))


def preference(rating: npt.ArrayLike, points: npt.ArrayLike) -> FloatArray:
    """Ratings as shown on [-1, 1]: 1 is the strongest preference for what is shown second."""
    given, scale = np.asarray(rating, dtype=np.float64), np.asarray(points, dtype=np.float64)
    found: FloatArray = (2.0 * given - scale - 1.0) / (scale - 1.0)
    return found


def shift_in_both_orders(
    pair: IntArray,
    rater: IntArray,
    prompt: IntArray,
    swapped: npt.NDArray[Any],
    rating: IntArray,
    points: IntArray,
    level: float = 95.0,
) -> Shift:
    """The shift of the pairs that a rater was asked about in both orders, the first rating in each."""
    one, other = both_orders(pair, rater, swapped.astype(bool))
    given = preference(rating, points)
    return shift((given[one] + given[other]) / 2.0, prompt[one], level)


def shift(preferences: FloatArray, prompt: IntArray, level: float = 95.0) -> Shift:
    """The mean of preferences as shown, one for each."""
    numbers = prompt_numbers(prompt, len(preferences))
    found = mean_estimate(sums(numbers, preferences), sums(numbers, np.ones(len(preferences))), level)
    low, high = (None if end is None else float(np.clip(end, -1.0, 1.0)) for end in (found.low, found.high))
    return Shift(found.n, found.prompts, found.value, low, high)
