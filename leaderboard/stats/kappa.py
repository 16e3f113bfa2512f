"""Cohen's kappa of two kinds of raters: every rating by one against every rating by the other.

Weighted kappa (Cohen 1968) takes squared distance on [-1, 1]; in both orientations it is 2 * sum(xy) /
(sum(xx) + sum(yy)), Lin's concordance. Kappa of verdicts (Cohen 1960) has no weights.
"""

import numpy as np

from leaderboard.stats.agreement_opinions import FIRST, SECOND, Measure, PairSums, Topics, measure
from leaderboard.stats.checks import FloatArray
from leaderboard.stats.correlation import moment_coefficient, moments, ratio

VALUES = ("kappa", "kappa_verdict", "exact", "pearson")


def kappa_measure(topics: Topics, one: PairSums, other: PairSums) -> Measure:
    """Weighted kappa, kappa of verdicts, the share with the same verdict, and Pearson of the means."""
    pair = np.flatnonzero((one.count > 0) & (other.count > 0))
    x, y = one.verdicts[pair], other.verdicts[pair]
    amounts = [
        one.total[pair] * other.total[pair],
        one.squares[pair] * other.count[pair] + other.squares[pair] * one.count[pair],
        one.count[pair] * other.count[pair],
        (x * y).sum(axis=1),
        (x[:, FIRST] + x[:, SECOND]) * other.count[pair],
        (y[:, FIRST] + y[:, SECOND]) * one.count[pair],
        *moments(one.mean[pair], other.mean[pair]),
    ]
    return measure(topics, pair, list(enumerate(amounts)), len(amounts), _of_sums)


def _of_sums(sums: FloatArray) -> FloatArray:
    product, squares, count, same, sided_x, sided_y = sums[:6]
    share, x, y = ratio(same, count), ratio(sided_x, count), ratio(sided_y, count)
    # By chance: each side holds half of what is sided, in both kinds.
    chance = x * y / 2.0 + (1.0 - x) * (1.0 - y)
    verdicts = ratio(share - chance, 1.0 - chance)
    return np.stack([ratio(2.0 * product, squares), verdicts, share, moment_coefficient(sums[6:])])
