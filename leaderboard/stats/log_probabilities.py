"""Natural log-probabilities of tokens, as models and endpoints give them."""

from typing import Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import FloatArray, ParameterError

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
