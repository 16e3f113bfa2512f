"""Does the part that people rated look like a random part of the judged pairs? The condition of anchoring."""

from collections.abc import Iterator

import numpy as np

from leaderboard.stats.anchored_pairs import BoolArray, RatedPairs
from leaderboard.stats.games import FloatArray


def balance(pairs: RatedPairs) -> dict[str, float]:
    """P values, small where the judged pairs that people rated too differ from a random part of all of them.

    ``contestants``: how often each contestant takes part. ``decided``: how far the judge's scores are from a
    draw. ``categories``: the categories of the prompts on which people rated pairs, where they are known.
    Only what can be tested is there: nothing where people rated all judged pairs.
    """
    judged = pairs.only(pairs.judged)
    return {
        name: _p_value(facts, chosen)
        for name, facts, chosen in _tests(judged)
        if 0 < chosen.sum() < len(chosen)
    }


def _tests(judged: RatedPairs) -> Iterator[tuple[str, FloatArray, BoolArray]]:
    takes_part = np.zeros((len(judged), judged.contestants))
    rows = np.arange(len(judged))
    takes_part[rows, judged.a] = takes_part[rows, judged.b] = 1.0
    yield "contestants", takes_part, judged.both
    yield "decided", np.abs(judged.judge - 0.5)[:, None], judged.both
    if judged.category is not None:
        _, one = np.unique(judged.prompt, return_index=True)
        with_people = np.bincount(judged.prompt, judged.both) > 0
        yield "categories", np.eye(judged.category.max() + 1)[judged.category[one]], with_people


def _p_value(facts: FloatArray, chosen: BoolArray) -> float:
    """For the mean of ``facts`` (things, k) over the chosen, drawn without replacement from all.

    The squared distance from the mean over all, in units of its covariance, is compared with the chi-square
    distribution.
    """
    from scipy.special import chdtrc

    sample = int(chosen.sum())
    covariance = np.atleast_2d(np.cov(facts.T)) * (1.0 - sample / len(facts)) / sample
    difference = facts[chosen].mean(axis=0) - facts.mean(axis=0)
    degrees = int(np.linalg.matrix_rank(covariance, hermitian=True))
    if not degrees:
        return 1.0
    distance = float(difference @ np.linalg.pinv(covariance, hermitian=True) @ difference)
    return float(chdtrc(degrees, distance))
