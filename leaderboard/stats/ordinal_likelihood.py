"""The penalised log-likelihood of the ordinal model, for many rounds at once, and its maximum.

It is concave (Burridge 1981; Pratt 1981), so Newton steps, halved while they go down, arrive.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from leaderboard.stats.bradley_terry import PRIOR_GAMES
from leaderboard.stats.checks import BoolArray, FloatArray, IntArray, NotIdentifiedError
from leaderboard.stats.ordinal_table import OrdinalTable

TOLERANCE: Final = 1e-10
# Enough for any finite maximum; one that has not settled by then is infinite.
NEWTON_STEPS: Final = 25
_LONGEST_STEP: Final = 3.0
_HALVINGS: Final = 30
# A likelihood this much lower (relative) is rounding, not a step too far.
_SLACK: Final = 1e-9
# Added to the diagonal of curvatures (relative), so that rounds without a parameter can be solved.
_RIDGE: Final = 1e-13


@dataclass(frozen=True, eq=False)
class Sums:
    """What the likelihood needs of each round."""

    won: FloatArray  # (cells, rounds)
    lost: FloatArray
    inside: FloatArray  # ratings between two thresholds, (widths, rounds)
    prior: BoolArray  # where contestants, position and effects get PRIOR_GAMES, (rounds,)
    penalty: FloatArray  # on squared parameters / 2, (parameters, rounds): the pull on leans

    @classmethod
    def of(cls, table: OrdinalTable, weights: FloatArray, prior: BoolArray, penalty: FloatArray) -> "Sums":
        """Sums of the distinct ratings with ``weights`` (distinct, rounds), and of imaginary ones."""
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
        """The value (rounds,) with penalties; minus infinity where thresholds are out of order."""
        odds = self.table.design @ place
        value = -(sums.won * np.logaddexp(0.0, -odds) + sums.lost * np.logaddexp(0.0, odds)).sum(axis=0)
        width = self.table.widths @ place
        ordered = (width > 0.0).all(axis=0)
        value += (sums.inside * np.log(-np.expm1(-np.where(width > 0.0, width, 1.0)))).sum(axis=0)
        value -= 0.5 * (sums.penalty * place * place).sum(axis=0)
        own = place[self._prior_at]
        drawn = np.logaddexp(0.0, -own) + np.logaddexp(0.0, own)
        value -= sums.prior * (0.5 * PRIOR_GAMES) * drawn.sum(axis=0)
        return np.where(ordered, value, -np.inf)

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
        return np.asarray((self.table.design_by_parameter @ scaled).toarray()[None])

    def newton(self, sums: Sums, start: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The maximum of each round from ``start`` (parameters, rounds), and the last step towards it."""
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
    return np.asarray(np.abs(step).max(axis=0, initial=0.0) < TOLERANCE)


def width_slope(width: FloatArray) -> FloatArray:
    """The slope of log(1 - exp(-width)) for positive widths, without overflow."""
    fallen = np.exp(-width)
    return fallen / -np.expm1(-width)


_FIRST_LEAN_SD: Final = 0.5
_SMALLEST_LEAN_SD: Final = 0.01
_LEAN_STEPS: Final = 100
_LEAN_TOLERANCE: Final = 1e-6
_NOT_IDENTIFIED: Final = 1e-9


@dataclass(frozen=True, eq=False)
class WholeFit:
    """The maximum for all ratings."""

    model: OrdinalModel
    place: FloatArray  # (parameters, 1)
    penalty: FloatArray  # (parameters, 1), the pull on leans
    inverse: FloatArray  # of the curvature
    prior: bool  # whether no finite maximum exists without the prior
    running: FloatArray  # how far each parameter still moved when the search for one was given up
    lean_sd: float  # 0 without leans


def fit_everything(table: OrdinalTable) -> WholeFit:
    """Fit all ratings; raises NotIdentifiedError where effects cannot be told from contestants.

    The deviation of leans comes from sd**2 = sum of squared leans / effective number of leans (Schall 1991).
    """
    layout = table.layout
    fit = _fit(table, _FIRST_LEAN_SD if layout.raters else 0.0, None)
    for _ in range(_LEAN_STEPS if layout.raters else 0):
        leans = fit.place[layout.leans_at, 0]
        unexplained = np.diag(fit.inverse)[layout.leans_at].sum() / fit.lean_sd**2
        effective = max(layout.raters - unexplained, 1e-6)
        lean_sd = max(float(np.sqrt(leans @ leans / effective)), _SMALLEST_LEAN_SD)
        steady = abs(lean_sd - fit.lean_sd) < _LEAN_TOLERANCE * fit.lean_sd
        fit = _fit(table, lean_sd, fit)
        if steady:
            break
    return fit


def _fit(table: OrdinalTable, lean_sd: float, earlier: WholeFit | None) -> WholeFit:
    penalty = np.zeros((table.layout.size, 1))
    if lean_sd:
        penalty[table.layout.leans_at] = lean_sd**-2
    model = OrdinalModel(table)
    sums = Sums.of(table, table.count[:, None], np.array([False]), penalty)
    if earlier is None:
        _check_identified(model, sums)
        place, step = model.newton(sums, model.start(1))
        running = np.where(settled(step), 0.0, step)[:, 0]
        prior = not settled(step)[0]
    else:
        place, prior, running = earlier.place, earlier.prior, earlier.running
    if prior or earlier is not None:
        sums = sums.take(np.array([0]), prior)
        place, _ = model.newton(sums, model.start(1) if earlier is None else place)
    inverse = np.linalg.inv(model.curvature(sums, place)[0])
    return WholeFit(model, place, penalty, inverse, prior, running, lean_sd)


def _check_identified(model: OrdinalModel, sums: Sums) -> None:
    curvature = model.curvature(sums, model.start(1))[0]
    root = np.sqrt(np.diag(curvature))
    values, vectors = np.linalg.eigh(curvature / root[:, None] / root[None, :])
    layout = model.table.layout
    loose = np.abs(vectors[:, values < _NOT_IDENTIFIED]).max(axis=1, initial=0.0) > 1e-4
    names = ["position"] * layout.position + list(layout.effects)
    mixed_up = [
        name for name, is_loose in zip(names, loose[layout.position_at.start :], strict=False) if is_loose
    ]
    if mixed_up:
        raise NotIdentifiedError(
            f"the effect of {' and '.join(mixed_up)} cannot be told from the models in these "
            "ratings; fit without it, or show each pair in both orders",
            tuple(mixed_up),
        )
