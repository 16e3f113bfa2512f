"""The estimating equation behind human-anchored ratings: means of Bradley-Terry scores over sets of pairs.

A pair i between contestants a and b has the design vector x (1 at a, -1 at b). Over a set S of pairs with
outcomes s, the Bradley-Terry fit solves mean(x (sigma(x theta) - s)) = 0. Prediction-powered inference
(Angelopoulos, Duchi and Zrnic 2023, *PPI++*; for Bradley-Terry: Boyeau et al. 2024, *AutoEval Done Right*)
adds such means: human outcomes over the pairs people rated, plus ``power`` times the judge's outcomes over
all judged pairs, minus ``power`` times the judge's outcomes over the pairs rated by both. The last two cancel
on average whatever the judge does, provided that people rated a random part of the judged pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from leaderboard.stats.anchored.pairs import BoolArray
from leaderboard.stats.bradley_terry.fit import gradient, hessian, newton
from leaderboard.stats.bradley_terry.pair_table import PairTable
from leaderboard.stats.games import FloatArray, IntArray

FARTHEST: Final = 15.0
"""Log-odds from the centre (2,600 points) beyond which an equation counts as having no finite solution."""

_SOLVED: Final = 1e-8


@dataclass(frozen=True, eq=False)
class Part:
    """The mean over one set of pairs: ``member`` (pairs,), and ``score`` (pairs,) of a, 0 outside the set."""

    member: BoolArray
    score: FloatArray

    @property
    def size(self) -> int:
        """How many pairs it holds."""
        return int(np.count_nonzero(self.member))


@dataclass(frozen=True, eq=False)
class Solution:
    """Log-odds (contestants,) and the influence (prompts, contestants) of every prompt on them.

    The sum over prompts of the outer products of their influence is the sandwich covariance, before any
    correction for few prompts. ``bread`` (contestants, contestants) turns scores of prompts into influence.
    ``prior`` says that one drawn game per contestant was added.
    """

    theta: FloatArray
    influence: FloatArray
    bread: FloatArray
    prior: bool


@dataclass(frozen=True, eq=False)
class Equation:
    """Pairs ``a``, ``b`` (pairs,), the dense number of their prompt, and the parts that are averaged.

    ``component`` numbers the groups of contestants that have a common scale. ``scale`` is the number of
    games one unit of a mean stands for: it gives the prior its weight and nothing else.
    """

    a: IntArray
    b: IntArray
    prompt: IntArray
    contestants: int
    component: IntArray
    parts: Sequence[Part]
    scale: float

    @cached_property
    def _cells(self) -> tuple[PairTable, IntArray, BoolArray]:
        """The distinct contestant pairs, the cell of each pair, and whether its a is the cell's second."""
        low, high = np.minimum(self.a, self.b), np.maximum(self.a, self.b)
        code, cell = np.unique(low * self.contestants + high, return_inverse=True)
        a, b = np.divmod(code, self.contestants)
        nothing = np.empty(0)
        table = PairTable(a, b, self.contestants, np.empty(0, np.int64), nothing, nothing, self.component)
        return table, cell.reshape(-1), self.a > self.b

    def totals(self, weights: Sequence[float]) -> tuple[FloatArray, FloatArray]:
        """Points of the first and of the second contestant per cell, each of shape (cells, 1), in games."""
        table, cell, turned = self._cells
        won, lost = np.zeros(len(table.a)), np.zeros(len(table.a))
        for part, weight in zip(self.parts, weights, strict=True):
            if weight:
                each = part.member * (weight * self.scale / part.size)
                first = np.where(turned, 1.0 - part.score, part.score)
                won += np.bincount(cell, each * first, len(table.a))
                lost += np.bincount(cell, each * (1.0 - first), len(table.a))
        return won[:, None], lost[:, None]

    def solve(self, weights: Sequence[float], start: FloatArray, *, prior: bool = False) -> Solution | None:
        """The solution of the weighted sum of the parts, None where there is no finite one."""
        table = self._cells[0]
        won, lost = self.totals(weights)
        flag = np.array([prior])
        with np.errstate(all="ignore"):
            try:
                theta = newton(table, won, lost, flag, start[:, None])
            except np.linalg.LinAlgError:
                return None
            slope, half = gradient(table, won, lost, flag, theta)
        solved = prior or np.abs(slope).max() <= _SOLVED * self.scale
        if not (solved and np.abs(theta).max() <= FARTHEST):
            return None
        bread = table.centred(np.linalg.inv(hessian(table, won + lost, half, flag, theta)[0])).T
        return Solution(theta[:, 0], self.weighted(weights, theta[:, 0]) @ bread, bread, prior)

    def weighted(self, weights: Sequence[float], theta: FloatArray) -> FloatArray:
        """Scores of every prompt (prompts, contestants), in games, summed over the parts."""
        return sum(
            (
                weight * self.scores(part, theta)
                for part, weight in zip(self.parts, weights, strict=True)
                if weight
            ),
            start=np.zeros((self.prompts, self.contestants)),
        )

    def scores(self, part: Part, theta: FloatArray) -> FloatArray:
        """What each prompt adds to the part's mean, (prompts, contestants), centred over the part's pairs.

        A prompt's sum is compared with as many average pairs, because the mean divides by a number of pairs
        that would change with the prompt.
        """
        expected = 0.5 + 0.5 * np.tanh(0.5 * (theta[self.a] - theta[self.b]))
        surplus = part.member * (part.score - expected) * (self.scale / part.size)
        places, size = self.prompt * self.contestants, self.prompts * self.contestants
        summed = np.bincount(places + self.a, surplus, size) - np.bincount(places + self.b, surplus, size)
        summed = summed.reshape(self.prompts, self.contestants)
        share = np.bincount(self.prompt, part.member, self.prompts) / part.size
        centred: FloatArray = summed - share[:, None] * summed.sum(axis=0)
        return centred

    def regrouped(self, component: IntArray, scale: float) -> "Equation":
        """The same pairs for other groups with a common scale."""
        return replace(self, component=component, scale=scale)

    @cached_property
    def prompts(self) -> int:
        """The number of prompts."""
        return int(self.prompt.max()) + 1

    def largest_power(self) -> float:
        """The largest power, at most 1, that leaves no cell with a negative number of games.

        Less than 1 only where people rated pairs that the judge did not: then the pairs rated by both are
        a smaller set than those rated by people, and subtracting them whole could make the equation bend
        the wrong way. The parts are human, judged and both, in this order.
        """
        table, cell, _ = self._cells
        human, judged, both = (
            np.bincount(cell, part.member, len(table.a)) / part.size for part in self.parts
        )
        excess = both - judged
        tight = excess > 1e-12
        limit = float(np.min(human[tight] / excess[tight], initial=np.inf))
        return 1.0 if limit >= 1.0 - 1e-9 else 0.9 * limit
