"""Standard errors of the ordinal model that hold when ratings of one prompt, or of one rater, go together."""

from typing import Any, Final

import numpy as np

from leaderboard.stats.crossed_spread import spread_of_units
from leaderboard.stats.games import FloatArray, IntArray
from leaderboard.stats.ordinal.fitting import WholeFit
from leaderboard.stats.ordinal.likelihood import width_slope

_UNITS_AT_ONCE: Final = 4096


def sandwich(
    fit: WholeFit, unit: IntArray | None, crossed: IntArray | None = None, *, of_raters: bool
) -> FloatArray:
    """The cluster-robust covariance (parameters, parameters) of the fit (Huber 1967; Liang and Zeger 1986).

    ``unit`` numbers from 0 what goes together (prompts, raters), or is None where every rating stands alone;
    ``crossed`` the raters where they are a second kind of unit. ``of_raters`` says that units are raters, so
    that the pull on a lean belongs to one. For contestants it is the covariance of ratings with each
    component's mean taken away, in log-odds.
    """
    table, slopes = fit.model.table, _slopes(fit)
    meat = spread_of_units(
        lambda units: _spread(fit, slopes, units, of_raters),
        unit,
        crossed,
        lambda raters: _spread(fit, slopes, raters, of_raters=True),
    )
    bread = fit.inverse - table.gauge @ fit.inverse
    covariance: FloatArray = bread @ meat @ bread.T
    return covariance


def _spread(fit: WholeFit, slopes: Any, unit: IntArray | None, of_raters: bool) -> FloatArray:
    """The sum over units of the outer products of their slopes, times G / (G - 1)."""
    table = fit.model.table
    if unit is None:
        units = int(table.count.sum())
        half = slopes * np.sqrt(table.count)
        meat = (half @ half.T).toarray()
    else:
        units = int(unit.max(initial=-1)) + 1
        totals = slopes @ _contents(table.of_rating, unit, table.distinct, units)
        meat = np.zeros((table.layout.size, table.layout.size))
        for start in range(0, units, _UNITS_AT_ONCE):
            part = totals[:, start : start + _UNITS_AT_ONCE].toarray()
            if of_raters and table.layout.raters:
                _pull(fit, part, start)
            meat += part @ part.T
    spread: FloatArray = meat * (units / max(units - 1, 1))
    return spread


def _pull(fit: WholeFit, part: FloatArray, start: int) -> None:
    """Add the slope of the penalty on the lean of each rater from ``start`` to the rater's own column."""
    leans = fit.model.table.layout.leans_at
    row = leans.start + start + np.arange(part.shape[1])
    part[row, np.arange(part.shape[1])] -= (fit.penalty * fit.place)[row, 0]


def _slopes(fit: WholeFit) -> Any:
    """Sparse (parameters, distinct): what one of each distinct rating adds to the slope."""
    table = fit.model.table
    chance = 0.5 + 0.5 * np.tanh(0.5 * (table.design @ fit.place))
    won, lost, inside = (part[:, : table.distinct] for part in (table.won, table.lost, table.inside))
    surplus = won * (1.0 - chance) - lost * chance
    between = inside * width_slope(table.widths @ fit.place)
    from scipy.sparse import csr_array

    return (table.design_by_parameter @ surplus + csr_array(table.widths.T) @ between).tocsr()


def _contents(of_rating: IntArray, unit: IntArray, distinct: int, units: int) -> Any:
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(unit)), (of_rating, unit)), shape=(distinct, units))
