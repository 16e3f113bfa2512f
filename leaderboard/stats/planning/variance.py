"""What one prompt says about the gap between two contestants, from assumptions: its variance, by source."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from leaderboard.stats.bradley_terry.fit import POINTS_PER_UNIT
from leaderboard.stats.errors import ParameterError
from leaderboard.stats.games import FloatArray
from leaderboard.stats.plain_values import whole_number

_NODES: Final = 64
"""Nodes of the quadrature over prompts."""

_FARTHEST: Final = 1e5
"""Points; no gap that a rating can show lies beyond."""


_WIDEST: Final = 600.0
"""Points; for prompts that differ much more the quadrature is off by more than 1 %."""


@dataclass(frozen=True)
class PromptVariance:
    """The variance that a single prompt gives a gap, in squared points: ``between + within / raters``.

    Prompts differ in whom they suit, whoever rates them (``between``), and raters differ on the same two
    answers (``within``, for one rater of every pair). More prompts shrink both, more raters only the second.
    ``within`` is None where nobody rated the same two answers twice; ``between`` then holds both.
    """

    between: float
    within: float | None

    def of_prompt(self, raters: float) -> float:
        """The variance with so many ratings of every pair; where the parts are not known, an upper bound."""
        return self.between + (self.within or 0.0) / raters


def assumed_variance(gap: float, ties: float, prompt_sd: float, contestants: int) -> PromptVariance:
    """The variance of the gap of two contestants among near equals, all compared in pairs on every prompt.

    ``gap`` is in points as Bradley-Terry shows it, a tie counting as half a win; ``ties`` is the share of
    ties, the same on every prompt; ``prompt_sd`` is the standard deviation, in points, of how much better or
    worse than its rating a contestant is on one prompt, normal and independent of the others. Computed by
    quadrature over the prompts; games against the other contestants leave 2 / contestants of the raters'
    part. Raises ParameterError for assumptions outside their range.
    """
    _check(gap, ties, prompt_sd, contestants)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    weights, shift = weights / weights.sum(), math.sqrt(2.0) * prompt_sd * nodes
    mean = float(_chance(np.array(gap)))

    def score(centre: float) -> FloatArray:
        return (1.0 - ties) * _chance(centre + shift) + ties / 2.0

    expected = score(_root(lambda centre: float(weights @ score(centre)) - mean))
    between = float(weights @ (expected - mean) ** 2)
    squared = expected - ties / 4.0
    within = float(weights @ (squared - expected**2))
    slope = mean * (1.0 - mean) / POINTS_PER_UNIT
    return PromptVariance(between / slope**2, 2.0 / contestants * within / slope**2)


def _chance(lead: FloatArray) -> FloatArray:
    chance: FloatArray = 0.5 * (1.0 + np.tanh(lead / (2.0 * POINTS_PER_UNIT)))
    return chance


def _root(function: Callable[[float], float]) -> float:
    from scipy.optimize import brentq

    return float(brentq(function, -_FARTHEST, _FARTHEST, xtol=1e-6))


def _check(gap: float, ties: float, prompt_sd: float, contestants: int) -> None:
    if not 0.0 <= ties < 1.0:
        raise ParameterError(f"ties is {ties}; it must be a share from 0 to less than 1")
    if not 0.0 <= prompt_sd <= _WIDEST:
        raise ParameterError(
            f"prompt_sd is {prompt_sd:g}; it must be a number of points from 0 to {_WIDEST:g}"
        )
    if whole_number("contestants", contestants) < 2:
        raise ParameterError(f"contestants is {contestants}; a comparison needs at least 2")
    if not gap < _FARTHEST or _chance(np.array(gap)) >= 1.0 - ties / 2.0:
        limit = f"with a share of {ties:g} ties even a contestant that wins all the rest shows less"
        raise ParameterError(f"gap is {gap:g}, which cannot be: {limit}")
