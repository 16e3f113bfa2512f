"""Robust ("sandwich") standard errors of Bradley-Terry, Davidson and Elo strengths, without resampling.

The covariance is A⁻¹ B A⁻¹ (Huber 1967, White 1980): A is the curvature of the log-likelihood at its maximum
(for Elo's mean the slope of its equations), B the sum over games or clusters (Liang and Zeger 1986) of the
outer products of their scores, times G / (G - 1) for G units.
"""

from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, hstack

from leaderboard.stats.bootstrap import check_run
from leaderboard.stats.bradley_terry import BradleyTerryFit, BradleyTerryLikelihood
from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.davidson import DavidsonLikelihood
from leaderboard.stats.games import Games
from leaderboard.stats.newton import Reference
from leaderboard.stats.resampling import CHI_SQUARE_DRAWS, NORMAL_DRAWS, generator


def spread_of_units(
    scores: Any,
    of_game: npt.NDArray[Any],
    cluster: IntArray | None,
    crossed: IntArray | None,
    pull: Any = None,
    crossed_pull: Any = None,
) -> FloatArray:
    """The spread over clusters, or over two kinds of clusters, then without its negative part.

    ``scores`` are sparse (kinds of games, parameters), ``of_game`` tells the kind of each game. ``pull`` and
    ``crossed_pull``, sparse (clusters, parameters), are what clusters add to the scores of their games.
    """
    spread = _spread(scores, of_game, cluster, pull)
    if cluster is None or crossed is None:
        return spread
    total = spread + _spread(scores, of_game, crossed, crossed_pull)
    total -= _spread(scores, of_game, _cells(cluster, crossed))
    return _without_negative_part(total)


def _spread(scores: Any, of_game: npt.NDArray[Any], cluster: IntArray | None, pull: Any = None) -> FloatArray:
    """The sum over units of the outer products of their scores, times G / (G - 1) where there are several."""
    kinds = scores.shape[0]
    if cluster is None:
        units, count = len(of_game), np.bincount(of_game, minlength=kinds).astype(np.float64)
        squared = scores.T @ (scores * count[:, None])
    else:
        units = int(cluster.max()) + 1
        contents = csr_array((np.ones(len(cluster)), (cluster, of_game)), shape=(units, kinds))
        of_cluster = contents @ scores if pull is None else contents @ scores + pull
        squared = of_cluster.T @ of_cluster
    return np.asarray(squared.toarray() * (units / max(units - 1, 1)))


def _cells(cluster: IntArray, crossed: IntArray) -> IntArray:
    """The numbers of the cells that two kinds of clusters make."""
    kinds = int(crossed.max()) + 1
    return np.asarray(np.unique(cluster * kinds + crossed, return_inverse=True)[1])


def _without_negative_part(matrix: FloatArray) -> FloatArray:
    value, direction = np.linalg.eigh(matrix)
    return np.asarray((direction * np.maximum(value, 0.0)) @ direction.T)


@dataclass(frozen=True, eq=False)
class VarianceBySource:
    """Variances (contestants,) in squared points by clusters, crossed ones, their cells, and all of these."""

    cluster: FloatArray
    crossed: FloatArray
    cell: FloatArray
    both: FloatArray


def variance_by_source(games: Games, fit: BradleyTerryFit) -> VarianceBySource | None:
    """The robust variances of the fit of these games by what varies; None without two kinds of clusters."""
    if games.cluster is None or games.crossed is None:
        return None
    scores, root, of_game = _scores(games, fit.reference), _root(games, fit), games.outcomes.of_game
    units = (games.cluster, games.crossed, _cells(games.cluster, games.crossed))
    cluster, crossed, cell = (_spread(scores, of_game, unit) for unit in units)
    spreads = (cluster, crossed, cell, _without_negative_part(cluster + crossed - cell))
    # Rounding leaves a variance of 0 a little below it.
    return VarianceBySource(*(np.maximum(((root @ spread) * root).sum(axis=1), 0.0) for spread in spreads))


_NEGLIGIBLE: Final = 1e-10


@dataclass(frozen=True, eq=False)
class Sandwich:
    """Robust covariance; NaN for a contestant that met nobody, or a single unit."""

    covariance: FloatArray  # (contestants, contestants), in squared points
    standard_error: FloatArray
    clusters: int | None  # None where games are the units
    units: int  # for normal_interval
    pull: FloatArray  # points that one more point won by each (column) adds to each (row)


def sandwich(games: Games, fit: BradleyTerryFit) -> Sandwich:
    """The robust covariance of the fit of these games, clustered where the games have clusters."""
    scores, component = _scores(games, fit.reference), games.table.component
    spread = spread_of_units(scores, games.outcomes.of_game, games.cluster, games.crossed)
    root = _root(games, fit)
    covariance = root @ spread @ root.T
    alone = (np.bincount(component)[component] == 1) | (games.units < 2)
    covariance[alone] = covariance[:, alone] = np.nan
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return Sandwich(covariance, error, games.clusters, games.units, root[:, : games.contestants])


def _root(games: Games, fit: BradleyTerryFit) -> FloatArray:
    """What scores (parameters) add to each strength, in points."""
    inverse = fit.reference.inverse[: games.contestants]
    return np.asarray((np.eye(games.contestants) - games.table.gauge) @ inverse * fit.points_per_unit)


def _scores(games: Games, reference: Reference[BradleyTerryLikelihood]) -> Any:
    """Of each outcome, by parameter: sparse (outcomes, parameters)."""
    likelihood, of_outcome = reference.likelihood, games.table.pair_of_outcome
    if not isinstance(likelihood, DavidsonLikelihood):
        return _by_side(games, likelihood.half(reference.x)[of_outcome, 0])
    lead, tie = likelihood.chances(reference.x)
    ties = (games.outcomes.score == 0.5)[:, None] - tie[of_outcome]
    return hstack((_by_side(games, lead[of_outcome, 0]), csr_array(ties)), format="csr")


def _by_side(games: Games, lead: FloatArray) -> Any:
    outcomes = games.outcomes
    surplus, row = 0.5 * (2.0 * outcomes.score - 1.0 - lead), np.arange(len(outcomes))
    places = (np.concatenate((row, row)), np.concatenate((outcomes.a, outcomes.b)))
    return csr_array((np.concatenate((surplus, -surplus)), places), shape=(len(row), games.contestants))


class Rated(Protocol):
    """A fit of any model."""

    @property
    def rating(self) -> FloatArray:
        """Strengths (contestants,)."""


def sandwich_samples(
    fit: Rated, covariance: FloatArray, rounds: int = 1000, seed: int = 0, *, units: int | None = None
) -> FloatArray:
    """Strengths (rounds, contestants) drawn from the normal approximation, or Student's t with ``units``.

    A contestant without a standard error keeps its strength in every round.
    """
    check_run(rounds, seed, None)
    normal = generator(seed, NORMAL_DRAWS).standard_normal((rounds, len(covariance)))
    away: FloatArray = normal @ _square_root(np.nan_to_num(covariance))
    if units is not None:
        freedom = max(1, units - 1)
        spread = generator(seed, CHI_SQUARE_DRAWS).chisquare(freedom, rounds)
        away /= np.sqrt(spread / freedom)[:, None]
    return fit.rating + away


def _square_root(covariance: FloatArray) -> FloatArray:
    # The symmetric root: unlike factors of other decompositions it is the same on any machine.
    variance, direction = np.linalg.eigh(covariance)
    variance[variance < _NEGLIGIBLE * variance.max(initial=0.0)] = 0.0
    return np.asarray((direction * np.sqrt(variance)) @ direction.T)
