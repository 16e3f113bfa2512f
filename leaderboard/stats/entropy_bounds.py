"""Bounds of a mean entropy where only the most likely tokens of each step are known.

What is left of the probability lies on tokens that are at most as likely as the least of the most likely.
The entropy is least if it lies on as few of them as possible, and greatest if it is spread evenly over all.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import FloatArray, IntArray, ParameterError, check_length
from leaderboard.stats.log_probabilities import ROUNDING, log_probabilities, surprise


class EntropyBounds(NamedTuple):
    """Means over the steps, in nats; ``outside`` is the probability of the tokens that are not known."""

    low: float
    high: float
    outside: float


def entropy_bounds(
    top: npt.ArrayLike, vocabulary: int, beyond: npt.ArrayLike | None = None
) -> EntropyBounds | None:
    """Bounds of the mean entropy of steps; None without steps, or where nothing is known of one.

    A row of ``top`` holds the natural log-probabilities of the most likely tokens of a step in any order,
    NaN in places that are left over. ``beyond`` holds for each step the one of a further token that is
    known, as of the written one where it is not among the most likely, or NaN. Raises ParameterError where
    no distribution over so many tokens has these probabilities.
    """
    found = log_probabilities("top", top, 2)
    others = log_probabilities("beyond", np.full(len(found), np.nan) if beyond is None else beyond, 1)
    check_length("beyond", others, "top", len(found))
    if not len(found) or np.isnan(found).all(axis=1).any():
        return None
    cap = np.exp(np.nanmin(found, axis=1))
    if (np.exp(others) > cap + ROUNDING).any():
        raise ParameterError("a further token is more likely than one of the most likely")
    known = np.column_stack([found, others])
    unknown = vocabulary - np.count_nonzero(~np.isnan(known), axis=1)
    rest = 1.0 - np.nansum(np.exp(known), axis=1)
    if (rest < -ROUNDING).any():
        raise ParameterError("the probabilities of a step add up to more than 1")
    if (unknown < 0).any() or (rest > unknown * cap + ROUNDING).any():
        raise ParameterError(f"a step needs more than {vocabulary} tokens to add up to 1")
    told = np.nansum(surprise(known), axis=1)
    low, high = step_bounds(told, cap, rest, unknown)
    return EntropyBounds(float(low.mean()), float(high.mean()), float(np.maximum(rest, 0.0).mean()))


def step_bounds(
    told: FloatArray, cap: FloatArray, rest: FloatArray, unknown: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Bounds of the entropy of each step. ``told``: the sum of -p log p of the tokens that are known.

    ``rest``: the probability of all others, none of which exceeds ``cap``; ``unknown``: how many these are.
    """
    rest = np.clip(rest, 0.0, unknown * cap)
    return told + _least(rest, cap), told + _greatest(rest, unknown)


def _least(rest: FloatArray, cap: FloatArray) -> FloatArray:
    """The entropy of what is left on tokens as likely as allowed, and the remainder on a last one."""
    whole = np.floor(np.divide(rest, cap, out=np.zeros_like(rest), where=cap > 0))
    return whole * _entropy(cap) + _entropy(np.maximum(rest - whole * cap, 0.0))


def _greatest(rest: FloatArray, tokens: IntArray) -> FloatArray:
    return tokens * _entropy(rest / np.maximum(tokens, 1))


def _entropy(p: FloatArray) -> FloatArray:
    return surprise(np.log(p, out=np.full_like(p, -np.inf), where=p > 0))
