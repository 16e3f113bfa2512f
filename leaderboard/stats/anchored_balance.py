"""Does the part that people rated look like a random part of the judged pairs? The condition of anchoring."""

import numpy as np

from leaderboard.stats.anchored_pairs import RatedPairs
from leaderboard.stats.games import FloatArray


def balance(pairs: RatedPairs) -> dict[str, float]:
    """P values, small where the judged pairs that people rated too differ from a random part of all of them.

    ``contestants``: how often each contestant takes part. ``decided``: how far the judge's scores are from a
    draw. Only what can be tested is there: not where people rated all judged pairs.
    """
    judged = pairs.only(pairs.judged)
    if judged.both.all():
        return {}
    takes_part = np.zeros((len(judged), pairs.contestants))
    rows = np.arange(len(judged))
    takes_part[rows, judged.a] = takes_part[rows, judged.b] = 1.0
    decided = np.abs(judged.judge - 0.5)[:, None]
    return {"contestants": _p_value(takes_part, judged), "decided": _p_value(decided, judged)}


def _p_value(facts: FloatArray, pairs: RatedPairs) -> float:
    """For the mean of ``facts`` (pairs, k) over the human-rated pairs, drawn without replacement from all.

    The squared distance from the mean over all pairs, in units of its covariance, is compared with the
    chi-square distribution.
    """
    from scipy.special import chdtrc

    sample, chosen = int(pairs.both.sum()), pairs.both
    covariance = np.atleast_2d(np.cov(facts.T)) * (1.0 - sample / len(pairs)) / sample
    difference = facts[chosen].mean(axis=0) - facts.mean(axis=0)
    degrees = int(np.linalg.matrix_rank(covariance, hermitian=True))
    if not degrees:
        return 1.0
    distance = float(difference @ np.linalg.pinv(covariance, hermitian=True) @ difference)
    return float(chdtrc(degrees, distance))
