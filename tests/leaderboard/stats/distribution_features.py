"""Features of a model's whole distributions over tokens in NumPy, beside which those of a local model stand.

Huang et al. 2024, arXiv 2403.04222, and, apart from it, what the code released with that paper computes.
Rows of two-dimensional arrays are steps, one for each token that was written, columns the vocabulary. A
feature is None without steps.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import FloatArray, ParameterError
from leaderboard.stats.token_features import ROUNDING, log_probabilities, surprise


def token_entropies(log_p: npt.ArrayLike) -> FloatArray:
    """The entropy in nats of each step's natural log-probabilities. Raises ParameterError."""
    found = log_probabilities("log_p", log_p, 2)
    total = np.exp(found).sum(axis=1)
    if not (np.abs(total - 1.0) <= ROUNDING).all():  # NaN too
        raise ParameterError("the probabilities of a step must add up to 1")
    return np.asarray(surprise(found).sum(axis=1))


def mean_entropy(log_p: npt.ArrayLike) -> float | None:
    """The mean entropy of the steps (Softmax-Ent)."""
    return _mean(token_entropies(log_p))


class AttentionEntropy(NamedTuple):
    """Over all heads of all layers (AttnEnt-Avg and AttnEnt-Min)."""

    mean: float
    least: float


def attention_entropies(weights: npt.ArrayLike) -> FloatArray:
    """The entropy of each head, by layer: the mean over its rows of -sum a log a. Raises ParameterError.

    ``weights``: layers, heads, rows, columns; a row holds the weights that a token gives to each column. It
    need not add up to 1: the paper sums over a part of the tokens.
    """
    found = np.array(weights, dtype=np.float64)
    if found.ndim != 4 or not ((found >= 0.0) & (found <= 1.0 + ROUNDING)).all():
        raise ParameterError("weights must be layers of heads of rows of numbers from 0 to 1")
    logs = np.log(found, out=np.zeros_like(found), where=found > 0)
    rows = -(found * logs).sum(axis=3)
    return np.asarray(rows.mean(axis=2)) if rows.shape[2] else np.empty((0, 0))


def attention_entropy(weights: npt.ArrayLike) -> AttentionEntropy | None:
    found = attention_entropies(weights)
    return AttentionEntropy(float(found.mean()), float(found.min())) if found.size else None


def released_entropy(logits: npt.ArrayLike) -> float | None:
    """What the released code calls entropy: over steps the mean of the mean over the vocabulary of
    log-probability x logit. It is no entropy, and changes where a constant is added to all logits."""
    raw, log_p = _softmax(logits)
    return _mean((log_p * raw).mean(axis=1))


def released_variance(logits: npt.ArrayLike) -> float | None:
    """What the released code calls variance: over steps the mean of the variance over the vocabulary of the
    log-probabilities, which divides by the size of the vocabulary less 1."""
    return _mean(_softmax(logits)[1].var(axis=1, ddof=1))


def _softmax(logits: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """The logits and their log-probabilities. Raises ParameterError."""
    raw = np.array(logits, dtype=np.float64)
    if raw.ndim != 2 or raw.shape[1] < 2 or not np.isfinite(raw).all():
        raise ParameterError("logits must be steps of at least two finite numbers")
    shifted = raw - raw.max(axis=1, keepdims=True)
    return raw, shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _mean(steps: FloatArray) -> float | None:
    return float(steps.mean()) if len(steps) else None
