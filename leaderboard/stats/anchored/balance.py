"""Does the part that people rated look like a random part of the judged pairs? The condition of anchoring."""

from typing import Final

import numpy as np

from leaderboard.stats.anchored.pairs import BoolArray, RatedPairs
from leaderboard.stats.games import FloatArray

_LEAST: Final = 1e-9
"""A share of the variance below this is rounding."""


def balance(pairs: RatedPairs) -> dict[str, float]:
    """P values, small where the judged pairs that people rated too differ from a random part of all of them.

    ``contestants``: how often each contestant takes part. ``decided``: how far the judge's scores are from a
    draw. ``categories``: the categories of the prompts on which people rated pairs, where they are known.
    Only what can be tested is there: nothing where people rated all judged pairs.
    """
    judged = pairs.only(pairs.judged)
    takes_part = np.zeros((len(judged), judged.contestants))
    rows = np.arange(len(judged))
    takes_part[rows, judged.a] = takes_part[rows, judged.b] = 1.0
    found = {}
    if not judged.both.all():
        found["contestants"] = _of_pairs(takes_part, judged)
        found["decided"] = _of_pairs(np.abs(judged.judge - 0.5)[:, None], judged)
    with_people = np.bincount(judged.prompt, judged.both) > 0
    if judged.category is not None and not with_people.all():
        _, one = np.unique(judged.prompt, return_index=True)
        found["categories"] = _drawn(np.eye(judged.category.max() + 1)[judged.category[one]], with_people)
    return found


def _of_pairs(facts: FloatArray, judged: RatedPairs) -> float:
    """For ``facts`` (pairs, k): prompts are the units where there are enough of them, single pairs otherwise.

    People may have rated whole prompts or pairs here and there. Sums over prompts are right for both, but
    their covariance can be known only from more prompts than there are facts.
    """
    prompts = int(judged.prompt.max()) + 1
    if prompts <= 2 * facts.shape[1]:
        return _drawn(facts, judged.both)
    off = (judged.both - judged.both.mean())[:, None] * (facts - facts.mean(axis=0))
    sums = np.zeros((prompts, facts.shape[1]))
    np.add.at(sums, judged.prompt, off)
    distance, degrees = _squared(sums.sum(axis=0), sums.T @ sums, float((off**2).sum()))
    if not degrees:
        return 1.0
    from scipy.special import fdtrc

    freedom = prompts - degrees
    return float(fdtrc(degrees, freedom, distance * freedom / (degrees * (prompts - 1))))


def _drawn(facts: FloatArray, chosen: BoolArray) -> float:
    """For the mean of ``facts`` (things, k) over the chosen, drawn one by one from all (chi-square)."""
    from scipy.special import chdtrc

    sample = int(chosen.sum())
    covariance = np.atleast_2d(np.cov(facts.T)) * (1.0 - sample / len(facts)) / sample
    difference = facts[chosen].mean(axis=0) - facts.mean(axis=0)
    distance, degrees = _squared(difference, covariance, float(np.trace(covariance)))
    return float(chdtrc(degrees, distance)) if degrees else 1.0


def _squared(difference: FloatArray, covariance: FloatArray, whole: float) -> tuple[float, int]:
    """The squared distance in units of its covariance, and its degrees of freedom.

    ``whole`` is a variance to measure by: directions with next to nothing of it do not count.
    """
    variance, direction = np.linalg.eigh(covariance)
    real = variance > _LEAST * whole
    along = difference @ direction[:, real]
    return float((along**2 / variance[real]).sum()), int(np.count_nonzero(real))
