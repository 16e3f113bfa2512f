"""What another comparison of two contestants would say about the standings. Pure.

A Bradley-Terry model with a Gaussian prior is fitted to the comparisons so far; its covariance tells how
uncertain each strength is, and by how much one more comparison of two contestants would lessen that (an
A-optimal design; Glickman and Jensen 2005, "Adaptive paired comparison design", choose by such an expected
gain of information). Pairs are then drawn in proportion to their gain, as Chatbot Arena does with the
expected narrowing of intervals (Chiang et al. 2024, section 5), and not always the best one: every pair keeps
a chance, and raters who ask at the same moment get different pairs.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

PRIOR_DEVIATION = 1.5
"""Standard deviation of strengths before any comparison, in logits: about 260 Elo points."""

REFIT = 0.01
"""The model is fitted again when the comparisons have grown by this share; less hardly changes it."""

STEPS = 50
"""Newton's method converges in less than ten; this ends it whatever comes."""


@dataclass(frozen=True)
class Fit:
    """Strengths in logits with their posterior covariance, one place for each contestant."""

    strengths: FloatArray
    covariance: FloatArray


def fit(wins: FloatArray, deviation: float = PRIOR_DEVIATION) -> Fit:
    """The most likely strengths; wins[i, j] is how often i was preferred to j, a tie half a win for each."""
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
    """How likely each is preferred to each."""
    chances: FloatArray = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    return chances


def laplacian(weights: FloatArray) -> FloatArray:
    """The information about strengths in comparisons of this weight between each two contestants."""
    information: FloatArray = np.diag(weights.sum(axis=1)) - weights
    return information


def gains(found: Fit) -> FloatArray:
    """By how much one more comparison of i and j lessens the sum of the variances of the strengths.

    Strengths count as they stand on a board, relative to their mean. With x = e_i - e_j, w = p(1 - p) and
    covariance S, one comparison adds w x x' to the information, so that (Sherman and Morrison 1950) S shrinks
    by w S x x' S / (1 + w x'S x); the gain is the trace of that between centred strengths.
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
    """A number for each contestant, the same for those that comparisons connect."""
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
    """What to draw pairs of contestants in proportion to.

    Contestants that no chain of comparisons connects cannot be ranked together, so as long as there are any,
    only comparisons between unconnected ones are worth something.
    """
    gain = gains(fit(wins))
    number = components(wins + wins.T)
    apart = number[:, None] != number[None, :]
    return np.where(apart, gain, 0.0) if apart.any() else gain
