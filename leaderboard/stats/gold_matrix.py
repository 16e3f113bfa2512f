"""Judges as a matrix of models and protocols: gains, optima, averages, and what is hard for all of them.

After ReIFE (Liu et al. 2024). Accuracies are (models, protocols, subsets), NaN where there is no judge. An
average over subsets is undefined where one of them is; one over judges takes those there are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, repeat
from typing import Final

import numpy as np

from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.coefficients import rank_coefficients_of_rows
from leaderboard.stats.gold import mean_of
from leaderboard.stats.intervals import central_interval
from leaderboard.stats.plain_values import Result
from leaderboard.stats.sums import mean_of_known

BINS: Final = 10


@dataclass(frozen=True, eq=False)
class Matrix:
    """``gain`` (models, subsets): the best protocol but the base, less the base; it may be negative.

    ``optimum`` (protocols, subsets): the best of any model. Averages: over protocols (models, subsets), over
    models (protocols, subsets).
    """

    accuracy: FloatArray  # perhaps with the rounds of a bootstrap in one more dimension
    base: int | None  # the protocol

    @property
    def gain(self) -> FloatArray:
        if self.base is None:
            return np.full(np.delete(self.accuracy.shape, 1), np.nan)
        others = np.delete(self.accuracy, self.base, axis=1)
        return _best(others, 1) - self.accuracy[:, self.base]

    @property
    def optimum(self) -> FloatArray:
        return _best(self.accuracy, 0)

    @property
    def of_models(self) -> FloatArray:
        return mean_of_known(self.accuracy, 1)

    @property
    def of_protocols(self) -> FloatArray:
        return mean_of_known(self.accuracy, 0)

    def correlations(
        self, subsets: Sequence[str], samples: "Matrix | None" = None, level: float = 95.0
    ) -> Iterator["RankCorrelation"]:
        """Between every two subsets over judges; of averages, optima, bases and gains over their rows.

        ``models``: base~average, base~gain and average~optimum (base plus gain); ``protocols``:
        average~optimum. All of the mean of subsets. ``samples``: the same in rounds of a bootstrap.
        """
        drawn = (columns for _, columns in samples.compared(subsets)) if samples else repeat((None, None))
        for (names, columns), rounds in zip(self.compared(subsets), drawn, strict=False):
            yield rank_correlation(*names, *columns, *rounds, level=level)

    def compared(
        self, subsets: Sequence[str]
    ) -> Iterator[tuple[tuple[str, str, str], tuple[FloatArray, FloatArray]]]:
        """Over what, the names and the values of what is correlated."""
        judges = self.accuracy.reshape(-1, *self.accuracy.shape[2:])
        for one, other in combinations(range(len(subsets)), 2):
            yield ("judges", subsets[one], subsets[other]), (judges[:, one], judges[:, other])
        average, gain = self.of_models.mean(axis=1), self.gain.mean(axis=1)
        if self.base is not None:
            base = self.accuracy[:, self.base].mean(axis=1)
            yield ("models", "base", "average"), (base, average)
            yield ("models", "base", "gain"), (base, gain)
            yield ("models", "average", "optimum"), (average, base + gain)
        own, best = self.of_protocols.mean(axis=1), self.optimum.mean(axis=1)
        yield ("protocols", "average", "optimum"), (own, best)


def _best(values: FloatArray, axis: int) -> FloatArray:
    """The largest known value; NaN without any."""
    most = np.where(np.isnan(values), -np.inf, values).max(axis=axis, initial=-np.inf)
    return np.where(np.isinf(most), np.nan, most)


@dataclass(frozen=True)
class RankCorrelation(Result):
    """Spearman and Kendall (tau-b) of ``one`` and ``other`` over ``n`` judges, models or protocols.

    Intervals reach as far to either side as the farther percentile over rounds: noise pulls the rounds, as it
    pulled the estimate, towards 0.
    """

    over: str
    one: str
    other: str
    n: int
    spearman: float | None
    kendall: float | None
    spearman_low: float | None = None
    spearman_high: float | None = None
    kendall_low: float | None = None
    kendall_high: float | None = None


def rank_correlation(
    over: str,
    one: str,
    other: str,
    x: FloatArray,
    y: FloatArray,
    x_samples: FloatArray | None = None,
    y_samples: FloatArray | None = None,
    *,
    level: float = 95.0,
) -> RankCorrelation:
    """Of the rows where both are known; None where either is constant. Samples are (rows, rounds)."""
    known = ~np.isnan(x + y)
    found = rank_coefficients_of_rows(x[None], y[None])[:, 0].tolist()
    spearman, kendall = (None if np.isnan(each) else each for each in found)
    ends: list[float | None] = [None] * 4
    if x_samples is not None and y_samples is not None:
        drawn = rank_coefficients_of_rows(x_samples[known].T, y_samples[known].T)
        ends = [*_ends(spearman, drawn[0], level), *_ends(kendall, drawn[1], level)]
    return RankCorrelation(over, one, other, int(known.sum()), spearman, kendall, *ends)


def _ends(value: float | None, samples: FloatArray, level: float) -> tuple[float, float] | tuple[None, None]:
    known = samples[~np.isnan(samples)]
    if value is None or not len(known):
        return None, None
    low, high = (float(end) for end in central_interval(known, level))
    reach = max(value - low, high - value)
    return max(-1.0, value - reach), min(1.0, value + reach)


@dataclass(frozen=True)
class Difficulty(Result):
    """How often judges are right about each instance.

    ``counts`` of instances in BINS equal bins from 0 to 1, the last one closed. ``strong`` and ``weak``: mean
    rate among the more and the less accurate half of judges (the middle one of an odd number is in neither);
    ``weak_better``: instances that the weak half gets right more often.
    """

    n: int
    mean: float | None
    counts: tuple[int, ...]
    strong: float | None
    weak: float | None
    strong_better: int
    weak_better: int


def difficulty(credits: FloatArray, order: IntArray) -> Difficulty:
    """``credits`` (judges, instances): the mean over both orders. ``order``: judges, the best first."""
    rate = mean_of_known(credits, 0)
    known = rate[~np.isnan(rate)].round(12)
    counts, _ = np.histogram(known, bins=BINS, range=(0.0, 1.0))
    half = len(order) // 2
    strong, weak = (mean_of_known(credits[own], 0) for own in (order[:half], order[len(order) - half :]))
    both = ~np.isnan(strong + weak)
    return Difficulty(
        n=len(known),
        mean=mean_of(rate),
        counts=tuple(counts.tolist()),
        strong=mean_of(strong[both]),
        weak=mean_of(weak[both]),
        strong_better=int((strong > weak + 1e-12)[both].sum()),
        weak_better=int((weak > strong + 1e-12)[both].sum()),
    )
