"""Correlation of two kinds of raters over the pairs both rated, and of people with each other."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from leaderboard.stats.agreement_opinions import (
    STEPS,
    Measure,
    OpinionRows,
    PairSums,
    Topics,
    distinct,
    measure,
)
from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.coefficients import pearson, rank_coefficients, rank_coefficients_of

# Every entry (x, y) counts together with its mirror image (-x, -y). Both means are then 0, the ranks of x
# and -x lie opposite each other, and the coefficients depend only on a table of counts by value of x and y.


# Rounds of a bootstrap put more distinct values than this on a grid.
MOST_VALUES: Final = 64
# Steps of the grid between 0 and 1.
GRID: Final = 31


@dataclass(frozen=True, eq=False)
class Levels:
    """Values as numbers of levels that are symmetric about 0."""

    number: IntArray
    count: int
    on_grid: bool = False


def levels(values: FloatArray) -> Levels:
    """The distinct values and their mirror images, in order."""
    sizes = np.unique(np.abs(values))
    known = np.concatenate((-sizes[sizes > 0][::-1], sizes))
    return Levels(np.searchsorted(known, values), len(known))


def few_levels(values: FloatArray) -> Levels:
    """``levels``, on a grid of 1/31 where there are too many for the rounds of a bootstrap."""
    exact = levels(values)
    if exact.count <= MOST_VALUES:
        return exact
    return Levels(np.rint(values * GRID).astype(np.int64) + GRID, 2 * GRID + 1, on_grid=True)


def counted_in(table: tuple[int, int], used: IntArray, counts: FloatArray) -> FloatArray:
    """Tables (x levels, y levels, n) of the counts (cells, n) in the ``used`` cells, 0 in the others."""
    found = np.zeros((math.prod(table), counts.shape[1]))
    found[used] = counts
    return found.reshape(*table, counts.shape[1])


def moments(x: FloatArray, y: FloatArray) -> FloatArray:
    """x * y, x * x and y * y of each entry: (3, n)."""
    return np.stack([x * y, x * x, y * y])


def coefficients(x: FloatArray, y: FloatArray) -> FloatArray:
    """Pearson, Spearman and Kendall of values on [-1, 1]; NaN where x or y is 0 throughout."""
    ranks = rank_coefficients_of(np.concatenate((x, -x)), np.concatenate((y, -y)))
    return np.concatenate((pearson(*moments(x, y).sum(axis=1, keepdims=True)), ranks))


@dataclass(frozen=True, eq=False)
class Entries:
    """Two mean preferences on [-1, 1] of each pair, which may come several times."""

    pair: IntArray
    x: FloatArray
    y: FloatArray


def shared_entries(one: PairSums, other: PairSums) -> Entries:
    """The means of two kinds of raters on each pair that both rated."""
    pair = np.flatnonzero((one.count > 0) & (other.count > 0))
    return Entries(pair, one.mean[pair], other.mean[pair])


def ceiling_entries(rows: OpinionRows, everybody: PairSums) -> Entries:
    """Each rater's mean on a pair against that of others; ``everybody`` sums all ratings."""
    raters, number = np.unique(rows.rater, return_inverse=True)
    key, place = np.unique(rows.pair * len(raters) + number, return_inverse=True)
    pair, count, total = key // max(1, len(raters)), np.bincount(place), np.bincount(place, rows.preference)
    others = everybody.count[pair] - count
    kept = others > 0
    pair, count, total, others = pair[kept], count[kept], total[kept], others[kept]
    rest = everybody.total[pair] - total
    return Entries(pair, total / (STEPS * count), rest / (STEPS * others))


def in_their_place(people: Entries, judge: PairSums) -> tuple[Entries, Entries]:
    """A judge in the place of each person, and the person, on the pairs of ``people`` that it rated."""
    kept = judge.count[people.pair] > 0
    person = Entries(people.pair[kept], people.x[kept], people.y[kept])
    return Entries(person.pair, judge.mean[person.pair], person.y), person


def correlation(topics: Topics, entries: Entries) -> tuple[Measure, FloatArray]:
    """Pearson, Spearman and Kendall of each row: for rounds (perhaps on a grid), and exactly."""
    x, y = few_levels(entries.x), few_levels(entries.y)
    rounds = _for_rounds(topics, entries, x, y)
    return rounds, _exact(topics, entries) if x.on_grid or y.on_grid else rounds.estimate


def _for_rounds(topics: Topics, entries: Entries, x: Levels, y: Levels) -> Measure:
    cells = x.count * y.count
    place = x.number * y.count + y.number
    # The mirror image of a cell is as many places from the end; one of the two stands for both.
    place = np.minimum(place, cells - 1 - place)
    used = distinct(place)
    cell = np.searchsorted(used, place)
    sums = moments(entries.x, entries.y)
    value = _of_cells(used, x.count, y.count)
    return measure(topics, entries.pair, sums, value, [(cell, np.ones(len(cell)))], len(used))


def _of_cells(used: IntArray, x_levels: int, y_levels: int) -> Callable[[FloatArray], FloatArray]:
    cells = x_levels * y_levels

    def value(sums: FloatArray) -> FloatArray:
        table = counted_in((x_levels, y_levels), used, sums[3:])
        # In place: a mirrored copy of the whole table takes three times as long.
        table.reshape(cells, sums.shape[1])[cells - 1 - used] += sums[3:]
        return np.concatenate((pearson(*sums[:3])[None], rank_coefficients(table)))

    return value


def _exact(topics: Topics, entries: Entries) -> FloatArray:
    category = topics.of_pairs(entries.pair)
    found = []
    for taken in topics.chosen:
        own = taken[category] > 0
        found.append(coefficients(entries.x[own], entries.y[own]) if own.any() else np.full(3, np.nan))
    return np.array(found)
