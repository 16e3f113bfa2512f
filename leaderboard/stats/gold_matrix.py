"""Judges as a matrix of models and protocols: gains, optima, averages, and what is hard for all of them.

After ReIFE (Liu et al. 2024). Accuracies are (models, protocols, subsets), NaN where there is no judge. An
average over subsets is undefined where one of them is; one over judges takes those there are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, repeat
from typing import Final

import numpy as np
from scipy.special import stdtr

from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.clustered_means import mean_of_coefficients
from leaderboard.stats.coefficients import rank_coefficients_of_rows
from leaderboard.stats.gold import Judged, alpha_of, mean_of
from leaderboard.stats.intervals import central_interval, student_reach
from leaderboard.stats.plain_values import UNDEFINED, Estimate, Result, plain
from leaderboard.stats.sums import mean_of_known

BINS: Final = 10


@dataclass(frozen=True, eq=False)
class Matrix:
    """``gain`` (models, subsets): the best protocol but the base, less the base; it may be negative.

    ``optimum`` (protocols, subsets): the best of any model; ``best`` (models, subsets): the best protocol but
    the base, or of all without one. Averages: over protocols (models, subsets), over models (protocols,
    subsets).
    """

    accuracy: FloatArray  # perhaps with the rounds of a bootstrap in one more dimension
    base: int | None  # the protocol

    @property
    def gain(self) -> FloatArray:
        return self.best - self.of_base

    @property
    def of_base(self) -> FloatArray:
        if self.base is None:
            return np.full(np.delete(self.accuracy.shape, 1), np.nan)
        return self.accuracy[:, self.base]

    @property
    def best(self) -> FloatArray:
        return _best(self.accuracy if self.base is None else np.delete(self.accuracy, self.base, axis=1), 1)

    @property
    def optimum(self) -> FloatArray:
        return _best(self.accuracy, 0)

    @property
    def of_models(self) -> FloatArray:
        return mean_of_known(self.accuracy, 1)

    @property
    def of_protocols(self) -> FloatArray:
        return mean_of_known(self.accuracy, 0)

    def halves(self, subsets: Sequence[int]) -> tuple[list[int], list[int]]:
        """The models of the better and of the other half by their average; the middle one is in neither."""
        own = self.of_models[:, list(subsets)].mean(axis=1)
        ranked = [model for model in np.argsort(-own, kind="stable").tolist() if not np.isnan(own[model])]
        half = len(ranked) // 2
        return ranked[:half], ranked[len(ranked) - half :]

    def of_half(self, models: Sequence[int]) -> FloatArray:
        """The averages of protocols over some of the models (protocols, subsets)."""
        return mean_of_known(self.accuracy[list(models)], 0)

    def correlations(
        self,
        parts: Mapping[str, Sequence[int]],
        averaged: Sequence[int],
        samples: "Matrix | None" = None,
        level: float = 95.0,
    ) -> Iterator["RankCorrelation"]:
        """Between every two parts without a common subset over judges; and over models and protocols.

        ``models``: base~average, base~optimum, base~gain and average~optimum (``best``); ``protocols``:
        average~optimum of those asked of the most models, and the averages over the two halves of models.
        All of the mean of the ``averaged`` subsets. ``samples``: the same in rounds of a bootstrap.
        """
        halves = self.halves(averaged)
        own = self.compared(parts, averaged, halves)
        drawn = (
            (each for _, each in samples.compared(parts, averaged, halves))
            if samples
            else repeat((None, None))
        )
        for (names, columns), rounds in zip(own, drawn, strict=False):
            yield rank_correlation(*names, *columns, *rounds, level=level)

    def compared(
        self,
        parts: Mapping[str, Sequence[int]],
        averaged: Sequence[int],
        halves: tuple[Sequence[int], Sequence[int]],
    ) -> Iterator[tuple[tuple[str, str, str], tuple[FloatArray, FloatArray]]]:
        """Over what, the names and the values of what is correlated."""
        judges = self.accuracy.reshape(-1, *self.accuracy.shape[2:])
        for one, other in combinations(parts, 2):
            if set(parts[one]).isdisjoint(parts[other]):
                values = (judges[:, list(parts[name])].mean(axis=1) for name in (one, other))
                yield ("judges", one, other), (next(values), next(values))

        def mean(values: FloatArray) -> FloatArray:
            return np.asarray(values[:, list(averaged)].mean(axis=1))

        if self.base is not None:
            base, average, optimum = mean(self.of_base), mean(self.of_models), mean(self.best)
            yield ("models", "base", "average"), (base, average)
            yield ("models", "base", "optimum"), (base, optimum)
            yield ("models", "base", "gain"), (base, optimum - base)
            yield ("models", "average", "optimum"), (average, optimum)
        models = (~np.isnan(self.accuracy[:, :, list(averaged)].mean(axis=2))).sum(axis=0)
        alike = np.where(models == models.max(initial=0), 1.0, np.nan)
        yield ("protocols", "average", "optimum"), (mean(self.of_protocols) * alike, mean(self.optimum))
        strong, weak = (mean(self.of_half(half)) for half in halves)
        yield ("protocols", "stronger models", "weaker models"), (strong, weak)


@dataclass(frozen=True)
class OverModels(Result):
    """How much more accurate a protocol is than the base, over the models asked by both: other models vary.

    Student's paired t test; undefined with a single model, or where all differ alike.
    """

    difference: Estimate = UNDEFINED
    p: float | None = None


def over_models(base: FloatArray, other: FloatArray, level: float) -> OverModels:
    """From accuracies by model (models,), NaN without a judge."""
    differences = (other - base)[~np.isnan(other - base)]
    n = len(differences)
    if not n:
        return OverModels()
    value = float(differences.mean())
    error = float(differences.std(ddof=1)) / n**0.5 if n > 1 else 0.0
    if error < _NO_ERROR:
        return OverModels(Estimate(value))
    reach = student_reach(n, level) * error
    p = float(2.0 * stdtr(n - 1, -abs(value) / error))
    return OverModels(Estimate(value, max(-1.0, value - reach), min(1.0, value + reach)), p)


_NO_ERROR: Final = 1e-9  # a smaller standard error is rounding


def mean_alpha(judges: Sequence[Sequence[Judged]], level: float) -> Estimate:
    """Alpha between the orders on average over judges, then over subsets, from ``judges[judge][subset]``.

    A judge without alpha on a subset does not count there.
    """

    def value(sums: FloatArray) -> FloatArray:
        each = sums[1:].reshape(len(judges), (len(sums) - 1) // len(judges), sums.shape[1])
        return mean_of_known(np.array([alpha_of(own) for own in each]), 0)

    parts = [np.stack([own.coefficients["alpha"] for own in subset]) for subset in zip(*judges, strict=True)]
    rows = [np.concatenate([part[:, 0].sum(axis=0)[None], *part]) for part in parts]
    return mean_of_coefficients(rows, value, level).estimate


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
    spearman: Estimate
    kendall: Estimate


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
    drawn = np.empty((len(found), 0))
    if x_samples is not None and y_samples is not None:
        drawn = rank_coefficients_of_rows(x_samples[known].T, y_samples[known].T)
    spearman, kendall = (_estimate(*each, level) for each in zip(found, drawn, strict=True))
    return RankCorrelation(over, one, other, int(known.sum()), spearman, kendall)


def _estimate(value: float, samples: FloatArray, level: float) -> Estimate:
    known = samples[~np.isnan(samples)]
    if np.isnan(value) or not len(known):
        return Estimate(plain(value))
    low, high = (float(end) for end in central_interval(known, level))
    reach = max(value - low, high - value)
    return Estimate(value, max(-1.0, value - reach), min(1.0, value + reach))


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
