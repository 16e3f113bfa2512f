"""Bradley-Terry strengths by maximum likelihood, a tie counting as half a win for each side.

P(a beats b) = 1 / (1 + 10 ** ((strength_b - strength_a) / 400)) (Bradley and Terry 1952). A finite maximum
exists if and only if everybody in a connected group can be reached from everybody by steps from a contestant
to one that took at least half a point from it (Ford 1957). Otherwise each contestant of the group gets one
drawn game against an imaginary contestant at the centre.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bootstrap import (
    ROUNDS,
    Bootstrap,
    check_count,
    check_run,
    choose_threads,
    refit,
    rounds_together,
)
from leaderboard.stats.checks import BoolArray, FloatArray, IntArray, NoGamesError
from leaderboard.stats.games import Games, make_games
from leaderboard.stats.newton import Likelihood, Reference
from leaderboard.stats.pair_table import PairTable

SCALE: Final = 400.0
CENTRE: Final = 1000.0
# Drawn games against the centre for each contestant of a group without a finite maximum.
PRIOR_GAMES: Final = 1.0
POINTS_PER_UNIT: Final = SCALE / math.log(10.0)
PARAMETERS: Final = {"scale": SCALE, "centre": CENTRE, "prior_games": PRIOR_GAMES}
# Distinct outcomes x rounds from which threads help.
WORTH_THREADS: Final = 1_000_000


@dataclass(frozen=True, eq=False)
class BradleyTerryFit:
    """Strengths by maximum likelihood."""

    rating: FloatArray  # (contestants,)
    reference: "Reference[BradleyTerryLikelihood]"

    @property
    def prior(self) -> bool:
        """Whether a group had no finite maximum and got PRIOR_GAMES."""
        return bool(self.reference.likelihood.prior.any())

    @property
    def component(self) -> IntArray:
        """Connected groups (contestants,), which have no common scale."""
        return self.reference.likelihood.table.component

    @property
    def unbounded(self) -> tuple[str | None, ...]:
        """ "above" where nobody takes points off its set, "below", or None."""
        return self.reference.likelihood.table.unbounded

    @property
    def points_per_unit(self) -> float:
        """Of log-odds."""
        return POINTS_PER_UNIT


def bradley_terry(games: Games) -> BradleyTerryFit:
    """Fit Bradley-Terry to the games; raises NoGamesError where there are none."""
    if not len(games):
        raise NoGamesError("there are no ratings to rank by")
    reference = Reference.of(all_games(games.table))
    return BradleyTerryFit(to_ratings(games.table.centred(reference.x))[0], reference)


def bootstrap_bradley_terry(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score: npt.ArrayLike,
    contestants: int,
    *,
    rounds: int = ROUNDS,
    seed: int = 0,
    cluster: npt.ArrayLike | None = None,
    crossed: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> Bootstrap:
    """Fit Bradley-Terry to ``rounds`` resamples of the games (arguments as for bootstrap_elo)."""
    games = make_games(a, b, score, contestants, cluster=cluster, crossed=crossed)
    return bootstrap_fit(games, bradley_terry(games), rounds=rounds, seed=seed, threads=threads)


def bootstrap_fit(
    games: Games, fit: BradleyTerryFit, *, rounds: int = ROUNDS, seed: int = 0, threads: int | None = None
) -> Bootstrap:
    """``bootstrap_bradley_terry`` of games, which may be shared, from their fit."""
    return bootstrap_games(games, refitted(fit.reference), rounds=rounds, seed=seed, threads=threads)


Refit = Callable[[FloatArray], tuple[FloatArray, BoolArray]]
"""From weights (outcomes, rounds) to parameters (parameters, rounds), contestants' log-odds first, and to
whether a round needed the prior (rounds,).
"""


def bootstrap_games(
    games: Games,
    fit: Refit,
    others: Sequence[str] = (),
    *,
    rounds: int,
    seed: int,
    threads: int | None,
) -> Bootstrap:
    """Refit a model to resamples of the games; ``others`` names its parameters after the contestants."""
    check_count(len(games))
    check_run(rounds, seed, threads)
    outcomes, contestants = games.outcomes, games.contestants
    used = choose_threads(threads, len(outcomes) * rounds >= WORTH_THREADS)
    found, prior = refit(
        lambda weights, _: fit(weights),
        outcomes,
        games.cluster,
        games.crossed,
        rounds=rounds,
        seed=seed,
        together=rounds_together(len(outcomes)),
        threads=used,
    )
    return Bootstrap(
        to_ratings(found[:contestants]),
        PARAMETERS,
        seed,
        games.clusters,
        games.crossed_clusters,
        used,
        others=dict(zip(others, found[contestants:], strict=True)),
        prior_rounds=int(prior.sum()),
        component=games.table.component,
    )


def refitted(reference: "Reference[BradleyTerryLikelihood]") -> Refit:
    def fit(weights: FloatArray) -> tuple[FloatArray, BoolArray]:
        rounds = reference.likelihood.of_rounds(weights)
        return rounds.table.centred(reference.climb(rounds).x), np.asarray(rounds.prior.any(axis=0))

    return fit


@dataclass(frozen=True, eq=False)
class BradleyTerryLikelihood(Likelihood):
    """The log-likelihood of each round; ``prior`` (contestants, rounds) tells who has the prior games."""

    table: PairTable
    won: FloatArray  # points per pair (pairs, rounds)
    lost: FloatArray

    @property
    def parameters(self) -> int:
        return self.table.contestants

    def of_rounds(self, weights: FloatArray) -> Self:
        """The same of rounds, from weights on the outcomes (outcomes, rounds)."""
        won, lost = self.table.points(weights)
        return replace(self, won=won, lost=lost, prior=self.table.no_finite_maximum(won, lost))

    @cached_property
    def played(self) -> FloatArray:
        return self.won + self.lost

    @cached_property
    def _lead(self) -> FloatArray:
        return self.won - self.lost

    @cached_property
    def _some_prior(self) -> bool:
        return bool(self.prior.any())

    def half(self, x: FloatArray) -> FloatArray:
        """P(a wins) - P(b wins) of each pair."""
        difference = x[self.table.a]
        difference -= x[self.table.b]
        difference *= 0.5
        return np.tanh(difference, out=difference)

    def steepness(self, x: FloatArray) -> FloatArray:
        """The slope of ``half``, times 2."""
        half = self.half(x)
        return np.asarray(1.0 - half * half)

    def loss(self, difference: FloatArray) -> FloatArray:
        """What each pair takes away from the value, (pairs, rounds)."""
        return np.asarray(
            self.won * np.logaddexp(0.0, -difference) + self.lost * np.logaddexp(0.0, difference)
        )

    def value(self, x: FloatArray) -> FloatArray:
        lost = self.loss(x[self.table.a] - x[self.table.b])
        pull = np.logaddexp(0.0, -x) + np.logaddexp(0.0, x)
        return np.asarray(-lost.sum(axis=0) - 0.5 * PRIOR_GAMES * (self.prior * pull).sum(axis=0))

    def slope(self, x: FloatArray) -> FloatArray:
        surplus = self.half(x)
        surplus *= self.played
        np.subtract(self._lead, surplus, out=surplus)
        slope: FloatArray = self.table.sides @ surplus
        slope *= 0.5
        if self._some_prior:
            slope -= self.prior * (0.5 * PRIOR_GAMES) * np.tanh(x * 0.5)
        return slope

    def curvature(self, x: FloatArray) -> FloatArray:
        weight = (0.25 * self.played * self.steepness(x)).T
        matrix = laplacian(self.table, weight)
        diagonal = np.arange(self.table.contestants)
        pull = 0.25 * PRIOR_GAMES * (1.0 - np.tanh(x * 0.5) ** 2)
        matrix[:, diagonal, diagonal] += (pull * self.prior).T
        return with_gauge(self.table, matrix, weight, self.prior)

    def reach(self, step: FloatArray) -> FloatArray:
        return self.table.largest_difference(step)


def all_games(table: PairTable) -> BradleyTerryLikelihood:
    """The likelihood of all games as a single round."""
    won, lost, prior = table.all_games
    return BradleyTerryLikelihood(table, won, lost, prior=prior)


def to_ratings(theta: FloatArray) -> FloatArray:
    """Log-odds (contestants, rounds) as strengths (rounds, contestants)."""
    return np.ascontiguousarray(theta.T) * POINTS_PER_UNIT + CENTRE


def laplacian(table: PairTable, weight: FloatArray) -> FloatArray:
    """The Laplacian matrices (rounds, contestants, contestants) of pairs with ``weight`` (rounds, pairs)."""
    matrix = np.zeros((len(weight), table.contestants, table.contestants))
    matrix[:, table.a, table.b] = -weight
    matrix += matrix.transpose(0, 2, 1)
    diagonal = np.arange(table.contestants)
    matrix[:, diagonal, diagonal] = -matrix.sum(axis=2)
    return matrix


def with_gauge(table: PairTable, matrix: FloatArray, weight: FloatArray, prior: BoolArray) -> FloatArray:
    """The matrix (rounds, contestants, contestants) made regular by fixing the mean of each component."""
    size = np.maximum(1e-3, weight.mean(axis=1))
    matrix += table.gauge * (~prior.T * size[:, None])[:, :, None]
    return matrix
