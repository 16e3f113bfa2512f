"""Position bias: whether raters prefer what is shown first, whoever wrote it.

A rater without it gives rating r as often as its mirror image n + 1 - r. The histogram is tested against its
mirror image with Bowker's statistic (1948): the sum of (c_r - c_m)^2 / (c_r + c_m) over the mirrored pairs of
ratings that occur. Taken as chi-squared it assumes independent ratings. Ratings of one prompt are not, so the
test that is reported corrects it by Rao and Scott's second-order correction (1981) with the covariance of the
differences between prompts, in its F form (Rao and Thomas 1989). Two bounds hold where prompts say too little
about that covariance: no p smaller than for independent ratings, and none smaller than 2^(1 - prompts), the
smallest that flipping whole prompts could give.
"""

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bias.clustered import Estimate, mean_estimate, prompt_numbers, rounded, share_estimate
from leaderboard.stats.errors import RatingError
from leaderboard.stats.games import FloatArray
from leaderboard.stats.tie_bands import TIE_BAND

TEST: Final = "rao-scott"
"""The name of the reported test."""


@dataclass(frozen=True)
class Position:
    """How one kind of rater leans to what is shown first; None where a number does not exist.

    ``n`` ratings of ``prompts`` prompts; ``sided`` of them are not in the exact middle of the scale, and
    ``share_first`` is the share of these that prefers the first. ``mean`` is the mean rating,
    ``neutral_mean`` what it is without bias. ``chi2`` with ``df`` is Bowker's statistic; ``p`` takes ratings
    of one prompt together, ``p_independent`` does not.
    """

    n: int
    prompts: int
    sided: int
    share_first: float | None
    share_first_low: float | None
    share_first_high: float | None
    mean: float | None
    mean_low: float | None
    mean_high: float | None
    neutral_mean: float
    chi2: float | None
    df: int
    p: float | None
    p_independent: float | None
    test: str = TEST

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, rounded to 1e-6."""
        return rounded(asdict(self))


def position(rating: npt.ArrayLike, points: int, prompt: npt.ArrayLike, level: float = 95.0) -> Position:
    """Position statistics of ratings as shown, on one scale, with the prompt of each.

    Intervals are of the level in percent, over prompts. Raises RatingError for a rating outside the scale or
    a scale that does not exist, LengthMismatchError where the arrays differ in length.
    """
    counts = counts_by_prompt(rating, points, prompt)
    half, places = points // 2, np.arange(1.0, points + 1.0)
    first, second = counts[:, :half].sum(axis=1), counts[:, points - half :].sum(axis=1)
    share = share_estimate(first, first + second, level)
    mean = _inside(mean_estimate(counts @ places, counts.sum(axis=1), level), points)
    chi2, df, p, independent = mirror_test(counts)
    return Position(
        n=mean.n,
        prompts=mean.prompts,
        sided=share.n,
        share_first=share.value,
        share_first_low=share.low,
        share_first_high=share.high,
        mean=mean.value,
        mean_low=mean.low,
        mean_high=mean.high,
        neutral_mean=(points + 1) / 2,
        chi2=chi2,
        df=df,
        p=p,
        p_independent=independent,
    )


def counts_by_prompt(rating: npt.ArrayLike, points: int, prompt: npt.ArrayLike) -> FloatArray:
    """How often each prompt (row) was given each rating 1..points (column)."""
    if points not in TIE_BAND:
        raise RatingError(f"points is {points}; there are scales of 2, 3, 5 and 8 points")
    ratings = np.asarray(rating).reshape(-1)
    wrong = (ratings < 1) | (ratings > points) | (ratings != np.floor(ratings))
    if wrong.any():
        raise RatingError(f"rating {ratings[wrong][0]} is outside the scale 1-{points}")
    numbers = prompt_numbers(prompt, len(ratings))
    prompts = int(numbers.max(initial=-1)) + 1
    cells = numbers * points + ratings.astype(np.int64) - 1
    counted: FloatArray = np.bincount(cells, minlength=prompts * points).astype(np.float64)
    return counted.reshape(prompts, points)


def mirror_test(counts: FloatArray) -> tuple[float | None, int, float | None, float | None]:
    """Test the histogram against its mirror image: chi2, df, p over prompts, p of independent ratings.

    ``counts`` has a row for each prompt. All are None (and df 0) without a rating beside the middle; p is
    None for a single prompt.
    """
    from scipy.special import chdtrc

    half = counts.shape[1] // 2
    here, there = counts[:, :half], counts[:, ::-1][:, :half]
    both = (here + there).sum(axis=0)
    if not both.any():
        return None, 0, None, None
    difference = (here - there)[:, both > 0] / np.sqrt(both[both > 0])
    chi2, df = float((difference.sum(axis=0) ** 2).sum()), difference.shape[1]
    independent = float(chdtrc(df, chi2))
    return chi2, df, _clustered_p(chi2, difference[counts.sum(axis=1) > 0], independent), independent


def _clustered_p(chi2: float, difference: FloatArray, independent: float) -> float | None:
    """Rao and Scott's p of Bowker's statistic from each prompt's scaled differences, within its bounds."""
    from scipy.special import fdtrc

    prompts = len(difference)
    if prompts < 2:
        return None
    centred = difference - difference.mean(axis=0)
    covariance = centred.T @ centred * (prompts / (prompts - 1.0))
    trace = float(np.trace(covariance))
    least = max(independent, 2.0 ** (1 - prompts))
    if trace < 1e-12:
        return least
    df = trace**2 / float((covariance**2).sum())
    return max(least, float(fdtrc(df, df * (prompts - 1.0), chi2 / trace)))


def _inside(mean: Estimate, points: int) -> Estimate:
    """The same with its interval cut off at the ends of the scale."""
    if mean.low is None or mean.high is None:
        return mean
    return Estimate(mean.n, mean.prompts, mean.value, max(1.0, mean.low), min(float(points), mean.high))
