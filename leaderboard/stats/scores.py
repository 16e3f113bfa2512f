"""Scores of single texts: how each rater scores each contestant, and whether length or time moves a score.

Prompts are the units of every interval (the jackknife's over prompts).
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    ParameterError,
    ScoreError,
    check_length,
    dense_labels,
    number_column,
    numbers,
)
from leaderboard.stats.clustered_means import (
    ClusteredMean,
    jackknife_error,
    mean_over_prompts,
    prompt_numbers,
    sums,
)
from leaderboard.stats.coefficients import pearson
from leaderboard.stats.intervals import student_reach
from leaderboard.stats.plain_values import Estimate, Result, plain
from leaderboard.stats.score_differences import MOST_BINS
from leaderboard.stats.sums import centred, group_means
from leaderboard.stats.two_way import residuals

BINS: Final = 20
"""Of a distribution whose scores are no whole numbers, or too many."""
_NOTHING: Final = 1e-9  # what is smaller is rounding


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores as parallel arrays: one of each rater of each contestant's text; NaN where there is none."""

    rater: IntArray
    contestant: IntArray
    prompt: IntArray
    value: FloatArray
    lowest: float  # of the scale
    highest: float
    whole: bool  # whether its scores are whole numbers, few enough to count each
    turn: IntArray  # of the text; 0 where all of it was scored

    def __len__(self) -> int:
        return len(self.value)

    def only(self, chosen: npt.NDArray[Any]) -> "Scores":
        """Some of the scores; their distribution has the same bins."""
        who, whose, what = self.rater[chosen], self.contestant[chosen], self.prompt[chosen]
        value, turn = self.value[chosen], self.turn[chosen]
        return Scores(who, whose, what, value, self.lowest, self.highest, self.whole, turn)

    @property
    def is_scored(self) -> BoolArray:
        return ~np.isnan(self.value)

    @property
    def scored(self) -> "Scores":
        return self.only(self.is_scored)

    @property
    def edges(self) -> FloatArray:
        """Of the bins; whole numbers lie in the middle of theirs."""
        if self.whole:
            return np.arange(self.lowest - 0.5, self.highest + 1.0)
        return np.linspace(self.lowest, self.highest, BINS + 1)


def make_scores(
    rater: npt.ArrayLike,
    contestant: npt.ArrayLike,
    prompt: npt.ArrayLike,
    value: npt.ArrayLike,
    *,
    lowest: float,
    highest: float,
    turn: npt.ArrayLike = 0,
) -> Scores:
    """Scores on a scale; all but values are whole numbers from 0. Raises a StatsError."""
    if not -np.inf < lowest < highest < np.inf:
        raise ParameterError(
            f"the scale is {lowest} to {highest}; the lowest score must be below the highest"
        )
    given = numbers("value", value)
    wrong = (given < lowest) | (given > highest)
    if wrong.any():
        raise ScoreError(f"score {given[wrong][0]:g} is outside the scale {lowest:g} to {highest:g}")
    known = given[~np.isnan(given)]
    ends = float(lowest).is_integer() and float(highest).is_integer()
    return Scores(
        number_column("rater", rater, given),
        number_column("contestant", contestant, given),
        number_column("prompt", prompt, given),
        given,
        float(lowest),
        float(highest),
        ends and highest - lowest < MOST_BINS and bool((known == np.floor(known)).all()),
        number_column("turn", turn, given),
    )


@dataclass(frozen=True)
class ScoreSummary(Result):
    """``n`` scores of texts to ``prompts`` prompts, and ``unscored`` ones without a number.

    ``counts``: scores in bins between ``edges``.
    """

    n: int
    prompts: int
    unscored: int
    mean: Estimate
    sd: float | None  # divides by n - 1
    edges: tuple[float, ...]
    counts: tuple[int, ...]


def score_summary(scores: Scores, level: float = 95.0) -> ScoreSummary:
    """The scores taken together: those of one rater of one contestant, or any."""
    own = scores.scored
    mean = mean_over_prompts(own.value, own.prompt, level).clipped(scores.lowest, scores.highest)
    counts, edges = np.histogram(own.value, bins=scores.edges)
    return ScoreSummary(
        n=len(own),
        prompts=mean.prompts,
        unscored=len(scores) - len(own),
        mean=mean.estimate,
        sd=float(own.value.std(ddof=1)) if len(own) > 1 else None,
        edges=tuple(edges.tolist()),
        counts=tuple(counts.tolist()),
    )


def score_difference(one: Scores, other: Scores, level: float = 95.0) -> ClusteredMean:
    """How much higher the one scored than the other on the prompts of both; each prompt weighs the same.

    They may be two contestants' scores by one rater, or two raters' scores of the same texts.
    """
    size = 1 + max(each.prompt.max(initial=0) for each in (one, other))
    means = [group_means(own.prompt, own.value, size) for own in (one.scored, other.scored)]
    lead = means[0] - means[1]
    shared = np.flatnonzero(~np.isnan(lead))
    return mean_over_prompts(lead[shared], shared, level)


@dataclass(frozen=True)
class ScoreSlope(Result):
    """A straight line through scores, ``n`` of which tell its slope; None where nothing differs."""

    n: int
    prompts: int
    correlation: float | None
    slope: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class ScoreLength(Result):
    """Scores and log2(length + 1), of the texts that one rater scored for one prompt.

    ``alike``: without what contestants score and write on average. Slopes are points per doubling.
    """

    within_prompt: ScoreSlope
    alike: ScoreSlope


def score_length(scores: Scores, length: npt.ArrayLike, level: float = 95.0) -> ScoreLength:
    """The effect of length, NaN where it is not known; raises a StatsError.

    Within a prompt, longer texts may score higher because better contestants write more; alike contestants
    leave that out.
    """
    size = numbers("length", length)
    check_length("length", size, "value", len(scores))
    if (size < 0).any():
        raise ParameterError("every length must be a number from 0 on")
    known = scores.is_scored & np.isfinite(size)
    own, doublings = scores.only(known), np.log2(size[known] + 1.0)
    block = _cells(own.rater, own.prompt)

    x, y = centred(doublings, block), centred(own.value, block)
    within = _slope(x, y, own.prompt, level, crossed=False)
    x, y = residuals(x, block, own.contestant), residuals(y, block, own.contestant)
    return ScoreLength(within, _slope(x, y, own.prompt, level, crossed=True))


def score_drift(scores: Scores, when: npt.ArrayLike, level: float = 95.0) -> ScoreSlope:
    """How scores moved while raters worked: the slope is the fitted change from the first score to the last.

    ``when`` holds numbers of any kind that put scores in order, NaN where not known. Only scores of a
    contestant by one rater are compared, so that it is no matter who came when. Raises a StatsError.
    """
    time = numbers("when", when)
    check_length("when", time, "value", len(scores))
    known = scores.is_scored & np.isfinite(time)
    own = scores.only(known)
    place = np.zeros(len(own))
    for rater in np.unique(own.rater):
        mine = np.flatnonzero(own.rater == rater)
        order = np.unique(time[known][mine], return_inverse=True)[1]
        place[mine] = order / max(1, order.max())
    group = _cells(own.rater, own.contestant)
    return _slope(centred(place, group), centred(own.value, group), own.prompt, level, crossed=True)


def _cells(one: IntArray, other: IntArray) -> IntArray:
    return dense_labels("cell", one * (other.max(initial=0) + 1) + other)


def _slope(x: FloatArray, y: FloatArray, prompt: IntArray, level: float, *, crossed: bool) -> ScoreSlope:
    """Of values that average 0 in every group; in ``crossed`` groups several prompts meet."""
    x = np.where(np.abs(x) > _NOTHING, x, 0.0)
    of = prompt_numbers(prompt, len(x))
    product, square = sums(of, x * y), sums(of, x * x)
    product, square = product[square > 0], square[square > 0]
    n, prompts = int(np.count_nonzero(x)), len(square)
    if not prompts:
        return ScoreSlope(0, 0, None, None, None, None)
    slope = float(product.sum() / square.sum())
    correlation = plain(pearson((x * y).sum(), (x * x).sum(), (y * y).sum()))
    # Without a prompt the averages of crossed groups move as well: with k prompts by 1 / (k - 1).
    weight = prompts / (prompts - 1.0) if crossed and prompts > 1 else 1.0
    rest = square.sum() - weight * square
    if prompts < 2 or rest.min() < _NOTHING:
        return ScoreSlope(n, prompts, correlation, slope, None, None)
    error = jackknife_error((product.sum() - weight * product) / rest)
    reach = student_reach(prompts, level) * error
    return ScoreSlope(n, prompts, correlation, slope, slope - reach, slope + reach)
