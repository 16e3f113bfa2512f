"""What the probabilities of an answer's tokens say about it: Huang et al. 2024, arXiv 2403.04222.

One natural log-probability for each token that was written, NaN where it is not known. A feature is None
where it cannot be computed: without tokens, where one is not known, and where it is infinite. All variances
divide by the number of values, as in the paper.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import FloatArray, check_length, numbers
from leaderboard.stats.log_probabilities import log_probabilities, surprise

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
