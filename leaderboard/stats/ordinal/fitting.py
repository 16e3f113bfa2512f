"""The ordinal model fitted to all ratings: what is identified, the prior where needed, and rater leans."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from leaderboard.stats.errors import NotIdentifiedError
from leaderboard.stats.games import FloatArray
from leaderboard.stats.ordinal.likelihood import OrdinalModel, Sums, settled
from leaderboard.stats.ordinal.table import OrdinalTable

_FIRST_LEAN_SD: Final = 0.5
_SMALLEST_LEAN_SD: Final = 0.01
_LEAN_STEPS: Final = 100
_LEAN_TOLERANCE: Final = 1e-6
_NOT_IDENTIFIED: Final = 1e-9


@dataclass(frozen=True, eq=False)
class WholeFit:
    """The maximum for all ratings: ``place`` (parameters, 1) and the inverse of the curvature there.

    ``penalty`` (parameters, 1) is the pull on leans (see Sums), ``lean_sd`` the standard deviation it stands
    for, 0 where no leans are fitted. ``prior`` says that no finite maximum exists without the prior;
    ``running`` (contestants,) is how far each contestant still moved when the search for one was given up,
    else 0.
    """

    model: OrdinalModel
    place: FloatArray
    penalty: FloatArray
    inverse: FloatArray
    prior: bool
    running: FloatArray
    lean_sd: float


def fit_everything(table: OrdinalTable) -> WholeFit:
    """Fit all ratings; raise NotIdentifiedError where position or effects cannot be told from contestants.

    Leans are random effects: normal about zero. Their standard deviation is found by repeating sd**2 =
    sum of squared leans / effective number of leans (Schall 1991), and is at least 0.01.
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
        running = np.where(settled(step), 0.0, step)[: table.layout.contestants, 0]
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
            f"the effect of {' and '.join(mixed_up)} cannot be told from the contestants in these "
            "comparisons; fit without it, or show each pair in both orders",
            tuple(mixed_up),
        )
