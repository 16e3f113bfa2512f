"""The outcomes of games by pair of contestants: points, who is connected, whose strengths have no limit."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components as label

from leaderboard.stats.checks import BoolArray, FloatArray, IntArray

ABOVE: Final = "above"
"""No upper limit: nobody outside its set took even half a point from the set."""
BELOW: Final = "below"
"""No lower limit: its set took no point from anybody outside."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Distinct outcomes with ``a < b``, at most three for each pair unless games are shared."""

    a: IntArray
    b: IntArray
    score: FloatArray
    of_game: npt.NDArray[Any]  # outcome number of each game

    def __len__(self) -> int:
        return len(self.a)


def outcomes_of(a: IntArray, b: IntArray, score: FloatArray, contestants: int) -> Outcomes:
    """The distinct outcomes of games; a game seen from the other side is the same."""
    levels, level = np.unique(np.where(a > b, 1.0 - score, score), return_inverse=True)
    code = (np.minimum(a, b) * contestants + np.maximum(a, b)) * len(levels) + level
    distinct, number = np.unique(code, return_inverse=True)
    pair, level = np.divmod(distinct, max(len(levels), 1))
    low, high = np.divmod(pair, max(contestants, 1))
    # Two bytes for each game, four above 65,535 outcomes; one number more must fit, which stands for no game.
    size = np.promote_types(np.uint16, np.min_scalar_type(len(distinct)))
    return Outcomes(low, high, levels[level], number.astype(size))


@dataclass(frozen=True, eq=False)
class PairTable:
    """The pairs of contestants that met, and their outcomes; "per pair" is (pairs, rounds)."""

    a: IntArray  # below b
    b: IntArray
    contestants: int
    pair_of_outcome: IntArray
    score_of_outcome: FloatArray
    count_of_outcome: FloatArray
    component: IntArray  # connected groups by size, then by first contestant

    @classmethod
    def of(cls, outcomes: Outcomes, contestants: int) -> "PairTable":
        code, pair = np.unique(outcomes.a * contestants + outcomes.b, return_inverse=True)
        a, b = np.divmod(code, max(contestants, 1))
        count = np.bincount(outcomes.of_game, minlength=len(outcomes)).astype(np.float64)
        component = connected_components(a, b, contestants)
        return cls(a, b, contestants, pair, outcomes.score, count, component)

    def left_with(self, count: FloatArray) -> "PairTable":
        """The table with other counts of its outcomes, none of which may be larger."""
        left, component = self.pair_of_outcome[count > 0], self.component
        if len(left) < len(count):
            component = connected_components(self.a[left], self.b[left], self.contestants)
        table = replace(self, count_of_outcome=count, component=component)
        # To make them again takes longer than a fit of the table.
        for name in ("sides", "_ends", "_outcomes_of_pairs"):
            table.__dict__[name] = getattr(self, name)
        return table

    @cached_property
    def sides(self) -> Any:
        """Sparse (contestants, pairs): 1 where the contestant is a of the pair, -1 where it is b."""
        pairs = len(self.a)
        values = np.repeat((1.0, -1.0), pairs)
        places = (np.concatenate((self.a, self.b)), np.tile(np.arange(pairs), 2))
        return csr_array((values, places), shape=(self.contestants, pairs))

    @cached_property
    def _ends(self) -> Any:
        """Sparse (contestants, 2 * pairs): 1 where the contestant is a of the pair, then where it is b."""
        ends = np.concatenate((self.a, self.b))
        places = (ends, np.arange(len(ends)))
        return csr_array((np.ones(len(ends)), places), shape=(self.contestants, len(ends)))

    @cached_property
    def _outcomes_of_pairs(self) -> tuple[IntArray, IntArray]:
        """The numbers of all outcomes, and where those of each pair begin and end: they stand together."""
        ends = np.searchsorted(self.pair_of_outcome, np.arange(len(self.a) + 1))
        return np.arange(len(self.pair_of_outcome)), ends

    @cached_property
    def all_games(self) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Of all games as a single round: the points of a and of b, and who has no finite maximum."""
        won, lost = self.points(self.count_of_outcome[:, None])
        return won, lost, self.no_finite_maximum(won, lost)

    @cached_property
    def unbounded(self) -> tuple[str | None, ...]:
        """``ABOVE``, ``BELOW`` or None for each contestant.

        Contestants who took points from each other, directly or around a circle, form a set. A set that gave
        no point to others it met is ``ABOVE``, one that took none ``BELOW``. Sets in between get None.
        """
        won, lost = (points[:, 0] > 0 for points in self.all_games[:2])
        giver = np.concatenate((self.b[won], self.a[lost]))
        taker = np.concatenate((self.a[won], self.b[lost]))
        steps = csr_array((np.ones(len(giver)), (giver, taker)), shape=(self.contestants,) * 2)
        sets, number = label(steps, directed=True, connection="strong")
        across = number[giver] != number[taker]
        gives, takes = np.zeros(sets, dtype=bool), np.zeros(sets, dtype=bool)
        gives[number[giver[across]]] = True
        takes[number[taker[across]]] = True
        return tuple(
            ABOVE if takes[own] and not gives[own] else BELOW if gives[own] and not takes[own] else None
            for own in number.tolist()
        )

    def points(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Points of a and of b per pair, from weights on the outcomes (outcomes, rounds)."""
        score = self.score_of_outcome
        return self._of_pairs(score, weights), self._of_pairs(1.0 - score, weights)

    def ties(self, weights: FloatArray) -> FloatArray:
        """Ties per pair, from weights on the outcomes (outcomes, rounds).

        A share s of a win is 4 s (1 - s) of a tie.
        """
        score = self.score_of_outcome
        return self._of_pairs(4.0 * score * (1.0 - score), weights)

    def _of_pairs(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        summing = csr_array((values, *self._outcomes_of_pairs), shape=(len(self.a), len(values)))
        return np.asarray(summing @ weights)

    @cached_property
    def gauge(self) -> FloatArray:
        """(contestants, contestants): the mean of each component, which the likelihood leaves open."""
        same = self.component[:, None] == self.component[None, :]
        return np.asarray(same / same.sum(axis=1, keepdims=True))

    def centred(self, theta: FloatArray) -> FloatArray:
        """``theta`` (contestants, rounds) shifted so that each component has mean 0."""
        return theta - self.gauge @ theta

    def largest_difference(self, theta: FloatArray) -> FloatArray:
        """The largest difference between the two of a pair, (rounds,)."""
        return np.asarray(np.abs(theta[self.a] - theta[self.b]).max(axis=0, initial=0.0))

    def no_finite_maximum(self, won: FloatArray, lost: FloatArray) -> BoolArray:
        """Whose component has no finite maximum (Ford 1957) in a round: (contestants, rounds)."""
        start = np.zeros((self.contestants, won.shape[1]), dtype=bool)
        a_gave, b_gave = lost > 0, won > 0
        if (a_gave & b_gave).all():
            return start
        start[np.unique(self.component, return_index=True)[1]] = True
        both_ways = self._reach(start, b_gave, a_gave) & self._reach(start, a_gave, b_gave)
        return self.gauge @ ~both_ways > 0

    def _reach(self, reached: BoolArray, a_to_b: BoolArray, b_to_a: BoolArray) -> BoolArray:
        steps = np.concatenate((b_to_a, a_to_b))
        from_ends = np.concatenate((self.b, self.a))
        while True:
            before = np.count_nonzero(reached)
            reached = reached | (self._ends @ (reached[from_ends] & steps).astype(np.float32) > 0)
            if np.count_nonzero(reached) == before:
                return reached


def connected_components(a: IntArray, b: IntArray, contestants: int) -> IntArray:
    """The connected group of each contestant: 0 is the largest, equal sizes by their first member."""
    edges = csr_array((np.ones(len(a)), (a, b)), shape=(contestants, contestants))
    found = label(edges, directed=False)[1]
    _, first, size = np.unique(found, return_index=True, return_counts=True)
    order = np.lexsort((first, -size))
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return np.asarray(number[found].astype(np.int64))
