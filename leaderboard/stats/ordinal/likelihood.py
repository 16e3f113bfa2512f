"""The penalised log-likelihood of the ordinal model, for many rounds at once, and its maximum.

It is concave (Burridge 1981; Pratt 1981), so Newton steps, halved while they would go down, arrive. Where no
finite maximum exists they never settle: the parameter that runs away gains about one unit at every step.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from leaderboard.stats.bradley_terry.fit import PRIOR_GAMES, BoolArray
from leaderboard.stats.games import FloatArray, IntArray
from leaderboard.stats.ordinal.table import OrdinalTable

TOLERANCE: Final = 1e-10
NEWTON_STEPS: Final = 25
"""Enough for any finite maximum; one that has not settled by then is taken to be infinite."""

_LONGEST_STEP: Final = 3.0
_HALVINGS: Final = 30
_SLACK: Final = 1e-9
"""A likelihood this much lower (relative) is rounding, not a step too far."""

_RIDGE: Final = 1e-13
"""Added to the diagonal of curvatures (relative): solvable where a round says nothing about a parameter."""


@dataclass(frozen=True, eq=False)
class Sums:
    """What the likelihood needs of each round: cells won and lost, ratings inside the widths.

    Arrays have the shapes (cells, rounds), (cells, rounds) and (widths, rounds). ``prior``, of shape
    (rounds,), says where each contestant, the position and each effect are given ``PRIOR_GAMES`` drawn
    games on their own. ``penalty`` (parameters, rounds) / 2 times the square of each parameter is taken off:
    the pull of rater leans towards zero.
    """

    won: FloatArray
    lost: FloatArray
    inside: FloatArray
    prior: BoolArray
    penalty: FloatArray

    @classmethod
    def of(cls, table: OrdinalTable, weights: FloatArray, prior: BoolArray, penalty: FloatArray) -> "Sums":
        """Add up the distinct ratings with ``weights`` (distinct, rounds), and imaginary ones if needed."""
        unused = (table.level @ weights) == 0.0
        everything = np.concatenate((weights, table.spread @ unused))
        return cls(table.won @ everything, table.lost @ everything, table.inside @ everything, prior, penalty)

    def take(self, rounds: IntArray, prior: bool | None = None) -> "Sums":
        """Some of the rounds; with ``prior``, all with or all without it."""
        flags = self.prior[rounds] if prior is None else np.full(len(rounds), prior)
        return Sums(
            self.won[:, rounds], self.lost[:, rounds], self.inside[:, rounds], flags, self.penalty[:, rounds]
        )


@dataclass(frozen=True, eq=False)
class OrdinalModel:
    """The likelihood of the sums of a table."""

    table: OrdinalTable

    @property
    def _prior_at(self) -> slice:
        return slice(0, self.table.layout.effects_at.stop)

    def start(self, rounds: int) -> FloatArray:
        """Equal contestants and evenly spaced thresholds, (parameters, rounds)."""
        place = np.zeros((self.table.layout.size, rounds))
        for points in self.table.layout.scales:
            at = self.table.layout.thresholds_at(points)
            place[at] = np.arange(1.0, at.stop - at.start + 1.0)[:, None]
        return place

    def log_likelihood(self, sums: Sums, place: FloatArray) -> FloatArray:
        """Of shape (rounds,), penalties included; minus infinity where thresholds are out of order."""
        odds = self.table.design @ place
        value = -(sums.won * np.logaddexp(0.0, -odds) + sums.lost * np.logaddexp(0.0, odds)).sum(axis=0)
        width = self.table.widths @ place
        ordered = (width > 0.0).all(axis=0)
        value += (sums.inside * np.log(-np.expm1(-np.where(width > 0.0, width, 1.0)))).sum(axis=0)
        value -= 0.5 * (sums.penalty * place * place).sum(axis=0)
        own = place[self._prior_at]
        drawn = np.logaddexp(0.0, -own) + np.logaddexp(0.0, own)
        value -= sums.prior * (0.5 * PRIOR_GAMES) * drawn.sum(axis=0)
        result: FloatArray = np.where(ordered, value, -np.inf)
        return result

    def gradient(self, sums: Sums, place: FloatArray) -> FloatArray:
        """The slope of the log-likelihood, (parameters, rounds)."""
        half = np.tanh(0.5 * (self.table.design @ place))
        surplus = 0.5 * ((sums.won - sums.lost) - (sums.won + sums.lost) * half)
        slope: FloatArray = self.table.design_by_parameter @ surplus
        slope += self.table.widths.T @ (sums.inside * width_slope(self.table.widths @ place))
        slope -= sums.penalty * place
        slope[self._prior_at] -= sums.prior * (0.5 * PRIOR_GAMES) * np.tanh(0.5 * place[self._prior_at])
        return slope

    def curvature(self, sums: Sums, place: FloatArray) -> FloatArray:
        """Minus the second derivative (rounds, parameters, parameters), made regular by gauge or prior."""
        half = np.tanh(0.5 * (self.table.design @ place))
        weight = 0.25 * (sums.won + sums.lost) * (1.0 - half * half)
        slope = width_slope(self.table.widths @ place)
        bend = sums.inside * slope * (1.0 + slope)
        own = self._prior_at
        pull = 0.25 * PRIOR_GAMES * (1.0 - np.tanh(0.5 * place[own]) ** 2)
        matrix = self._of_cells(weight)
        for number in range(place.shape[1]):
            matrix[number] += (self.table.widths.T * bend[:, number]) @ self.table.widths
            diagonal = np.einsum("ii->i", matrix[number])
            scale = diagonal.max(initial=1e-3)
            diagonal += sums.penalty[:, number] + _RIDGE * scale
            if sums.prior[number]:
                diagonal[own] += pull[:, number]
            else:
                matrix[number] += self.table.gauge * scale
        return matrix

    def _of_cells(self, weight: FloatArray) -> FloatArray:
        """The part of the cells, of ``weight`` (cells, rounds) each: (rounds, parameters, parameters)."""
        size, rounds = self.table.layout.size, weight.shape[1]
        if rounds > 1:
            matrix: FloatArray = np.ascontiguousarray((self.table.products @ weight).T)
            return matrix.reshape(rounds, size, size)
        scaled = self.table.design.copy()
        scaled.data *= weight[self.table.row_of_entry, 0]
        single: FloatArray = (self.table.design_by_parameter @ scaled).toarray()[None]
        return single

    def newton(self, sums: Sums, start: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The maximum of each round from ``start`` (parameters, rounds), and the last step that led there.

        A round has settled if its last step is below the tolerance (see ``settled``).
        """
        place, step = np.array(start), np.full(start.shape, np.inf)
        for _ in range(NEWTON_STEPS):
            open_rounds = np.flatnonzero(~settled(step))
            if not len(open_rounds):
                break
            part = sums.take(open_rounds)
            place[:, open_rounds], step[:, open_rounds] = self._newton_step(part, place[:, open_rounds])
        return place, step

    def _newton_step(self, sums: Sums, place: FloatArray) -> tuple[FloatArray, FloatArray]:
        slope = self.gradient(sums, place)
        solved = np.linalg.solve(self.curvature(sums, place), slope.T[:, :, None])[:, :, 0]
        step = np.ascontiguousarray(solved.T, dtype=np.float64)
        # Of the odds of a rating: in a long chain of contestants the ends may move much farther.
        reach = np.abs(self.table.design @ step).max(axis=0, initial=0.0)
        step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(reach, TOLERANCE))
        value = self.log_likelihood(sums, place)
        for _ in range(_HALVINGS):
            worse = self.log_likelihood(sums, place + step) < value - _SLACK * (1.0 + np.abs(value))
            if not worse.any():
                break
            step[:, worse] *= 0.5
        return place + step, step


def settled(step: FloatArray) -> BoolArray:
    """Which rounds have arrived, by the last ``step`` of each (parameters, rounds)."""
    small: BoolArray = np.abs(step).max(axis=0, initial=0.0) < TOLERANCE
    return small


def width_slope(width: FloatArray) -> FloatArray:
    """The slope of log(1 - exp(-width)) for positive widths, without overflow."""
    fallen = np.exp(-width)
    slope: FloatArray = fallen / -np.expm1(-width)
    return slope
