"""Agreement among raters of one kind: Krippendorff's alpha (1970, 2011) and Fleiss' kappa (1971).

Interval alpha uses squared distance on [-1, 1], nominal alpha verdicts. Fleiss' kappa needs equally many
ratings of each pair, so only pairs with the commonest number count. Unmirrored values enter each pair once,
in its own orientation, as most published values do.
"""

from dataclasses import dataclass

import numpy as np

from leaderboard.stats.agreement_opinions import (
    Measure,
    OpinionRows,
    PairSums,
    Topics,
    measure,
    pair_sums,
)
from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.coefficients import alpha, fleiss, nominal_spread, spread, unlike

MIRRORED = ("alpha", "alpha_verdict", "fleiss")
VALUES = (*MIRRORED, *(f"{name}_unmirrored" for name in MIRRORED))


def one_from_each(rows: OpinionRows) -> OpinionRows:
    """The first rating of each rater on each pair; all of them where there is only one rater."""
    raters, number = np.unique(rows.rater, return_inverse=True)
    if len(raters) < 2:
        return rows
    _, first = np.unique(rows.pair * len(raters) + number, return_index=True)
    return rows.only(np.sort(first))


@dataclass(frozen=True, eq=False)
class RepeatedPairs:
    """Sums of the pairs with two or more ratings."""

    pair: IntArray
    sums: PairSums
    each: int  # the commonest number of ratings of a pair

    @property
    def even(self) -> FloatArray:
        return np.asarray(self.sums.count == self.each, dtype=np.float64)


def repeated_pairs(rows: OpinionRows, pairs: int) -> RepeatedPairs:
    sums = pair_sums(rows, pairs)
    pair = np.flatnonzero(sums.count > 1)
    found = PairSums(sums.count[pair], sums.total[pair], sums.squares[pair], sums.verdicts[pair])
    if not len(pair):
        return RepeatedPairs(pair, found, 0)
    number, times = np.unique(found.count, return_counts=True)
    # The larger of two numbers that are as common.
    return RepeatedPairs(pair, found, int(number[times == times.max()].max()))


def within_measure(topics: Topics, chosen: RepeatedPairs) -> Measure:
    """Interval alpha, nominal alpha of verdicts, and Fleiss' kappa of verdicts; then all unmirrored."""
    sums, even, each = chosen.sums, chosen.even, chosen.each
    alike = (sums.verdicts**2).sum(axis=1)
    amounts = [
        sums.count,
        sums.squares,
        (sums.count * sums.squares - sums.total**2) / (sums.count - 1.0),
        unlike(sums.verdicts),
        even,
        even * (alike - sums.count),
        sums.total,
        *sums.verdicts.T,
        *(even[:, None] * sums.verdicts).T,
    ]

    def value(added: FloatArray) -> FloatArray:
        once, total, verdicts, of_even = added[:6], added[6], added[7:10], added[10:13]
        # Both orientations hold everything twice, with a mean of 0.
        twice = 2.0 * once, np.zeros_like(total), verdicts + verdicts[::-1], of_even + of_even[::-1]
        return np.stack([*_values(*twice, each), *_values(once, total, verdicts, of_even, each)])

    return measure(topics, chosen.pair, amounts, value)


def _values(
    sums: FloatArray, total: FloatArray, verdicts: FloatArray, of_even: FloatArray, each: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    count, squares, apart, unlike_verdicts, pairs, alike = sums
    return (
        alpha(count, apart, spread(count, total, squares)),
        alpha(count, unlike_verdicts, nominal_spread(count, verdicts)),
        fleiss(alike, pairs, each, of_even),
    )
