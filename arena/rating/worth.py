"""What another comparison of two contestants, or of two texts, is worth. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

PairKey = tuple[int, int]  # two completion ids, the smaller first

# What another comparison of two contestants would say about the standings. A Bradley-Terry model with a
# Gaussian prior is fitted to the comparisons so far; its covariance tells by how much one more would narrow
# the strengths (an A-optimal design; Glickman and Jensen 2005, "Adaptive paired comparison design").

PRIOR_DEVIATION = 1.5
"""Standard deviation of strengths before any comparison, in logits: about 260 Elo points."""

REFIT = 0.01  # growth of the comparisons after which the model is fitted again

STEPS = 50


@dataclass(frozen=True)
class Fit:
    """Strengths in logits with their posterior covariance."""

    strengths: FloatArray
    covariance: FloatArray


def fit(wins: FloatArray, deviation: float = PRIOR_DEVIATION) -> Fit:
    """The most likely strengths; wins[i, j]: how often i was preferred to j, with ties as halves."""
    size = len(wins)
    games = wins + wins.T
    strengths = np.zeros(size)
    precision = np.eye(size) / deviation**2
    information = precision
    for _ in range(STEPS):
        chance = _chances(strengths)
        slope = (wins - games * chance).sum(axis=1) - strengths / deviation**2
        information = precision + laplacian(games * chance * (1 - chance))
        step = np.linalg.solve(information, slope)
        # A step of two logits is more than any first step needs, and keeps later ones from overshooting.
        strengths = strengths + np.clip(step, -2.0, 2.0)
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    return Fit(strengths, np.linalg.inv(information).astype(np.float64))


def _chances(strengths: FloatArray) -> FloatArray:
    chances: FloatArray = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    return chances


def laplacian(weights: FloatArray) -> FloatArray:
    """The information about strengths in comparisons with these weights."""
    information: FloatArray = np.diag(weights.sum(axis=1)) - weights
    return information


def gains(found: Fit) -> FloatArray:
    """By how much one more comparison of i and j lessens the sum of the variances of the strengths.

    Strengths are relative to their mean. With x = e_i - e_j, w = p(1 - p) and covariance S, a comparison adds
    w x x' to the information, so S shrinks by w S x x' S / (1 + w x'S x) (Sherman and Morrison 1950); the
    gain is the trace of that, centred.
    """
    chance = _chances(found.strengths)
    weight = chance * (1 - chance)
    centred = found.covariance - found.covariance.mean(axis=0, keepdims=True)
    gain = weight * _between(centred.T @ centred) / (1 + weight * _between(found.covariance))
    np.fill_diagonal(gain, 0.0)
    return np.maximum(gain, 0.0)


def _between(products: FloatArray) -> FloatArray:
    """x'Px for every x = e_i - e_j."""
    own = np.diag(products)
    return own[:, None] + own[None, :] - 2 * products


def components(games: FloatArray) -> NDArray[np.int64]:
    """A number for each contestant, equal if comparisons connect them."""
    size = len(games)
    number = np.full(size, -1, dtype=np.int64)
    for start in range(size):
        if number[start] >= 0:
            continue
        reached, number[start] = [start], start
        while reached:
            near = np.flatnonzero((games[reached.pop()] > 0) & (number < 0))
            number[near] = start
            reached.extend(int(each) for each in near)
    return number


def worth(wins: FloatArray) -> FloatArray:
    """The weights by which pairs of contestants are drawn.

    Unconnected contestants cannot be ranked together: while there are any, only comparisons between them
    count.
    """
    gain = gains(fit(wins))
    number = components(wins + wins.T)
    apart = number[:, None] != number[None, :]
    return np.where(apart, gain, 0.0) if apart.any() else gain


def disagreement(
    feature: Mapping[int, float], contestants: Mapping[int, int | None], preference: Mapping[PairKey, float]
) -> dict[PairKey, float]:
    """How far a feature says the other text of a pair than judges do, where it does.

    ``feature`` by completion, more for the better; ``preference`` of judges for the first of each pair, from
    -1 to 1. That is the distance of the two by the feature, times how unsure judges are. Features of
    different contestants have no common scale, so it is in standard deviations of the contestant's own texts.
    """
    value = _standardised(feature, contestants)
    found = {
        (first, second): float((value[second] - value[first]) * np.sign(said) * (1.0 - abs(said)))
        for (first, second), said in preference.items()
        if first in value and second in value
    }
    return {pair: distance for pair, distance in found.items() if distance > 0}


def _standardised(feature: Mapping[int, float], contestants: Mapping[int, int | None]) -> dict[int, float]:
    """The feature of each text, less the mean of its contestant's texts, over their deviation."""
    found: dict[int, float] = {}
    known = sorted(feature.keys() & contestants.keys(), key=lambda text: contestants[text] or 0)
    for _, group in groupby(known, key=lambda text: contestants[text]):
        texts = list(group)
        values = np.array([feature[text] for text in texts])
        spread = values.std()
        scaled = (values - values.mean()) / (spread if spread > 0 else 1.0)
        found |= zip(texts, scaled.tolist(), strict=True)
    return found
