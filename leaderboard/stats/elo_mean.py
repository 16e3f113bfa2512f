"""Elo's mean strengths over endless games in random order: solved, not played.

Elo never comes to rest. In endless games, each drawn from those there are, its strengths move in a cloud
around means that depend on the votes and on K, not on an order. At the means nobody gains: the surpluses
(score - expected score) of every contestant cancel, with expected scores averaged over the cloud. The
covariance C of the cloud is where games add as much as they take away, L C + C L = kappa G: L is the
Laplacian of the slopes of the expected scores, G that of the squared surpluses, kappa is K in log-odds
(Lyapunov's equation; Kushner and Yin 2003, *Stochastic Approximation and Recursive Algorithms*, chapter 10).

The cloud is taken as normal. docs/methodology.md says how near that comes to played games.
"""

import math
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from leaderboard.stats.bootstrap import Bootstrap
from leaderboard.stats.bradley_terry import (
    CENTRE,
    POINTS_PER_UNIT,
    BradleyTerryFit,
    BradleyTerryLikelihood,
    all_games,
    bootstrap_fit,
    laplacian,
    to_ratings,
)
from leaderboard.stats.checks import FloatArray, NoGamesError, ParameterError
from leaderboard.stats.elo import EloParameters
from leaderboard.stats.games import Games
from leaderboard.stats.newton import Reference, climb
from leaderboard.stats.pair_table import PairTable

# With a larger K the cloud is too far from normal.
LARGEST_PULL: Final = 0.2
_TOLERANCE: Final = 1e-10
_STEPS: Final = 100
# Nodes and weights of Gauss and Hermite for a mean over the standard normal distribution: one at 0, others at
# both sides of it.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(5)
_MIDDLE, *_RIGHT = zip(_NODES[2:].tolist(), (_WEIGHTS[2:] / math.sqrt(2.0 * math.pi)).tolist(), strict=True)


@dataclass(frozen=True, eq=False)
class MeanEloFit(BradleyTerryFit):
    """Elo's mean strengths."""

    parameters: EloParameters

    @property
    def points_per_unit(self) -> float:
        return 0.5 / self.parameters.half_rate


def mean_elo(games: Games, parameters: EloParameters) -> MeanEloFit:
    """Elo's mean strengths over endless random orders of the games.

    Contestants who won or lost everything get Bradley-Terry's prior. Raises NoGamesError without games and
    ParameterError where K is too large.
    """
    if not len(games):
        raise NoGamesError("there are no ratings to rank by")
    reference = Reference.of(_settled(games.table, parameters))
    rating = to_ratings(games.table.centred(reference.x))
    return MeanEloFit(_in_points(rating, parameters)[0], reference, parameters)


def bootstrap_mean_elo(
    games: Games, fit: MeanEloFit, *, rounds: int, seed: int = 0, threads: int | None = None
) -> Bootstrap:
    """Elo's mean strengths for ``rounds`` resamples of the games, from the fit of all.

    Each round has the cloud of all games, which the votes of a round change far less than the means.
    """
    found = bootstrap_fit(games, fit, rounds=rounds, seed=seed, threads=threads)
    points = _in_points(found.samples, fit.parameters)
    return replace(found, samples=points, parameters=asdict(fit.parameters))


def check_k(parameters: EloParameters) -> None:
    """Raise ParameterError where K is too large for a mean to be solved."""
    if parameters.pull > LARGEST_PULL:
        most = parameters.k * LARGEST_PULL / parameters.pull
        raise ParameterError(
            f"k is {parameters.k:g}; the mean over orders can be had up to {most:.4g}; "
            "choose a smaller k, or the method elo-study"
        )


@dataclass(frozen=True, eq=False)
class MeanElo(BradleyTerryLikelihood):
    """Bradley-Terry with its chances averaged over the cloud: at the highest value nobody gains."""

    apart: FloatArray  # standard deviation of each difference, in log-odds (pairs, 1)

    def half(self, x: FloatArray) -> FloatArray:
        centre = super().half(x)
        square, part = centre * centre, np.empty_like(centre)
        total = np.full_like(centre, _MIDDLE[1])
        for share, curve in self._sides:
            np.multiply(square, -curve, out=part)
            part += 1.0
            np.divide(share, part, out=part)
            total += part
        total *= centre
        return total

    def steepness(self, x: FloatArray) -> FloatArray:
        square = super().half(x) ** 2
        total = np.full_like(square, _MIDDLE[1])
        for share, curve in self._sides:
            part = 1.0 / (1.0 - curve * square)
            total += share * part * (1.0 + 2.0 * curve * square * part)
        return np.asarray((1.0 - square) * total)

    @cached_property
    def _sides(self) -> list[tuple[FloatArray, FloatArray]]:
        # tanh(u + v) + tanh(u - v) = 2 tanh(u) (1 - tanh(v)²) / (1 - tanh(u)² tanh(v)²)
        curves = [(weight, np.tanh(0.5 * node * self.apart) ** 2) for node, weight in _RIGHT]
        return [(2.0 * weight * (1.0 - curve), curve) for weight, curve in curves]

    def loss(self, difference: FloatArray) -> FloatArray:
        softplus = _MIDDLE[1] * _softplus(difference)
        for node, weight in _RIGHT:
            for side in (node, -node):
                softplus += weight * _softplus(difference + side * self.apart)
        return np.asarray(self.played * softplus - self.won * difference)


def _softplus(x: FloatArray) -> FloatArray:
    return np.asarray(np.log(1.0 + np.exp(-np.abs(x))) + np.maximum(x, 0.0))


def _settled(table: PairTable, parameters: EloParameters) -> MeanElo:
    """The equations of all games, with the cloud of their own solution."""
    check_k(parameters)
    plain, kappa = all_games(table), 4.0 * parameters.pull
    ties = table.ties(table.count_of_outcome[:, None])
    variance, x = np.full_like(plain.won, kappa), np.zeros((table.contestants, 1))
    for _ in range(_STEPS):
        equations = MeanElo(table, plain.won, plain.lost, np.sqrt(variance), prior=plain.prior)
        x = climb(equations, x).x
        half, squares = equations.half(x), 1.0 - equations.steepness(x)
        # The sum of (score - chance)² over a pair's games, where the chance is (1 + half) / 2.
        surplus = plain.won * -half - 0.25 * ties + 0.25 * plain.played * (1.0 + 2.0 * half + squares)
        games_add = kappa * laplacian(table, surplus.T)[0]
        cloud = _cloud(equations.curvature(x)[0], games_add)
        before, own = variance, np.diag(cloud)[:, None]
        variance = own[table.a] + own[table.b] - 2.0 * cloud[table.a, table.b][:, None]
        if np.abs(variance - before).max(initial=0.0) < _TOLERANCE:
            break
    return equations


def _cloud(pull: FloatArray, games_add: FloatArray) -> FloatArray:
    """The covariance C with pull C + C pull = games_add, for a symmetric ``pull``."""
    rate, direction = np.linalg.eigh(pull)
    turned = direction.T @ games_add @ direction
    return np.asarray(direction @ (turned / (rate[:, None] + rate)) @ direction.T)


def _in_points(rating: FloatArray, parameters: EloParameters) -> FloatArray:
    """Bradley-Terry's points on the scale of these parameters."""
    return parameters.init + (rating - CENTRE) * (0.5 / parameters.half_rate / POINTS_PER_UNIT)
