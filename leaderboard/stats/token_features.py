"""What the probabilities of an answer's tokens say about it: Huang et al. 2024, arXiv 2403.04222.

One natural log-probability for each token that was written, NaN where it is not known. A feature is None
where it cannot be computed: without tokens, where one is not known, and where it is infinite. All variances
divide by the number of values, as in the paper.

Where only the most likely tokens of each step are known, their entropy has bounds: what is left of the
probability lies on tokens that are at most as likely as the least of these. The entropy is least if it lies
on as few tokens as possible, and greatest if it is spread evenly over all.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import FloatArray, IntArray, ParameterError, check_length, numbers

ROUNDING: Final = 1e-3
"""How much a probability may exceed what is possible: models compute with few digits."""


def log_probabilities(name: str, values: npt.ArrayLike, dimensions: int) -> FloatArray:
    """A copy of natural log-probabilities, NaN where not known; raises ParameterError for others."""
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} must hold numbers, as many in each row") from error
    if found.size == 0:
        found = found.reshape((*found.shape, *[0] * dimensions)[:dimensions])
    if found.ndim != dimensions:
        raise ParameterError(f"{name} has {found.ndim} dimensions; it must have {dimensions}")
    if (found > ROUNDING).any():
        raise ParameterError(f"{name} holds {found[found > ROUNDING][0]:g}; a log-probability is 0 at most")
    return np.minimum(found, 0.0)


def surprise(log_p: FloatArray) -> FloatArray:
    """-p log p, which is 0 for a probability of 0."""
    return np.asarray(-np.exp(log_p) * np.where(np.isneginf(log_p), 0.0, log_p))


NOT_TOLD: Final = -9999.0
"""What endpoints write for a token that is not among the most likely ones: not known, here too."""


def mean_logprob(log_p: npt.ArrayLike) -> float | None:
    """The mean log-probability of the tokens."""
    return _finite(np.mean, _written(log_p))


def logprob_variance(log_p: npt.ArrayLike) -> float | None:
    """The variance of the log-probabilities of the tokens (Softmax-Var)."""
    return _finite(np.var, _written(log_p))


def sentence_logprob(log_p: npt.ArrayLike) -> float | None:
    """The sum of the log-probabilities: the logarithm of their product, the probability of the whole text
    (SentProb), which itself is too small to be stored after a few hundred tokens."""
    return _finite(np.sum, _written(log_p))


def reference_surprise(log_p: npt.ArrayLike) -> float | None:
    """The mean of -p log p over the tokens of the reference answer (SentProb-Ref)."""
    return _finite(np.mean, surprise(_written(log_p)))


def calibrated(feature: float | None, reference: float | None) -> float | None:
    """A feature less the surprise of the reference, which tells how hard the prompt is (section 3.2)."""
    return None if feature is None or reference is None else feature - reference


def dropout_mean(passes: npt.ArrayLike) -> float | None:
    """The mean over passes with dropout of the mean log-probability of the tokens (Unt-Exp).

    Rows are passes, columns tokens. The paper speaks of the probability of the sentence; the released code,
    and Fomicheva et al. 2020 whom it follows, take its logarithm per token, as is done here.
    """
    return _finite(np.mean, _of_passes(passes))


def dropout_variance(passes: npt.ArrayLike) -> float | None:
    """The variance over passes of what ``dropout_mean`` averages (Unt-Var)."""
    return _finite(np.var, _of_passes(passes))


def entropy_variance_sum(entropy: npt.ArrayLike, variance: npt.ArrayLike) -> FloatArray:
    """The normalised sum of both features for each completion of a set (Softmax-combo).

    Each is scaled so that it is 0 at its least and 1 at its most in the set, and so depends on which
    completions are in it; one that is the same everywhere adds 0. NaN where one is not known, and then the
    completion counts for no scale.
    """
    one, other = numbers("entropy", entropy), numbers("variance", variance)
    check_length("variance", other, "entropy", len(one))
    known = np.isfinite(one) & np.isfinite(other)
    found = np.full(len(one), np.nan)
    if known.any():
        found[known] = _scaled(one[known]) + _scaled(other[known])
    return found


def _scaled(values: FloatArray) -> FloatArray:
    low, reach = values.min(), np.ptp(values)
    return (values - low) / reach if reach > 0 else np.zeros(len(values))


def _written(log_p: npt.ArrayLike) -> FloatArray:
    found = log_probabilities("log_p", log_p, 1)
    return np.where(found == NOT_TOLD, np.nan, found)


def _of_passes(passes: npt.ArrayLike) -> FloatArray:
    found = log_probabilities("passes", passes, 2)
    return found.mean(axis=1) if found.shape[1] else np.empty(0)


def _finite(measure: Callable[..., Any], values: FloatArray) -> float | None:
    return float(measure(values)) if len(values) and np.isfinite(values).all() else None


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
