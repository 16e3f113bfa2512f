"""Maximising the concave log-likelihoods of many rounds at once: Newton steps, and cheaper chord steps."""

from typing import Final, Protocol, Self

import numpy as np

from leaderboard.stats.bradley_terry.pair_table import BoolArray
from leaderboard.stats.games import FloatArray, IntArray

_TOLERANCE: Final = 1e-11
_NEWTON_STEPS: Final = 100
_ROUNDING: Final = 1e-6
"""A step shorter than this that is no shorter than half the one before is rounding errors."""

_CHORD_STEPS: Final = 40
_LONGEST_STEP: Final = 3.0
_HALVINGS: Final = 30
_MOST_NUMBERS: Final = 2**21
"""Of the curvatures of rounds climbed together: 16 MB."""


class Likelihood(Protocol):
    """A concave log-likelihood for each round; ``x`` has the shape (parameters, rounds)."""

    @property
    def prior(self) -> BoolArray:
        """Who has the prior in which round, (contestants, rounds)."""

    def value(self, x: FloatArray) -> FloatArray:
        """The log-likelihood, (rounds,)."""

    def slope(self, x: FloatArray) -> FloatArray:
        """Its first derivative, (parameters, rounds)."""

    def curvature(self, x: FloatArray) -> FloatArray:
        """Minus its second derivative, made regular, (rounds, parameters, parameters)."""

    def reach(self, step: FloatArray) -> FloatArray:
        """By how much a step moves the log-odds of any game at most, (rounds,)."""

    def only(self, rounds: IntArray) -> Self:
        """The same for some of the rounds."""


def climb(likelihood: Likelihood, start: FloatArray) -> FloatArray:
    """The maximum of every round, (parameters, rounds).

    Full Newton steps, halved while they would lower the likelihood, which is concave: so this always arrives
    where there is a finite maximum. What is limited is how far a step moves the odds of a game: in a long
    chain of contestants the ends may move much farther.
    """
    x = np.array(start)
    value = likelihood.value(x)
    before = np.inf
    for _ in range(_NEWTON_STEPS):
        curvature, slope = likelihood.curvature(x), likelihood.slope(x)
        solved = np.linalg.solve(curvature, slope.T[:, :, None])[:, :, 0]
        step = np.asarray(solved.T, dtype=np.float64)
        size = np.abs(step).max(axis=0)
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


def climb_from(
    likelihood: Likelihood, start: FloatArray, inverse: FloatArray, shared: BoolArray
) -> FloatArray:
    """The maximum of every round, (parameters, rounds), where most lie near ``start`` (parameters, 1).

    ``inverse`` is the inverse curvature at the start. Rounds in ``shared`` (rounds,) take steps with it alone
    ("chord" steps); those it does not settle, and the others, get full Newton steps.
    """
    x = np.repeat(start, len(shared), axis=1)
    settled = np.zeros(len(shared), dtype=bool)
    near = np.flatnonzero(shared)
    if len(near):
        x[:, near], settled[near] = _chord(likelihood.only(near), x[:, near], inverse)
    rest = np.flatnonzero(~settled)
    at_once = max(1, _MOST_NUMBERS // len(start) ** 2)
    for first in range(0, len(rest), at_once):
        some = rest[first : first + at_once]
        x[:, some] = climb(likelihood.only(some), np.repeat(start, len(some), axis=1))
    return x


def _chord(likelihood: Likelihood, x: FloatArray, inverse: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Where steps with the one inverse curvature lead, and which rounds they settled."""
    size = np.zeros(x.shape[1])
    for _ in range(_CHORD_STEPS):
        step = inverse @ likelihood.slope(x)
        size = np.abs(step).max(axis=0)
        x += np.clip(step, -1.0, 1.0)
        if size.max() < _TOLERANCE:
            break
    return x, size < _TOLERANCE
