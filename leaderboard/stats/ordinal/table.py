"""Ratings reduced to what the ordinal model needs: distinct binary cells, and how ratings add up to them.

Rating r of n points says two yes-or-no things: "at most r" holds (unless r = n) and "at most r - 1" does not
(unless r = 1). With log-odds z_k = tau_k + d for "at most k", the logistic distribution lets the probability
of the rating factor into them:

    P(r) = F(z_r) F(-z_(r-1)) (1 - exp(-(tau_r - tau_(r-1)))),

so the likelihood is that of logistic regression on the cells (row of the design, threshold k), each so many
times won and lost, times a term for the width between thresholds, which depends on the thresholds alone.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from leaderboard.stats.connectivity import connected_components
from leaderboard.stats.games import FloatArray, IntArray
from leaderboard.stats.ordinal.layout import Layout
from leaderboard.stats.outcomes import Outcomes


@dataclass(frozen=True, eq=False)
class OrdinalTable:
    """The cells of the ratings and the sums that lead to them.

    ``distinct_ratings`` differ in something the model looks at (as outcomes: first, second, rating); after
    those come the imaginary ratings, each value of each scale once. ``design`` (cells,
    parameters) gives the log-odds of each cell. ``won`` and ``lost`` (cells, distinct and imaginary) say
    which ratings speak for and against it, ``inside`` (widths, the same) which lie between two thresholds,
    and ``widths`` (widths, parameters) how far apart those are. ``spread`` (imaginary, levels) and ``level``
    (levels, distinct) give imaginary ratings to the levels that have none. ``deviation`` is the
    standard deviation of each covariate; ``component`` numbers the connected contestants.
    """

    layout: Layout
    distinct_ratings: Outcomes
    design: Any
    won: Any
    lost: Any
    inside: Any
    widths: FloatArray
    level: Any
    spread: FloatArray
    pairs: Any
    pair_sides: tuple[IntArray, IntArray]
    deviation: FloatArray
    component: IntArray

    @property
    def distinct(self) -> int:
        """How many distinct ratings there are."""
        return len(self.distinct_ratings)

    @property
    def of_rating(self) -> IntArray:
        """The number of each rating among the distinct ones."""
        return self.distinct_ratings.of_game

    @cached_property
    def count(self) -> FloatArray:
        """How often each distinct rating was given."""
        return np.bincount(self.of_rating, minlength=self.distinct).astype(np.float64)

    @cached_property
    def gauge(self) -> FloatArray:
        """(parameters, parameters): the mean of each component, which the likelihood leaves open."""
        same = self.component[:, None] == self.component[None, :]
        mean = np.zeros((self.layout.size, self.layout.size))
        contestants = self.layout.contestants
        mean[:contestants, :contestants] = same / same.sum(axis=1, keepdims=True)
        return mean

    @cached_property
    def row_of_entry(self) -> IntArray:
        """The cell of each number stored in ``design``."""
        return np.repeat(np.arange(self.design.shape[0]), np.diff(self.design.indptr))

    @cached_property
    def design_by_parameter(self) -> Any:
        """``design`` transposed, ready to multiply."""
        return self.design.T.tocsr()

    @cached_property
    def products(self) -> Any:
        """Sparse (parameters * parameters, cells): the outer product of each row of ``design`` with itself.

        So that curvatures of many rounds are one product with the weights of their cells.
        """
        from scipy.sparse import csr_array

        entries = np.diff(self.design.indptr)[self.row_of_entry]
        left = np.repeat(np.arange(len(entries)), entries)
        nth = np.arange(len(left)) - np.repeat(np.cumsum(entries) - entries, entries)
        right = self.design.indptr[self.row_of_entry[left]] + nth
        value = self.design.data[left] * self.design.data[right]
        place = self.design.indices[left].astype(np.int64) * self.layout.size + self.design.indices[right]
        shape = (self.layout.size**2, self.design.shape[0])
        return csr_array((value, (place, self.row_of_entry[left])), shape=shape)

    def falls_apart(self, weights: FloatArray) -> Any:
        """Which rounds of ``weights`` (distinct, rounds) connect fewer contestants than all ratings do."""
        played = (self.pairs @ weights) > 0
        apart = ~played.all(axis=0)
        groups = self.component.max(initial=-1)
        for number in np.flatnonzero(apart):
            met = played[:, number]
            first, second = (side[met] for side in self.pair_sides)
            apart[number] = connected_components(first, second, self.layout.contestants).max() > groups
        return apart
