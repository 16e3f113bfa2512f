"""Correlation of two kinds of raters over the pairs both rated, and of people with each other."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from leaderboard.stats.agreement.coefficients import (
    Levels,
    coefficients,
    few_levels,
    moment_coefficient,
    moments,
    rank_coefficients,
)
from leaderboard.stats.agreement.opinions import STEPS, OpinionRows, PairSums
from leaderboard.stats.agreement.prompts import Measure, Topics, measure
from leaderboard.stats.plain_values import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Entries:
    """Two mean preferences on [-1, 1] of the same pair; a pair may have several entries."""

    pair: IntArray
    x: FloatArray
    y: FloatArray


def shared_entries(one: PairSums, other: PairSums) -> Entries:
    """The means of two kinds of raters on each pair that both rated."""
    pair = np.flatnonzero((one.count > 0) & (other.count > 0))
    return Entries(pair, one.mean[pair], other.mean[pair])


def ceiling_entries(rows: OpinionRows, everybody: PairSums) -> Entries:
    """Each rater's mean on a pair against the mean of all ratings by the others; ``everybody`` sums ``rows``.

    A pair that one rater alone rated has no entry.
    """
    raters, number = np.unique(rows.rater, return_inverse=True)
    key, place = np.unique(rows.pair * len(raters) + number, return_inverse=True)
    pair, count, total = key // max(1, len(raters)), np.bincount(place), np.bincount(place, rows.preference)
    others = everybody.count[pair] - count
    kept = others > 0
    pair, count, total, others = pair[kept], count[kept], total[kept], others[kept]
    rest = everybody.total[pair] - total
    return Entries(pair, total / (STEPS * count), rest / (STEPS * others))


def correlation(topics: Topics, entries: Entries) -> tuple[Measure, FloatArray]:
    """Pearson, Spearman and Kendall of each row of the topics: for rounds of a bootstrap, and exactly.

    Where there are many distinct means, rounds put them on a grid; the exact values never do.
    """
    x, y = few_levels(entries.x), few_levels(entries.y)
    rounds = _for_rounds(topics, entries, x, y)
    return rounds, _exact(topics, entries) if x.on_grid or y.on_grid else rounds.estimate


def _for_rounds(topics: Topics, entries: Entries, x: Levels, y: Levels) -> Measure:
    cells = x.count * y.count
    place = x.number * y.count + y.number
    # The mirror image of a cell is as many places from the end; one of the two stands for both.
    used, cell = np.unique(np.minimum(place, cells - 1 - place), return_inverse=True)
    products: list[tuple[IntArray | int, FloatArray]] = list(enumerate(moments(entries.x, entries.y)))
    sums = [*products, (cell + 3, np.ones(len(cell)))]
    return measure(topics, entries.pair, sums, len(used) + 3, _of_cells(used, x, y))


def _of_cells(used: IntArray, x: Levels, y: Levels) -> Callable[[FloatArray], FloatArray]:
    def value(sums: FloatArray) -> FloatArray:
        table = np.zeros((sums.shape[1], x.count * y.count))
        table[:, used] = sums[3:].T
        table += table[:, ::-1]
        ranks = rank_coefficients(table.reshape(len(table), x.count, y.count))
        return np.concatenate((moment_coefficient(sums[:3])[None], ranks))

    return value


def _exact(topics: Topics, entries: Entries) -> FloatArray:
    category = topics.of_pairs(entries.pair)
    found = []
    for taken in topics.chosen:
        own = taken[category] > 0
        found.append(coefficients(entries.x[own], entries.y[own]) if own.any() else np.full(3, np.nan))
    return np.array(found)
