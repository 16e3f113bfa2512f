"""Cohen's kappa of two kinds of raters: every rating by one against every rating by the other.

Weighted kappa (Cohen 1968) takes squared distance on [-1, 1]; in both orientations it is 2 * sum(xy) /
(sum(xx) + sum(yy)), Lin's concordance. Kappa of verdicts (Cohen 1960) has no weights. Unmirrored kappas enter
each pair once, in its own orientation, as most published values do.
"""

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
from leaderboard.stats.coefficients import kappa, pearson
from leaderboard.stats.correlation import moments
from leaderboard.stats.sums import ratio

VALUES = ("kappa", "kappa_verdict", "exact", "pearson", "kappa_unmirrored", "kappa_verdict_unmirrored")


def kappa_measure(topics: Topics, one: PairSums, other: PairSums) -> Measure:
    """Weighted kappa, kappa of verdicts, the share with the same verdict, and Pearson of the means."""
    pair, amounts = _amounts(one, other)
    return measure(topics, pair, amounts, _of_sums)


def _amounts(one: PairSums, other: PairSums) -> tuple[IntArray, FloatArray]:
    """The pairs that both rated, and what each adds to the sums (kinds, pairs)."""
    pair = np.flatnonzero((one.count > 0) & (other.count > 0))
    x, y = one.verdicts[pair], other.verdicts[pair]
    x_times, y_times = other.count[pair], one.count[pair]
    amounts = (
        one.total[pair] * other.total[pair],
        one.squares[pair] * x_times + other.squares[pair] * y_times,
        one.count[pair] * other.count[pair],
        (x * y).sum(axis=1),
        one.total[pair] * x_times,
        other.total[pair] * y_times,
        *(x * x_times[:, None]).T,
        *(y * y_times[:, None]).T,
        *moments(one.mean[pair], other.mean[pair]),
    )
    return pair, np.stack(amounts)


def every_two(topics: Topics, rows: OpinionRows, twos: IntArray) -> tuple[Measure, FloatArray]:
    """The first three VALUES, each of every two raters (ids, (twos, 2)) in turn, and the prompts of these.

    The topics must have a single category.
    """
    sums = {
        rater: pair_sums(rows.only(rows.rater == rater), len(topics.prompt))
        for rater in np.unique(twos).tolist()
    }
    each = [_amounts(sums[one], sums[other]) for one, other in twos.tolist()]
    pair = np.concatenate([pairs for pairs, _ in each])
    amounts = np.concatenate([amount for _, amount in each], axis=1)
    kinds = len(amounts)
    place = kinds * np.repeat(np.arange(len(twos)), [len(pairs) for pairs, _ in each])

    def value(added: FloatArray) -> FloatArray:
        of_kind = added.reshape(len(twos), kinds, -1).transpose(1, 0, 2).reshape(kinds, -1)
        return _of_sums(of_kind)[:3].reshape(3 * len(twos), -1)

    listed = [(place + kind, amount) for kind, amount in enumerate(amounts)]
    prompts = np.array([float(len(np.unique(topics.prompt[pairs]))) for pairs, _ in each])
    return measure(topics, pair, (), value, listed, kinds * len(twos)), prompts


def _of_sums(sums: FloatArray) -> FloatArray:
    product, squares, count, same, total_x, total_y = sums[:6]
    x, y = sums[6:9], sums[9:12]
    chance = ratio(total_x * total_y, count)
    return np.stack(
        [
            ratio(2.0 * product, squares),
            kappa(count, same, (x + x[::-1]) / 2.0, (y + y[::-1]) / 2.0),
            ratio(same, count),
            pearson(*sums[12:]),
            ratio(2.0 * (product - chance), squares - 2.0 * chance),
            kappa(count, same, x, y),
        ]
    )
