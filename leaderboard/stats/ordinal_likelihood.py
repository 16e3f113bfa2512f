"""The penalised log-likelihood of the ordinal model, for many rounds at once, and its maximum.

It is concave (Burridge 1981; Pratt 1981).
"""

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from leaderboard.stats.bradley_terry import PRIOR_GAMES
from leaderboard.stats.checks import BoolArray, FloatArray, NotIdentifiedError
from leaderboard.stats.newton import Likelihood, Reference, climb
from leaderboard.stats.ordinal_table import OrdinalTable

# Added to the diagonal of curvatures (relative), so that rounds without a parameter can be solved.
_RIDGE: Final = 1e-13


@dataclass(frozen=True, eq=False)
class OrdinalLikelihood(Likelihood):
    """The log-likelihood of each round; ``prior`` (1, rounds) gives contestants and effects PRIOR_GAMES."""

    # The shortest step may put thresholds out of order.
    safe_reach: ClassVar[float] = 0.0
    # Enough for any finite maximum; one that has not settled by then is infinite.
    newton_steps: ClassVar[int] = 25
    table: OrdinalTable
    won: FloatArray  # (cells, rounds)
    lost: FloatArray
    inside: FloatArray  # ratings between two thresholds, (widths, rounds)
    penalty: FloatArray  # on squared parameters / 2, (parameters, rounds): the pull on leans

    @classmethod
    def of(
        cls, table: OrdinalTable, weights: FloatArray, prior: BoolArray, penalty: FloatArray
    ) -> "OrdinalLikelihood":
        """Of the distinct ratings with ``weights`` (distinct, rounds), and of imaginary ones."""
        unused = (table.level @ weights) == 0.0
        all_of = np.concatenate((weights, table.spread @ unused))
        sums = (table.won @ all_of, table.lost @ all_of, table.inside @ all_of)
        return cls(table, *sums, penalty, prior=prior)

    @property
    def parameters(self) -> int:
        return self.table.layout.size

    @property
    def _prior_at(self) -> slice:
        return slice(0, self.table.layout.effects_at.stop)

    def start(self, rounds: int) -> FloatArray:
        """Equal contestants and evenly spaced thresholds, (parameters, rounds)."""
        x = super().start(rounds)
        for points in self.table.layout.scales:
            at = self.table.layout.thresholds_at(points)
            x[at] = np.arange(1.0, at.stop - at.start + 1.0)[:, None]
        return x

    def value(self, x: FloatArray) -> FloatArray:
        """The value (rounds,) with penalties; minus infinity where thresholds are out of order."""
        odds = self.table.design @ x
        value = -(self.won * np.logaddexp(0.0, -odds) + self.lost * np.logaddexp(0.0, odds)).sum(axis=0)
        width = self.table.widths @ x
        ordered = (width > 0.0).all(axis=0)
        value += (self.inside * np.log(-np.expm1(-np.where(width > 0.0, width, 1.0)))).sum(axis=0)
        value -= 0.5 * (self.penalty * x * x).sum(axis=0)
        own = x[self._prior_at]
        drawn = np.logaddexp(0.0, -own) + np.logaddexp(0.0, own)
        value -= (self.prior * (0.5 * PRIOR_GAMES) * drawn).sum(axis=0)
        return np.where(ordered, value, -np.inf)

    def slope(self, x: FloatArray) -> FloatArray:
        half = np.tanh(0.5 * (self.table.design @ x))
        surplus = 0.5 * ((self.won - self.lost) - (self.won + self.lost) * half)
        slope: FloatArray = self.table.design_by_parameter @ surplus
        slope += self.table.widths.T @ (self.inside * width_slope(self.table.widths @ x))
        slope -= self.penalty * x
        slope[self._prior_at] -= self.prior * (0.5 * PRIOR_GAMES) * np.tanh(0.5 * x[self._prior_at])
        return slope

    def curvature(self, x: FloatArray) -> FloatArray:
        half = np.tanh(0.5 * (self.table.design @ x))
        weight = 0.25 * (self.won + self.lost) * (1.0 - half * half)
        slope = width_slope(self.table.widths @ x)
        bend = self.inside * slope * (1.0 + slope)
        own = self._prior_at
        pull = 0.25 * PRIOR_GAMES * (1.0 - np.tanh(0.5 * x[own]) ** 2)
        matrix = self._of_cells(weight)
        for number in range(x.shape[1]):
            matrix[number] += (self.table.widths.T * bend[:, number]) @ self.table.widths
            diagonal = np.einsum("ii->i", matrix[number])
            scale = diagonal.max(initial=1e-3)
            diagonal += self.penalty[:, number] + _RIDGE * scale
            if self.prior[0, number]:
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

    def reach(self, step: FloatArray) -> FloatArray:
        return np.asarray(np.abs(self.table.design @ step).max(axis=0, initial=0.0))


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

    reference: Reference[OrdinalLikelihood]
    running: FloatArray  # how far each parameter still moved when the search for one was given up
    lean_sd: float  # 0 without leans

    @property
    def table(self) -> OrdinalTable:
        return self.reference.likelihood.table

    @property
    def prior(self) -> bool:
        """Whether no finite maximum exists without the prior."""
        return bool(self.reference.likelihood.prior.any())


def fit_everything(table: OrdinalTable) -> WholeFit:
    """Fit all ratings; raises NotIdentifiedError where effects cannot be told from contestants.

    The deviation of leans comes from sd**2 = sum of squared leans / effective number of leans (Schall 1991).
    """
    layout = table.layout
    fit = _first_fit(table, _FIRST_LEAN_SD if layout.raters else 0.0)
    for _ in range(_LEAN_STEPS if layout.raters else 0):
        leans = fit.reference.x[layout.leans_at, 0]
        unexplained = np.diag(fit.reference.inverse)[layout.leans_at].sum() / fit.lean_sd**2
        effective = max(layout.raters - unexplained, 1e-6)
        lean_sd = max(float(np.sqrt(leans @ leans / effective)), _SMALLEST_LEAN_SD)
        steady = abs(lean_sd - fit.lean_sd) < _LEAN_TOLERANCE * fit.lean_sd
        likelihood = _of_all(table, lean_sd, fit.prior)
        found = climb(likelihood, fit.reference.x)
        fit = WholeFit(Reference(likelihood, found.x), fit.running, lean_sd)
        if steady:
            break
    return fit


def _of_all(table: OrdinalTable, lean_sd: float, prior: bool) -> OrdinalLikelihood:
    penalty = np.zeros((table.layout.size, 1))
    if lean_sd:
        penalty[table.layout.leans_at] = lean_sd**-2
    return OrdinalLikelihood.of(table, table.count[:, None], np.array([[prior]]), penalty)


def _first_fit(table: OrdinalTable, lean_sd: float) -> WholeFit:
    likelihood = _of_all(table, lean_sd, prior=False)
    _check_identified(likelihood)
    found = climb(likelihood, likelihood.start(1))
    if found.settled[0]:
        return WholeFit(Reference(likelihood, found.x), np.zeros(len(found.x)), lean_sd)
    return WholeFit(Reference.of(_of_all(table, lean_sd, prior=True)), found.step[:, 0], lean_sd)


def _check_identified(likelihood: OrdinalLikelihood) -> None:
    curvature, layout = likelihood.curvature(likelihood.start(1))[0], likelihood.table.layout
    root = np.sqrt(np.diag(curvature))
    values, vectors = np.linalg.eigh(curvature / root[:, None] / root[None, :])
    loose = np.abs(vectors[:, values < _NOT_IDENTIFIED]).max(axis=1, initial=0.0) > 1e-4
    names = ["position"] * layout.position + list(layout.effects)
    at = slice(layout.position_at.start, layout.effects_at.stop)
    mixed_up = tuple(name for name, is_loose in zip(names, loose[at], strict=True) if is_loose)
    if mixed_up:
        raise NotIdentifiedError(
            f"the effect of {' and '.join(mixed_up)} cannot be told from the models in these "
            "ratings; fit without it, or show each pair in both orders",
            mixed_up,
        )
