"""Which of two raters is right more often, on the same pairs.

The interval of the difference resamples prompts. p is of Fisher's randomisation test (1935) of the lead on
each prompt (cf. the statistic of Durkalski et al. 2003 for clustered pairs). Where every prompt has one pair
it is McNemar's exact test (1947). p-values are adjusted by Holm's procedure.
"""

from dataclasses import dataclass
from itertools import starmap

import numpy as np

from leaderboard.stats.agreement_estimates import t_intervals
from leaderboard.stats.agreement_opinions import Measure, Topics, resample
from leaderboard.stats.checks import FloatArray
from leaderboard.stats.p_values import holm, mcnemar
from leaderboard.stats.plain_values import Estimate, Result
from leaderboard.stats.sums import ratio


@dataclass(frozen=True)
class PairedShares(Result):
    """Shares of ``pairs`` pairs on which each of two is right, and the test of their difference."""

    pairs: int
    prompts: int
    one_right: float
    other_right: float
    difference: Estimate
    only_one: int  # pairs on which the one alone is right
    only_other: int
    p: float
    p_adjusted: float  # by Holm, for all tests together


def paired_shares(
    topics: Topics, right: FloatArray, *, level: float, rounds: int, seed: int
) -> dict[tuple[int, int], PairedShares]:
    """Every two raters that share a pair, by their rows in ``right``: 1, 0 or NaN for each pair.

    Ends of intervals are NaN where there are none. The topics must have a single category.
    """
    known = (~np.isnan(right)).astype(np.float64)
    twos = np.argwhere(np.triu(known @ known.T, 1))
    counts = np.array([_counts(topics, right[one], right[other]) for one, other in twos])
    if not len(counts):
        return {}
    pairs, _, only_one, only_other = counts.transpose(1, 0, 2)
    amounts = np.concatenate((pairs, only_one - only_other))
    lead = Measure(topics, _lead, np.arange(len(topics.category)), amounts)
    (samples,) = resample([lead], rounds, seed)
    low, high = t_intervals(lead.estimate[0], samples[0], (pairs > 0).sum(axis=1), level)
    n, own, alone, other_alone = counts.sum(axis=2).T.astype(np.int64)
    p = np.array([mcnemar(each) for each in (only_one - only_other).astype(np.int64)])
    ends = np.stack((lead.estimate[0], np.maximum(low, -1.0), np.minimum(high, 1.0)), axis=1).tolist()
    before = n, (pairs > 0).sum(axis=1), own / n, (own - alone + other_alone) / n
    after = (column.tolist() for column in (alone, other_alone, p, holm(p)))
    rows = zip(*(column.tolist() for column in before), starmap(Estimate, ends), *after, strict=True)
    return {(one, other): PairedShares(*row) for (one, other), row in zip(twos.tolist(), rows, strict=True)}


def _counts(topics: Topics, one: FloatArray, other: FloatArray) -> FloatArray:
    """By prompt: pairs of both, and those where the one, the one alone and the other alone is right."""
    both = ~np.isnan(one + other)
    prompt, x, y = topics.prompt[both], one[both], other[both]
    weights = np.ones_like(x), x, x * (1.0 - y), y * (1.0 - x)
    return np.array([np.bincount(prompt, weight, len(topics.category)) for weight in weights])


def _lead(added: FloatArray) -> FloatArray:
    pairs, lead = np.split(added, 2)
    return ratio(lead, pairs)
