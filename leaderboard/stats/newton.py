"""The maximum of a concave log-likelihood, for many rounds of a bootstrap at once."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import ClassVar, Final, Generic, NamedTuple, Self, TypeVar

import numpy as np

from leaderboard.stats.checks import BoolArray, FloatArray, IntArray

_TOLERANCE: Final = 1e-11
# After a Newton step as short as this the next would be its square.
_SETTLED: Final = 1e-7
# A shorter step that is no shorter than half the one before is rounding.
_ROUNDING: Final = 1e-6
_CHORD_STEPS: Final = 40
_LAST_FEW: Final = 8  # one in so many
_LONGEST_STEP: Final = 3.0
_HALVINGS: Final = 30
# A value this much lower (relative) is rounding, not a step too far.
_SLACK: Final = 1e-9
# Of the curvatures of rounds climbed together: 16 MB.
_MOST_NUMBERS: Final = 2**21


@dataclass(frozen=True, eq=False)
class Likelihood(ABC):
    """A concave log-likelihood of every round; its parameters ``x`` are (parameters, rounds)."""

    # A Newton step that moves no log-odds farther does not go down: the curvature changes by less than half.
    safe_reach: ClassVar[float] = math.log(2.0)
    newton_steps: ClassVar[int] = 100
    # Where imaginary games keep parameters finite, (kinds, rounds).
    prior: BoolArray = field(kw_only=True)

    @property
    @abstractmethod
    def parameters(self) -> int:
        """How many parameters a round has."""

    @abstractmethod
    def value(self, x: FloatArray) -> FloatArray:
        """The log-likelihood (rounds,)."""

    @abstractmethod
    def slope(self, x: FloatArray) -> FloatArray:
        """The first derivative (parameters, rounds)."""

    @abstractmethod
    def curvature(self, x: FloatArray) -> FloatArray:
        """Minus the second derivative (rounds, parameters, parameters), made regular."""

    @abstractmethod
    def reach(self, step: FloatArray) -> FloatArray:
        """The most that a step moves the log-odds of any observation, (rounds,)."""

    def start(self, rounds: int) -> FloatArray:
        """Where the search begins, (parameters, rounds)."""
        return np.zeros((self.parameters, rounds))

    def only(self, rounds: IntArray) -> Self:
        """Some of the rounds: of every array whose last axis is that of rounds."""
        number = self.prior.shape[1]
        if len(rounds) == number:
            return self
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "table"}
        by_round = {name: value for name, value in values.items() if value.shape[-1] == number}
        return replace(self, **{name: value[..., rounds] for name, value in by_round.items()})


class Maximum(NamedTuple):
    """Where the search ended, (parameters, rounds)."""

    x: FloatArray
    step: FloatArray  # the last one

    @property
    def settled(self) -> BoolArray:
        """Rounds that arrived."""
        return np.asarray(np.abs(self.step).max(axis=0, initial=0.0) < _ROUNDING)


def climb(likelihood: Likelihood, start: FloatArray) -> Maximum:
    """The maximum of every round: Newton steps, long ones halved while they go down."""
    reached, left, x = np.array(start), np.arange(start.shape[1]), np.array(start)
    last = np.zeros_like(reached)
    value: FloatArray | None = None
    before = np.inf
    for _ in range(likelihood.newton_steps):
        curvature, slope = likelihood.curvature(x), likelihood.slope(x)
        solved = np.linalg.solve(curvature, slope.T[:, :, None])[:, :, 0]
        step = np.asarray(solved.T, dtype=np.float64)
        size = np.abs(step).max(axis=0)
        longest = size.max(initial=0.0)
        reach = likelihood.reach(step)
        far = reach.max(initial=0.0) > likelihood.safe_reach
        value = _shorten(likelihood, x, step, reach, value) if far else None
        x += step
        reached[:, left], last[:, left] = x, step
        if longest < _SETTLED or before / 2.0 < longest < _ROUNDING:
            break
        before = longest
        # The others stay where they are: along what only a ridge holds, more steps would be rounding errors.
        moving = np.flatnonzero(size >= _SETTLED)
        likelihood, left, x = likelihood.only(moving), left[moving], x[:, moving]
        value = None if value is None else value[moving]
    return Maximum(reached, last)


def _shorten(
    likelihood: Likelihood,
    x: FloatArray,
    step: FloatArray,
    reach: FloatArray,
    value: FloatArray | None,
) -> FloatArray:
    """Limit the step of every round, and halve it while its value would fall; the values that are reached."""
    # By log-odds of observations: in a long chain of contestants the ends may move much farther.
    step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(reach, _SETTLED))
    value = likelihood.value(x) if value is None else value
    for _ in range(_HALVINGS):
        reached = likelihood.value(x + step)
        worse = reached < value - _SLACK * (1.0 + np.abs(value))
        if not worse.any():
            break
        step[:, worse] *= 0.5
    return reached


# The maximum of a resample lies near that of all observations, so one inverse curvature, taken there, serves
# most rounds ("chord" steps). The last few this does not settle, and rounds with another prior, get Newton
# steps.

L = TypeVar("L", bound=Likelihood)
L_co = TypeVar("L_co", bound=Likelihood, covariant=True)


@dataclass(frozen=True, eq=False)
class Reference(Generic[L_co]):
    """The maximum of all observations, near which that of a resample lies."""

    likelihood: L_co
    x: FloatArray  # (parameters, 1)

    @staticmethod
    def of(likelihood: L) -> "Reference[L]":
        return Reference(likelihood, climb(likelihood, likelihood.start(1)).x)

    @cached_property
    def inverse(self) -> FloatArray:
        """The inverse of the curvature (parameters, parameters)."""
        return np.asarray(np.linalg.inv(self.likelihood.curvature(self.x))[0])

    def climb(self, likelihood: Likelihood) -> Maximum:
        """The maximum of every round."""
        x = np.repeat(self.x, likelihood.prior.shape[1], axis=1)
        step = np.full_like(x, np.inf)
        near = np.flatnonzero((likelihood.prior == self.likelihood.prior).all(axis=0))
        if len(near):
            x[:, near], step[:, near] = self._chord(likelihood.only(near))
        rest = np.flatnonzero(~(np.abs(step).max(axis=0) < _TOLERANCE))
        at_once = max(1, _MOST_NUMBERS // len(self.x) ** 2)
        for first in range(0, len(rest), at_once):
            some = rest[first : first + at_once]
            x[:, some], step[:, some] = climb(likelihood.only(some), np.repeat(self.x, len(some), axis=1))
        return Maximum(x, step)

    def _chord(self, likelihood: Likelihood) -> Maximum:
        x = np.repeat(self.x, likelihood.prior.shape[1], axis=1)
        step = np.zeros_like(x)
        for _ in range(_CHORD_STEPS):
            step = self.inverse @ likelihood.slope(x)
            x += np.clip(step, -1.0, 1.0)
            if np.count_nonzero(np.abs(step).max(axis=0) >= _TOLERANCE) <= x.shape[1] / _LAST_FEW:
                break
        return Maximum(x, step)
