"""Cohen's kappa of two kinds of raters: every rating by one against every rating by the other.

Weighted kappa (Cohen 1968) takes squared distance on [-1, 1]; in both orientations it is 2 * sum(xy) /
(sum(xx) + sum(yy)), Lin's concordance. Kappa of verdicts (Cohen 1960) has no weights. Unmirrored kappas enter
each pair once, in its own orientation, as most published values do.
"""

import numpy as np

from leaderboard.stats.agreement_opinions import Measure, PairSums, Topics, measure
from leaderboard.stats.checks import FloatArray
from leaderboard.stats.correlation import moment_coefficient, moments, ratio

VALUES = ("kappa", "kappa_verdict", "exact", "pearson", "kappa_unmirrored", "kappa_verdict_unmirrored")


def kappa_measure(topics: Topics, one: PairSums, other: PairSums) -> Measure:
    """Weighted kappa, kappa of verdicts, the share with the same verdict, and Pearson of the means."""
    pair = np.flatnonzero((one.count > 0) & (other.count > 0))
    x, y = one.verdicts[pair], other.verdicts[pair]
    x_times, y_times = other.count[pair], one.count[pair]
    amounts = [
        one.total[pair] * other.total[pair],
        one.squares[pair] * x_times + other.squares[pair] * y_times,
        one.count[pair] * other.count[pair],
        (x * y).sum(axis=1),
        one.total[pair] * x_times,
        other.total[pair] * y_times,
        *(x * x_times[:, None]).T,
        *(y * y_times[:, None]).T,
        *moments(one.mean[pair], other.mean[pair]),
    ]
    return measure(topics, pair, list(enumerate(amounts)), len(amounts), _of_sums)


def _of_sums(sums: FloatArray) -> FloatArray:
    product, squares, count, same, total_x, total_y = sums[:6]
    share, x, y = ratio(same, count), ratio(sums[6:9], count), ratio(sums[9:12], count)
    chance = ratio(total_x * total_y, count)
    return np.stack(
        [
            ratio(2.0 * product, squares),
            _of_verdicts(share, (x + x[::-1]) / 2.0, (y + y[::-1]) / 2.0),
            share,
            moment_coefficient(sums[12:]),
            ratio(2.0 * (product - chance), squares - 2.0 * chance),
            _of_verdicts(share, x, y),
        ]
    )


def _of_verdicts(share: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Kappa of the share with the same verdict, from each side's shares of the verdicts (3, n)."""
    chance = (x * y).sum(axis=0)
    return ratio(share - chance, 1.0 - chance)
