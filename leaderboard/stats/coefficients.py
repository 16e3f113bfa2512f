"""Coefficients of correlation and agreement: each formula once, from sums or from values.

Who says which values go in (in both orientations or one, of pairs or texts, of all prompts or of those that a
round drew) has the sums. Arrays of sums end in an axis of rounds. A coefficient is NaN where it is undefined.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.sums import ratio

# Up to this many distinct values, coefficients of ranks come from a table, beyond by sorting.
MOST_EXACT: Final = 400
# So many comparisons of two values are held at once.
MOST_SIGNS: Final = 1_000_000
_ROUNDING: Final = 1e-12


def pearson(products: FloatArray, one: FloatArray, other: FloatArray) -> FloatArray:
    """From the sums of products, and of squares, of values less their means.

    Of ranks it is Spearman's, of the signs of all differences Kendall's tau-b (1945).
    """
    return ratio(products, np.sqrt(one * other))


def spread(n: FloatArray, total: FloatArray, squares: FloatArray) -> FloatArray:
    """n times the sum of squares about the mean; 0 where only rounding is left."""
    found = n * squares - total**2
    return np.where(found > _ROUNDING * n * squares, found, 0.0)


def kappa(n: npt.ArrayLike, same: npt.ArrayLike, one: npt.ArrayLike, other: npt.ArrayLike) -> FloatArray:
    """Cohen's (1960) of n things, from how many are the same, and how often each side gave each value.

    ``one`` and ``other`` are (values, ...). It is undefined where both always give the same value.
    """
    chance = np.multiply(one, other).sum(axis=0)
    return ratio(np.multiply(same, n) - chance, np.square(n) - chance)


def fleiss(alike: FloatArray, things: FloatArray, each: int, given: FloatArray) -> FloatArray:
    """Fleiss' kappa (1971) of ``things`` with ``each`` verdicts.

    ``alike``: ordered pairs of verdicts of a thing that are the same; ``given`` (values, ...): how often each
    was given.
    """
    share = ratio(alike, things * each * (each - 1.0))
    chance = (ratio(given, things * each) ** 2).sum(axis=0)
    return ratio(share - chance, 1.0 - chance)


def alpha(n: FloatArray, apart: FloatArray, expected: FloatArray) -> FloatArray:
    """Krippendorff's (1970): 1 - observed / expected disagreement of n values.

    ``apart`` is what the values of each unit differ, summed. Squared distances: ``expected`` is the
    ``spread`` of all values; a unit of m adds its own over m - 1. Nominal: ``unlike`` and ``nominal_spread``.
    """
    return 1.0 - ratio(apart * (n - 1.0), expected)


def unlike(counts: FloatArray | IntArray) -> FloatArray:
    """What each unit adds to nominal ``apart``, from how often it got each value (units, values)."""
    each = counts.sum(axis=1)
    return np.asarray((each**2 - (counts**2).sum(axis=1)) / np.maximum(each - 1.0, 1.0))


def nominal_spread(n: FloatArray, counts: FloatArray) -> FloatArray:
    """The ordered pairs of n values that differ, from how often there is each (values, ...)."""
    return np.asarray(n**2 - (counts**2).sum(axis=0))


def signs(count: int) -> FloatArray:
    """1 where the row's level lies above the column's, -1 where below."""
    order = np.arange(count)
    return np.asarray(np.sign(order[:, None] - order[None, :]), dtype=np.float64)


def rank_coefficients(table: FloatArray) -> FloatArray:
    """Spearman and Kendall (2, n) of tables of counts (x levels, y levels, n)."""
    x_sign, y_sign = signs(len(table)), signs(table.shape[1])
    x_count, y_count = table.sum(axis=1), table.sum(axis=0)
    # The number of entries below a level less those above it is twice its rank from the middle.
    x_rank, y_rank = x_sign @ x_count, y_sign @ y_count
    product = np.einsum("in,in->n", x_rank, np.einsum("ijn,jn->in", table, y_rank))
    by_x = np.tensordot(x_sign, table, axes=(0, 0))
    agreeing = np.einsum("ijn,ijn->n", by_x, y_sign @ table)
    entries = x_count.sum(axis=0) ** 2
    return np.stack(
        [
            pearson(product, (x_count * x_rank**2).sum(axis=0), (y_count * y_rank**2).sum(axis=0)),
            pearson(agreeing, entries - (x_count**2).sum(axis=0), entries - (y_count**2).sum(axis=0)),
        ]
    )


def rank_coefficients_of_rows(x: FloatArray, y: FloatArray) -> FloatArray:
    """Spearman and Kendall (2, rows) of the values in each row (rows, n) that are NaN in neither."""
    at_once = max(1, MOST_SIGNS // max(1, x.shape[1] ** 2))
    found = [np.empty((2, 0))]
    for start in range(0, len(x), at_once):
        rows = slice(start, start + at_once)
        gaps = 0.0 * (x[rows] + y[rows])
        x_sign, y_sign = _signs_of_rows(x[rows] + gaps), _signs_of_rows(y[rows] + gaps)
        x_rank, y_rank = x_sign.sum(axis=2), y_sign.sum(axis=2)
        spearman = pearson((x_rank * y_rank).sum(axis=1), (x_rank**2).sum(axis=1), (y_rank**2).sum(axis=1))
        untied = (np.abs(sign).sum(axis=(1, 2)) for sign in (x_sign, y_sign))
        found.append(np.stack([spearman, pearson((x_sign * y_sign).sum(axis=(1, 2)), *untied)]))
    return np.concatenate(found, axis=1)


def _signs_of_rows(values: FloatArray) -> FloatArray:
    """(rows, n, n): 1 where the first value lies above the second, -1 where below, 0 for ties and NaN."""
    known = values.round(12)
    return np.nan_to_num(np.sign(known[:, :, None] - known[:, None, :]))


def rank_coefficients_of(x: FloatArray, y: FloatArray) -> FloatArray:
    """Spearman and Kendall of any number of values; NaN where x or y is constant."""
    (xs, row), (ys, column) = (np.unique(values, return_inverse=True) for values in (x, y))
    if max(len(xs), len(ys)) <= MOST_EXACT:
        table = np.bincount(row * len(ys) + column, minlength=len(xs) * len(ys)).astype(np.float64)
        return np.asarray(rank_coefficients(table.reshape(len(xs), len(ys), 1))[:, 0])
    # Here, because it takes 0.7 s and 35 MB to load, and few studies have so many values.
    from scipy.stats import kendalltau, spearmanr

    return np.array([spearmanr(x, y).statistic, kendalltau(x, y).statistic])
