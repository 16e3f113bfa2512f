"""Self-preference: whether a judge rates its own family higher than others do on the same pairs."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.clustered_means import mean_over_prompts
from leaderboard.stats.plain_values import Result
from leaderboard.stats.sums import group_means


@dataclass(frozen=True)
class OwnFamily(Result):
    """Mean preferences for the family on [-1, 1], over pairs that the judge and others rated."""

    n: int
    prompts: int
    own: float | None
    others: float | None
    difference: float | None  # own less others
    low: float | None
    high: float | None


def own_family(
    pair: IntArray,
    prompt: IntArray,
    preference: FloatArray,
    judged: npt.NDArray[np.bool_],
    level: float = 95.0,
) -> OwnFamily:
    """The family's pairs, each counted once, from preferences by the judge (``judged``) and by others."""
    pairs, first, number = np.unique(pair, return_index=True, return_inverse=True)
    # That its family wins more often says nothing, since the family may be better.
    means = [group_means(number[mine], preference[mine], len(pairs)) for mine in (judged, ~judged)]
    both = ~np.isnan(means[0] + means[1])
    own, others = (each[both] for each in means)
    found = mean_over_prompts(own - others, prompt[first][both], level).clipped(-2.0, 2.0)
    return OwnFamily(
        n=found.n,
        prompts=found.prompts,
        own=float(own.mean()) if len(own) else None,
        others=float(others.mean()) if len(own) else None,
        difference=found.value,
        low=found.low,
        high=found.high,
    )
