"""Agreement among raters of one kind: Krippendorff's alpha (1970, 2011) and Fleiss' kappa (1971).

Interval alpha uses squared distance on [-1, 1], nominal alpha verdicts. Fleiss' kappa needs equally many
ratings of each pair, so only pairs with the commonest number count.
"""

from dataclasses import dataclass

import numpy as np

from leaderboard.stats.agreement_opinions import (
    TIE,
    Measure,
    OpinionRows,
    PairSums,
    Topics,
    measure,
    pair_sums,
)
from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.correlation import ratio

VALUES = ("alpha", "alpha_verdict", "fleiss")


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
    """Interval alpha, nominal alpha of verdicts, and Fleiss' kappa of verdicts."""
    sums, even = chosen.sums, chosen.even
    others = sums.count - 1.0
    alike = (sums.verdicts**2).sum(axis=1)
    amounts = [
        sums.count,
        sums.squares,
        (sums.count * sums.squares - sums.total**2) / others,
        (sums.count**2 - alike) / others,
        sums.verdicts[:, TIE],
        even,
        even * (alike - sums.count),
        even * sums.verdicts[:, TIE],
    ]

    def value(added: FloatArray) -> FloatArray:
        count, squares, apart, unlike, ties = added[:5]
        # 1 - observed / expected disagreement; both orientations hold 2 * count ratings with a mean of 0.
        interval = 1.0 - ratio(apart * (2.0 * count - 1.0), squares * 2.0 * count)
        fleiss = _fleiss(added[5], added[6], added[7], chosen.each)
        return np.stack([interval, _nominal_alpha(count, unlike, ties), fleiss])

    return measure(topics, chosen.pair, list(enumerate(amounts)), len(amounts), value)


def _nominal_alpha(count: FloatArray, unlike: FloatArray, ties: FloatArray) -> FloatArray:
    ratings, tied = 2.0 * count, 2.0 * ties
    side = (ratings - tied) / 2.0
    expected = ratings * (ratings - 1.0) - tied * (tied - 1.0) - 2.0 * side * (side - 1.0)
    return 1.0 - ratio(2.0 * unlike * (ratings - 1.0), expected)


def _fleiss(pairs: FloatArray, alike: FloatArray, ties: FloatArray, each: int) -> FloatArray:
    ratings = pairs * each
    share, tied = ratio(alike, ratings * (each - 1.0)), ratio(ties, ratings)
    chance = tied**2 + (1.0 - tied) ** 2 / 2.0
    return ratio(share - chance, 1.0 - chance)
