"""What a feature of answers is worth: how it goes with their quality, and how often it picks the better one.

The number of observations is that of answers or pairs; their prompts are drawn, so intervals are those of a
jackknife over prompts (Tukey 1958), with Student's t; over groups of prompts where there are many.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import FloatArray, IntArray, check_length, check_level, numbers
from leaderboard.stats.choices import COEFFICIENTS
from leaderboard.stats.clustered_means import (
    ClusteredMean,
    jackknife_error,
    mean_over_prompts,
    prompt_numbers,
    share_over_prompts,
)
from leaderboard.stats.coefficients import pearson, rank_coefficients_of
from leaderboard.stats.intervals import fisher_ends, student_reach
from leaderboard.stats.plain_values import UNDEFINED, Estimate, Result

FEWEST: Final = 3
"""Answers of which a correlation is told."""

MOST_GROUPS: Final = 100
BINS: Final = 10


@dataclass(frozen=True)
class FeatureCorrelation(Result):
    """Signed; Kendall's is tau-b. Ends of intervals are None where there are too few prompts.

    ``reason``: why there are no coefficients.
    """

    n: int
    prompts: int
    pearson: Estimate = UNDEFINED
    spearman: Estimate = UNDEFINED
    kendall: Estimate = UNDEFINED
    reason: str | None = None


def feature_correlation(
    feature: npt.ArrayLike, quality: npt.ArrayLike, prompt: npt.ArrayLike, level: float = 95.0
) -> FeatureCorrelation:
    """How a feature of answers goes with their quality; each answer has both. Raises a StatsError.

    Intervals are symmetric in Fisher's z, the inverse hyperbolic tangent of a coefficient.
    """
    x, y, prompts = _columns(feature, quality, prompt)
    count = int(prompts.max(initial=-1)) + 1
    if len(x) < FEWEST:
        return FeatureCorrelation(len(x), count, reason=f"fewer than {FEWEST} answers")
    for values, name in ((x, "the feature"), (y, "quality")):
        if np.ptp(values) == 0:
            return FeatureCorrelation(len(x), count, reason=f"{name} is the same for all answers")
    whole = _coefficients(x, y)
    groups = min(count, MOST_GROUPS)
    group = prompts % groups
    left_out = np.array([_coefficients(x[group != one], y[group != one]) for one in range(groups)])
    r, rho, tau = (
        Estimate(float(value), *_ends(value, others, check_level(level)))
        for value, others in zip(whole, left_out.T, strict=True)
    )
    return FeatureCorrelation(len(x), count, r, rho, tau)


def _columns(
    one: npt.ArrayLike, other: npt.ArrayLike, prompt: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, IntArray]:
    x, y = numbers("feature", one), numbers("quality", other)
    check_length("quality", y, "feature", len(x))
    return x, y, prompt_numbers(prompt, len(x))


def _coefficients(x: FloatArray, y: FloatArray) -> FloatArray:
    """NaN where one of them is constant."""
    if len(x) < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.full(len(COEFFICIENTS), np.nan)
    one, other = (each - each.mean() for each in (_scaled(x), _scaled(y)))
    return np.array([pearson(one @ other, one @ one, other @ other), *rank_coefficients_of(x, y)])


def _scaled(values: FloatArray) -> FloatArray:
    """With a mean of 0 and a largest distance of 1, so that squares of tiny or huge values are exact, too."""
    near: FloatArray = values / np.abs(values).max()
    near -= near.mean()
    near /= np.abs(near).max()
    return near


def _ends(value: float, left_out: FloatArray, level: float) -> tuple[float | None, float | None]:
    groups = len(left_out)
    if groups < 2 or not (np.abs([value, *left_out]) < 1.0).all():
        return None, None
    return fisher_ends(value, student_reach(groups, level) * jackknife_error(np.arctanh(left_out)))


@dataclass(frozen=True)
class PairAccuracy(Result):
    """How often the answer with the higher feature is the better one; 0.5 is chance.

    ``length`` is how often the longer one is, on the same pairs, and ``ahead`` the difference. Where both
    answers have the same feature, or length, that counts half. ``ties``: pairs that raters found equal, which
    count for nothing.
    """

    ties: int
    feature: ClusteredMean
    length: ClusteredMean
    ahead: ClusteredMean


def pair_accuracy(
    feature: npt.ArrayLike,
    length: npt.ArrayLike,
    preference: npt.ArrayLike,
    prompt: npt.ArrayLike,
    level: float = 95.0,
) -> PairAccuracy:
    """By the first answer's feature and length less the second's, and how much raters prefer the first."""
    x, better, prompts = _columns(feature, preference, prompt)
    longer = numbers("length", length)
    check_length("length", longer, "feature", len(x))
    told = better != 0
    prompts, side = prompts[told], np.sign(better[told])
    right = 0.5 + 0.5 * np.sign(x[told]) * side
    by_length = 0.5 + 0.5 * np.sign(longer[told]) * side
    return PairAccuracy(
        int(np.count_nonzero(~told)),
        share_over_prompts(right, prompts, level),
        share_over_prompts(by_length, prompts, level),
        mean_over_prompts(right - by_length, prompts, level),
    )


@dataclass(frozen=True)
class Bin(Result):
    """Answers whose feature lies between two values, and their mean quality."""

    low: float
    high: float
    quality: ClusteredMean


def by_decile(
    feature: npt.ArrayLike, quality: npt.ArrayLike, prompt: npt.ArrayLike, level: float = 95.0
) -> tuple[Bin, ...]:
    """Answers in ten parts of equal size by their feature, lowest first; equal values stay together."""
    return tuple(_bins(*_columns(feature, quality, prompt), level))


def _bins(x: FloatArray, y: FloatArray, prompt: IntArray, level: float) -> Iterator[Bin]:
    order = np.sort(x)
    edges = order[[len(x) * number // BINS for number in range(1, BINS)]] if len(x) else order
    number = np.searchsorted(np.unique(edges), x, side="right")
    for one in np.unique(number):
        own = number == one
        mean = mean_over_prompts(y[own], prompt[own], level)
        yield Bin(float(x[own].min()), float(x[own].max()), mean)
