"""Maxima of the concave log-likelihoods of many rounds: Newton steps, and cheaper chord steps.

The maximum of a resample lies near that of all games, so one inverse curvature, taken there, serves most
rounds ("chord" steps). Rounds this does not settle, and rounds with another prior, get Newton steps.
"""

from dataclasses import dataclass
from typing import Final, Protocol, Self

import numpy as np

from leaderboard.stats.checks import BoolArray, FloatArray, IntArray

_TOLERANCE: Final = 1e-11
_NEWTON_STEPS: Final = 100
# A shorter step that is no shorter than half the one before is rounding.
_ROUNDING: Final = 1e-6


_CHORD_STEPS: Final = 40
_LONGEST_STEP: Final = 3.0
_HALVINGS: Final = 30
# Of the curvatures of rounds climbed together: 16 MB.
_MOST_NUMBERS: Final = 2**21


class Likelihood(Protocol):
    """A concave log-likelihood for each round; ``x`` is (parameters, rounds)."""

    @property
    def prior(self) -> BoolArray:
        """Who has the prior in which round, (contestants, rounds)."""

    def value(self, x: FloatArray) -> FloatArray:
        """The log-likelihood with the prior, (rounds,)."""

    def slope(self, x: FloatArray) -> FloatArray:
        """Its first derivative, (parameters, rounds)."""

    def curvature(self, x: FloatArray) -> FloatArray:
        """Minus its second derivative, made regular, (rounds, parameters, parameters)."""

    def reach(self, step: FloatArray) -> FloatArray:
        """By how much a step moves any log-odds at most, (rounds,)."""

    def only(self, rounds: IntArray) -> Self:
        """The likelihood of some of the rounds."""


def climb(likelihood: Likelihood, start: FloatArray) -> FloatArray:
    """The maximum of every round, (parameters, rounds): Newton steps, halved while they go down."""
    x = np.array(start)
    value = likelihood.value(x)
    before = np.inf
    for _ in range(_NEWTON_STEPS):
        curvature, slope = likelihood.curvature(x), likelihood.slope(x)
        solved = np.linalg.solve(curvature, slope.T[:, :, None])[:, :, 0]
        step = np.asarray(solved.T, dtype=np.float64)
        size = np.abs(step).max(axis=0)
        # Limited by the odds of games: in a long chain of contestants the ends may move much farther.
        step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(likelihood.reach(step), _TOLERANCE))
        for _ in range(_HALVINGS):
            reached = likelihood.value(x + step)
            worse = reached < value - 1e-9 * np.abs(value)
            if not worse.any():
                break
            step[:, worse] *= 0.5
        x, value = x + step, reached
        longest = size.max(initial=0.0)
        if longest < _TOLERANCE or before / 2.0 < longest < _ROUNDING:
            break
        before = longest
    return x


@dataclass(frozen=True, eq=False)
class Reference:
    """The fit of all games: its maximum (parameters, 1), the inverse curvature there, who has the prior."""

    x: FloatArray
    inverse: FloatArray
    prior: BoolArray

    @classmethod
    def of(cls, likelihood: Likelihood, parameters: int) -> "Reference":
        x = climb(likelihood, np.zeros((parameters, 1)))
        return cls(x, np.linalg.inv(likelihood.curvature(x))[0], likelihood.prior)

    def climb(self, likelihood: Likelihood) -> FloatArray:
        """The maximum of every round, (parameters, rounds)."""
        x = np.repeat(self.x, likelihood.prior.shape[1], axis=1)
        settled = np.zeros(x.shape[1], dtype=bool)
        near = np.flatnonzero((likelihood.prior == self.prior).all(axis=0))
        if len(near):
            x[:, near], settled[near] = _chord(likelihood.only(near), x[:, near], self.inverse)
        rest = np.flatnonzero(~settled)
        at_once = max(1, _MOST_NUMBERS // len(self.x) ** 2)
        for first in range(0, len(rest), at_once):
            some = rest[first : first + at_once]
            x[:, some] = climb(likelihood.only(some), np.repeat(self.x, len(some), axis=1))
        return x


def _chord(likelihood: Likelihood, x: FloatArray, inverse: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Where chord steps lead, and which rounds they settled."""
    size = np.zeros(x.shape[1])
    for _ in range(_CHORD_STEPS):
        step = inverse @ likelihood.slope(x)
        size = np.abs(step).max(axis=0)
        x += np.clip(step, -1.0, 1.0)
        if size.max() < _TOLERANCE:
            break
    return x, size < _TOLERANCE
