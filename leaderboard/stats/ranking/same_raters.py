"""Whether intervals over prompts are for other prompts and the same raters, so that readers must be told."""

import numpy as np

from leaderboard.stats.games import FEWEST_CROSSED
from leaderboard.stats.ratings import Ratings


def same_raters(ratings: Ratings) -> int | None:
    """The number of raters, where they are fewer than the prompts they share out among themselves.

    Resampling prompts leaves out what raters of other taste would have said. Where tastes differ among raters
    as much as among prompts and both are equally busy, that is as much as the interval shows if there are as
    many raters as prompts, and more if there are fewer. Raters who rated little count for less: n ratings are
    as if from n² / Σ nᵣ² equally busy raters, nᵣ from rater r (Kish 1965), and likewise for prompts. None
    where the raters are more, too few to be resampled, or not known.
    """
    if ratings.rater is None or ratings.prompt is None or not len(ratings):
        return None
    raters = int(ratings.rater.max()) + 1
    if raters < FEWEST_CROSSED or _equally_busy(ratings.rater) >= _equally_busy(ratings.prompt):
        return None
    return raters


def _equally_busy(number: np.ndarray) -> float:
    ratings = np.bincount(number).astype(np.float64)
    return float(ratings.sum() ** 2 / (ratings @ ratings))
