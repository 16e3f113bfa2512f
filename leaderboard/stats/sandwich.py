"""Robust ("sandwich") standard errors of Bradley-Terry, Davidson and Elo strengths, without resampling.

The covariance is A⁻¹ B A⁻¹ (Huber 1967, White 1980): A is the curvature of the log-likelihood at its maximum
(for Elo's mean the slope of its equations), B the sum over games or clusters (Liang and Zeger 1986) of the
outer products of their scores, times G / (G - 1) for G units.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from scipy.sparse import coo_array, csr_array, hstack
from scipy.special import gammaincinv, ndtri

from leaderboard.stats.bootstrap import check_run
from leaderboard.stats.bradley_terry import BradleyTerryFit, all_games
from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.davidson import DavidsonFit, chances, likelihood_of_rounds
from leaderboard.stats.elo_mean import MeanEloFit
from leaderboard.stats.games import Games
from leaderboard.stats.outcomes import Outcomes, distinct_outcomes
from leaderboard.stats.pair_table import PairTable
from leaderboard.stats.resampling import NORMAL_DRAWS, round_keys, words


def spread_of_units(
    spread: Callable[[IntArray | None], FloatArray],
    cluster: IntArray | None,
    crossed: IntArray | None,
    of_crossed: Callable[[IntArray], FloatArray] | None = None,
) -> FloatArray:
    """The ``spread`` over clusters, or over two kinds of clusters, then without its negative part."""
    if cluster is None or crossed is None:
        return spread(cluster)
    kinds = int(crossed.max()) + 1
    both = np.unique(cluster * kinds + crossed, return_inverse=True)[1]
    total = spread(cluster) + (of_crossed or spread)(crossed) - spread(both)
    if np.isnan(total).any():
        return total
    value, direction = np.linalg.eigh(total)
    return np.asarray((direction * np.maximum(value, 0.0)) @ direction.T)


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
    outcomes = distinct_outcomes(games)
    table = PairTable.of(outcomes, games.contestants)
    if isinstance(fit, DavidsonFit) and fit.nu > 0:
        curvature, scores = _davidson(table, outcomes, fit)
    elif isinstance(fit, MeanEloFit):
        curvature, scores = _mean_elo(table, outcomes, fit)
    else:
        curvature, scores = _bradley_terry(table, outcomes, fit)
    spread = spread_of_units(lambda cluster: _spread(scores, outcomes, cluster), games.cluster, games.crossed)
    root = (np.eye(games.contestants) - table.gauge) @ np.linalg.inv(curvature)[: games.contestants]
    root *= fit.points_per_unit
    covariance = root @ spread @ root.T
    alone = np.bincount(table.component)[table.component] == 1
    covariance[alone] = covariance[:, alone] = np.nan
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return Sandwich(covariance, error, games.clusters, games.units, root[:, : games.contestants])


def _bradley_terry(table: PairTable, outcomes: Outcomes, fit: BradleyTerryFit) -> tuple[FloatArray, Any]:
    """The curvature (contestants, contestants) and each outcome's score, sparse (outcomes, contestants)."""
    half = np.tanh(0.5 * (fit.log_odds[outcomes.a, 0] - fit.log_odds[outcomes.b, 0]))
    surplus = 0.5 * (2.0 * outcomes.score - 1.0 - half)
    return all_games(table).curvature(fit.log_odds)[0], _by_side(outcomes, surplus, table.contestants)


def _mean_elo(table: PairTable, outcomes: Outcomes, fit: MeanEloFit) -> tuple[FloatArray, Any]:
    half = fit.equations.half(fit.log_odds)[table.pair_of_outcome, 0]
    surplus = 0.5 * (2.0 * outcomes.score - 1.0 - half)
    return fit.equations.curvature(fit.log_odds)[0], _by_side(outcomes, surplus, table.contestants)


def _davidson(table: PairTable, outcomes: Outcomes, fit: DavidsonFit) -> tuple[FloatArray, Any]:
    """As _bradley_terry, with log nu as the last parameter."""
    x = np.append(fit.log_odds, [[np.log(fit.nu)]], axis=0)
    lead, tie = chances(x[outcomes.a] - x[outcomes.b], x[-1])
    surplus = 0.5 * (2.0 * outcomes.score - 1.0 - lead[:, 0])
    ties = (outcomes.score == 0.5)[:, None] - tie
    curvature = likelihood_of_rounds(table, table.count_of_outcome[:, None]).curvature(x)[0]
    return curvature, hstack((_by_side(outcomes, surplus, table.contestants), csr_array(ties)), format="csr")


def _by_side(outcomes: Outcomes, surplus: FloatArray, contestants: int) -> Any:
    row = np.arange(len(outcomes))
    places = (np.concatenate((row, row)), np.concatenate((outcomes.a, outcomes.b)))
    return csr_array((np.concatenate((surplus, -surplus)), places), shape=(len(row), contestants))


def _spread(scores: Any, outcomes: Outcomes, cluster: IntArray | None) -> FloatArray:
    """The sum over units of the outer products of their scores, times G / (G - 1); NaN for a single unit."""
    if cluster is None:
        count = np.bincount(outcomes.of_game, minlength=len(outcomes)).astype(np.float64)
        squared, units = scores.T @ (scores * count[:, None]), len(outcomes.of_game)
    else:
        places, units = (cluster, outcomes.of_game), int(cluster.max()) + 1
        contents = coo_array((np.ones(len(cluster)), places), shape=(units, len(outcomes)))
        of_cluster = contents.tocsr() @ scores
        squared = of_cluster.T @ of_cluster
    return np.asarray(squared.toarray() * (units / (units - 1) if units > 1 else np.nan))


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
    keys = round_keys(seed, np.arange(rounds), NORMAL_DRAWS)
    uniform = ((words(keys, 0, len(covariance) + 1) >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53
    away: FloatArray = ndtri(uniform[:-1]).T @ _square_root(np.nan_to_num(covariance))
    if units is not None:
        freedom = max(1, units - 1)
        away /= np.sqrt(2.0 * gammaincinv(freedom / 2.0, uniform[-1]) / freedom)[:, None]
    return fit.rating + away


def _square_root(covariance: FloatArray) -> FloatArray:
    # The symmetric root: unlike factors of other decompositions it is the same on any machine.
    variance, direction = np.linalg.eigh(covariance)
    variance[variance < _NEGLIGIBLE * variance.max(initial=0.0)] = 0.0
    return np.asarray((direction * np.sqrt(variance)) @ direction.T)
