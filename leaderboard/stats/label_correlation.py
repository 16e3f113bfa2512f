"""Correlation of two raters on the same pairs, from labels of any kind: for a notebook.

Every pair is entered in both orientations, so renaming contestants cannot change a correlation.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.agreement_opinions import opinion_rows, pair_sums
from leaderboard.stats.checks import FloatArray
from leaderboard.stats.correlation import coefficients
from leaderboard.stats.plain_values import Result

FEWEST_PAIRS: Final = 3
PairMeans = Mapping[Hashable, float]
"""The mean preference of a rater for each pair: -1 first much better, +1 second much better."""


@dataclass(frozen=True)
class Correlation(Result):
    """Agreement on the pairs both rated."""

    category: str | None  # None for all pairs
    n: int
    pearson: float | None
    spearman: float | None
    kendall: float | None
    reason: str | None = None  # why there are no coefficients


def pair_means(
    pair: Sequence[Hashable], rating: npt.ArrayLike, points: npt.ArrayLike, flipped: npt.ArrayLike
) -> dict[Hashable, float]:
    """The mean preference for each pair over all its ratings, on [-1, 1] in the pair's own orientation.

    ``rating`` is as shown, ``flipped`` marks ratings shown the other way round. Raises a StatsError.
    """
    labels = dict.fromkeys(pair)
    number = {label: place for place, label in enumerate(labels)}
    rows = opinion_rows([number[label] for label in pair], 0, rating, points, flipped)
    return dict(zip(labels, pair_sums(rows, len(labels)).mean.tolist(), strict=True))


def correlate(
    one: PairMeans, other: PairMeans, category: Mapping[Hashable, str] | None = None
) -> tuple[Correlation, ...]:
    """Correlations over the pairs both rated: all of them first, then each category by name."""
    shared = sorted(one.keys() & other.keys(), key=repr)
    groups: dict[str, list[Hashable]] = {}
    for key in shared:
        if category is not None and key in category:
            groups.setdefault(category[key], []).append(key)
    return tuple(
        _correlation(name, *(np.array([means[key] for key in keys], dtype=float) for means in (one, other)))
        for name, keys in [(None, shared), *sorted(groups.items())]
    )


def _correlation(category: str | None, x: FloatArray, y: FloatArray) -> Correlation:
    n = len(x)
    if n < FEWEST_PAIRS:
        return _undefined(category, n, f"fewer than {FEWEST_PAIRS} pairs rated by both")
    for values, which in ((x, "first"), (y, "second")):
        if not values.any():
            return _undefined(category, n, f"the {which} rater gave every pair the middle of the scale")
    pearson, spearman, kendall = coefficients(x, y).tolist()
    return Correlation(category, n, pearson, spearman, kendall)


def _undefined(category: str | None, n: int, reason: str) -> Correlation:
    return Correlation(category, n, None, None, None, reason)
