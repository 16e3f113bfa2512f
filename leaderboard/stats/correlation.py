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

# Every entry (x, y) counts together with its mirror image (-x, -y). Both means are then 0, the ranks of x
# and -x lie opposite each other, and the coefficients depend only on a table of counts by value of x and y.
# Kendall's is tau-b (Kendall 1945).


# Rounds of a bootstrap put more distinct values than this on a grid.
MOST_VALUES: Final = 64
# Up to this many distinct values, coefficients of ranks come from a table, beyond by sorting.
MOST_EXACT: Final = 400
# So many comparisons of two values are held at once.
MOST_SIGNS: Final = 1_000_000
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


def signs(count: int) -> FloatArray:
    """1 where the row's level lies above the column's, -1 where below."""
    order = np.arange(count)
    return np.asarray(np.sign(order[:, None] - order[None, :]), dtype=np.float64)


def rank_coefficients(table: FloatArray) -> FloatArray:
    """Spearman and Kendall (2, n) of tables (x levels, y levels, n); NaN where x or y is constant."""
    x_sign, y_sign = signs(len(table)), signs(table.shape[1])
    x_count, y_count = table.sum(axis=1), table.sum(axis=0)
    # The number of entries below a level less those above it is twice its rank from the middle.
    x_rank, y_rank = x_sign @ x_count, y_sign @ y_count
    product = np.einsum("in,in->n", x_rank, np.einsum("ijn,jn->in", table, y_rank))
    spread = (x_count * x_rank**2).sum(axis=0) * (y_count * y_rank**2).sum(axis=0)
    by_x = np.tensordot(x_sign, table, axes=(0, 0))
    agreeing = np.einsum("ijn,ijn->n", by_x, y_sign @ table)
    entries = x_count.sum(axis=0) ** 2
    untied = (entries - (x_count**2).sum(axis=0)) * (entries - (y_count**2).sum(axis=0))
    return np.stack([ratio(product, np.sqrt(spread)), ratio(agreeing, np.sqrt(untied))])


def counted_in(table: tuple[int, int], used: IntArray, counts: FloatArray) -> FloatArray:
    """Tables (x levels, y levels, n) of the counts (cells, n) in the ``used`` cells, 0 in the others."""
    found = np.zeros((math.prod(table), counts.shape[1]))
    found[used] = counts
    return found.reshape(*table, counts.shape[1])


def rank_coefficients_of_rows(x: FloatArray, y: FloatArray) -> FloatArray:
    """Spearman and Kendall (2, rows) of the values in each row (rows, n) that are NaN in neither."""
    at_once = max(1, MOST_SIGNS // max(1, x.shape[1] ** 2))
    found = [np.empty((2, 0))]
    for start in range(0, len(x), at_once):
        rows = slice(start, start + at_once)
        gaps = 0.0 * (x[rows] + y[rows])
        x_sign, y_sign = _signs_of_rows(x[rows] + gaps), _signs_of_rows(y[rows] + gaps)
        x_rank, y_rank = x_sign.sum(axis=2), y_sign.sum(axis=2)
        spread = (x_rank**2).sum(axis=1) * (y_rank**2).sum(axis=1)
        untied = np.abs(x_sign).sum(axis=(1, 2)) * np.abs(y_sign).sum(axis=(1, 2))
        product, agreeing = (x_rank * y_rank).sum(axis=1), (x_sign * y_sign).sum(axis=(1, 2))
        found.append(np.stack([ratio(product, np.sqrt(spread)), ratio(agreeing, np.sqrt(untied))]))
    return np.concatenate(found, axis=1)


def _signs_of_rows(values: FloatArray) -> FloatArray:
    """(rows, n, n): 1 where the first value lies above the second, -1 where below, 0 for ties and NaN."""
    known = values.round(12)
    return np.nan_to_num(np.sign(known[:, :, None] - known[:, None, :]))


def ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    """The quotient, NaN where it is not defined."""
    quotient = np.full(np.shape(above), np.nan)
    np.divide(above, below, out=quotient, where=below > 0)
    return quotient


def moment_coefficient(moments: FloatArray) -> FloatArray:
    """Pearson (n,) from sums (3, n) of x * y, x * x and y * y, means being 0."""
    return ratio(moments[0], np.sqrt(moments[1] * moments[2]))


def moments(x: FloatArray, y: FloatArray) -> FloatArray:
    """x * y, x * x and y * y of each entry: (3, n)."""
    return np.stack([x * y, x * x, y * y])


def coefficients(x: FloatArray, y: FloatArray) -> FloatArray:
    """Pearson, Spearman and Kendall of values on [-1, 1]; NaN where x or y is 0 throughout."""
    pearson = moment_coefficient(moments(x, y).sum(axis=1, keepdims=True))
    ranks = plain_rank_coefficients(np.concatenate((x, -x)), np.concatenate((y, -y)))
    return np.concatenate((pearson, ranks))


def plain_rank_coefficients(x: FloatArray, y: FloatArray) -> FloatArray:
    """Spearman and Kendall of values, each entered once; NaN where x or y is constant."""
    one, other = levels(x), levels(y)
    if max(one.count, other.count) <= MOST_EXACT:
        return np.asarray(rank_coefficients(table_of(one, other)[..., None])[:, 0])
    # Here, because it takes 0.7 s and 35 MB to load, and few studies have so many levels.
    from scipy.stats import kendalltau, spearmanr

    return np.array([spearmanr(x, y).statistic, kendalltau(x, y).statistic])


def table_of(x: Levels, y: Levels) -> FloatArray:
    """How many entries lie at each level of x and of y."""
    counts = np.bincount(x.number * y.count + y.number, minlength=x.count * y.count)
    return counts.reshape(x.count, y.count).astype(np.float64)


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
        return np.concatenate((moment_coefficient(sums[:3])[None], rank_coefficients(table)))

    return value


def _exact(topics: Topics, entries: Entries) -> FloatArray:
    category = topics.of_pairs(entries.pair)
    found = []
    for taken in topics.chosen:
        own = taken[category] > 0
        found.append(coefficients(entries.x[own], entries.y[own]) if own.any() else np.full(3, np.nan))
    return np.array(found)
