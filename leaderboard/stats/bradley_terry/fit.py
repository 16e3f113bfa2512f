"""Bradley-Terry ratings by maximum likelihood, a tie counting as half a win for each side.

P(a beats b) = 1 / (1 + 10 ** ((rating_b - rating_a) / 400)) (Bradley and Terry 1952, on Elo's scale).
Ratings of a connected group average 1000. A finite maximum exists if and only if, inside each connected
group, everybody can be reached from everybody by steps from a contestant to one that took at least half a
point from it (Ford 1957). In a group where it does not exist, for example because somebody never lost, each
contestant is given one drawn game against an imaginary contestant at the centre, and the result says so.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from leaderboard.stats.bradley_terry.climbing import climb
from leaderboard.stats.bradley_terry.pair_table import BoolArray as BoolArray
from leaderboard.stats.bradley_terry.pair_table import PairTable as PairTable
from leaderboard.stats.connectivity import connected_components as connected_components
from leaderboard.stats.connectivity import unbounded
from leaderboard.stats.errors import NoGamesError
from leaderboard.stats.games import FloatArray, Games, IntArray
from leaderboard.stats.outcomes import distinct_outcomes

SCALE: Final = 400.0
CENTRE: Final = 1000.0
PRIOR_GAMES: Final = 1.0
"""Drawn games against the centre given to each contestant of a group where no finite maximum exists."""

POINTS_PER_UNIT: Final = SCALE / math.log(10.0)


@dataclass(frozen=True, eq=False)
class BradleyTerryFit:
    """Ratings of shape (contestants,) by maximum likelihood.

    ``prior`` says that a group had no finite maximum and got ``PRIOR_GAMES``; ``unbounded`` says for each
    contestant why: "above" (nobody takes points off its set, so its rating has no upper limit), "below" or
    None. ``component`` numbers the connected groups: ratings of different groups have no common scale. A
    contestant without games is a group of its own at 1000. ``log_odds`` (contestants, 1) is the maximum
    before it is put on the scale.
    """

    rating: FloatArray
    prior: bool
    component: IntArray
    unbounded: tuple[str | None, ...]
    log_odds: FloatArray


@dataclass(frozen=True, eq=False)
class BradleyTerryLikelihood:
    """The log-likelihood of each round from the points ``won`` and ``lost`` per pair (pairs, rounds).

    ``prior`` (contestants, rounds) says who has the prior games in which round.
    """

    table: PairTable
    won: FloatArray
    lost: FloatArray
    prior: BoolArray

    @cached_property
    def played(self) -> FloatArray:
        """Games per pair."""
        return self.won + self.lost

    @cached_property
    def _lead(self) -> FloatArray:
        return self.won - self.lost

    @cached_property
    def _some_prior(self) -> bool:
        return bool(self.prior.any())

    def half(self, x: FloatArray) -> FloatArray:
        """Tanh of half the difference per pair: P(a wins) - P(b wins)."""
        difference = x[self.table.a]
        difference -= x[self.table.b]
        difference *= 0.5
        return np.tanh(difference, out=difference)

    def value(self, x: FloatArray) -> FloatArray:
        """Log-likelihood, the prior included where it is used."""
        difference = x[self.table.a] - x[self.table.b]
        lost = self.won * np.logaddexp(0.0, -difference) + self.lost * np.logaddexp(0.0, difference)
        pull = np.logaddexp(0.0, -x) + np.logaddexp(0.0, x)
        result: FloatArray = -lost.sum(axis=0) - 0.5 * PRIOR_GAMES * (self.prior * pull).sum(axis=0)
        return result

    def slope(self, x: FloatArray) -> FloatArray:
        """Points beyond the expected ones, of each contestant."""
        surplus = self.half(x)
        surplus *= self.played
        np.subtract(self._lead, surplus, out=surplus)
        slope: FloatArray = self.table.sides @ surplus
        slope *= 0.5
        if self._some_prior:
            slope -= self.prior * (0.5 * PRIOR_GAMES) * np.tanh(x * 0.5)
        return slope

    def curvature(self, x: FloatArray) -> FloatArray:
        """Minus the second derivative, made regular by gauge or prior."""
        return hessian(self.table, self.played, self.half(x), self.prior, x)

    def reach(self, step: FloatArray) -> FloatArray:
        """By how much a step moves the log-odds of any game at most."""
        return self.table.largest_difference(step)

    def only(self, rounds: IntArray) -> "BradleyTerryLikelihood":
        """The same for some of the rounds."""
        if len(rounds) == self.won.shape[1]:
            return self
        return replace(self, won=self.won[:, rounds], lost=self.lost[:, rounds], prior=self.prior[:, rounds])


def bradley_terry(games: Games) -> BradleyTerryFit:
    """Fit Bradley-Terry to the games; raise NoGamesError where there are none."""
    if not len(games):
        raise NoGamesError("there are no games to rank")
    table = PairTable.of(distinct_outcomes(games), games.contestants)
    likelihood = all_games(table)
    log_odds = climb(likelihood, np.zeros((table.contestants, 1)))
    return BradleyTerryFit(
        to_ratings(table.centred(log_odds))[0],
        bool(likelihood.prior.any()),
        table.component,
        unbounded(table.a, table.b, likelihood.won[:, 0], likelihood.lost[:, 0], table.contestants),
        log_odds,
    )


def all_games(table: PairTable) -> BradleyTerryLikelihood:
    """The likelihood of all games as a single round."""
    won, lost = table.points(table.count_of_outcome[:, None])
    return BradleyTerryLikelihood(table, won, lost, table.no_finite_maximum(won, lost))


def to_ratings(theta: FloatArray) -> FloatArray:
    """Log-odds (contestants, rounds) as ratings (rounds, contestants)."""
    return np.ascontiguousarray(theta.T) * POINTS_PER_UNIT + CENTRE


def gradient(
    table: PairTable, won: FloatArray, lost: FloatArray, prior: BoolArray, theta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The slope of the log-likelihood (contestants, rounds), and tanh of half the difference per pair."""
    likelihood = BradleyTerryLikelihood(table, won, lost, prior)
    return likelihood.slope(theta), likelihood.half(theta)


def newton(
    table: PairTable, won: FloatArray, lost: FloatArray, prior: BoolArray, start: FloatArray
) -> FloatArray:
    """Maximise the log-likelihood of every round from ``start``; log-odds of shape (contestants, rounds)."""
    everyone = np.broadcast_to(prior, start.shape)
    return table.centred(climb(BradleyTerryLikelihood(table, won, lost, everyone), start))


def hessian(
    table: PairTable, played: FloatArray, half: FloatArray, prior: BoolArray, theta: FloatArray
) -> FloatArray:
    """Minus the second derivative (rounds, contestants, contestants), made regular by gauge or prior."""
    weight = (0.25 * played * (1.0 - half * half)).T
    matrix = laplacian(table, weight)
    diagonal = np.arange(table.contestants)
    pull = 0.25 * PRIOR_GAMES * (1.0 - np.tanh(theta * 0.5) ** 2)
    matrix[:, diagonal, diagonal] += (pull * prior).T
    return with_gauge(table, matrix, weight, prior)


def laplacian(table: PairTable, weight: FloatArray) -> FloatArray:
    """(rounds, contestants, contestants) of the graph with ``weight`` (rounds, pairs)."""
    matrix = np.zeros((len(weight), table.contestants, table.contestants))
    matrix[:, table.a, table.b] = -weight
    matrix += matrix.transpose(0, 2, 1)
    diagonal = np.arange(table.contestants)
    matrix[:, diagonal, diagonal] = -matrix.sum(axis=2)
    return matrix


def with_gauge(table: PairTable, matrix: FloatArray, weight: FloatArray, prior: BoolArray) -> FloatArray:
    """The matrix (rounds, contestants, contestants), regular: the mean of each component is fixed.

    Components with the prior are regular already. Nothing but the mean depends on what is added.
    """
    open_mean = ~np.broadcast_to(prior, (table.contestants, len(matrix))).T
    size = np.maximum(1e-3, weight.mean(axis=1))
    matrix += table.gauge * (open_mean * size[:, None])[:, :, None]
    return matrix
