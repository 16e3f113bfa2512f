"""Bradley-Terry ratings by maximum likelihood, a tie counting as half a win for each side.

P(a beats b) = 1 / (1 + 10 ** ((rating_b - rating_a) / 400)) (Bradley and Terry 1952, on Elo's scale).
Ratings of a connected group average 1000. A finite maximum exists if and only if, inside each connected
group, everybody can be reached from everybody by steps from a contestant to one that took at least half a
point from it (Ford 1957). Where it does not exist, for example for a contestant that never lost, each
contestant is given one drawn game against an imaginary contestant at the centre, and the result says so.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.errors import NoGamesError
from leaderboard.stats.games import FloatArray, Games, IntArray
from leaderboard.stats.outcomes import Outcomes, distinct_outcomes

SCALE: Final = 400.0
CENTRE: Final = 1000.0
PRIOR_GAMES: Final = 1.0
"""Drawn games against the centre given to each contestant where no finite maximum exists."""

POINTS_PER_UNIT: Final = SCALE / math.log(10.0)
_TOLERANCE: Final = 1e-11
_NEWTON_STEPS: Final = 100
_LONGEST_STEP: Final = 3.0

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PairTable:
    """The pairs of contestants that met, ``a < b``, and the outcomes that belong to each pair.

    ``component`` numbers the connected groups 0, 1, ... by size, then by their first contestant. Arrays "per
    pair" below have the shape (pairs, rounds): the points of each side summed over the games of a round.
    """

    a: IntArray
    b: IntArray
    contestants: int
    pair_of_outcome: IntArray
    score_of_outcome: FloatArray
    count_of_outcome: FloatArray
    component: IntArray

    @classmethod
    def of(cls, outcomes: Outcomes, contestants: int) -> "PairTable":
        """Group the distinct outcomes of games by pair."""
        code, pair = np.unique(outcomes.a * contestants + outcomes.b, return_inverse=True)
        a, b = np.divmod(code, max(contestants, 1))
        count = np.bincount(outcomes.of_game, minlength=len(outcomes)).astype(np.float64)
        component = connected_components(a, b, contestants)
        return cls(a, b, contestants, pair.reshape(-1), outcomes.score, count, component)

    @cached_property
    def sides(self) -> Any:
        """Sparse (contestants, pairs): 1 where the contestant is a of the pair, -1 where it is b."""
        return self._incidence(1.0, -1.0)

    @cached_property
    def _as_a(self) -> Any:
        return self._incidence(1.0, 0.0)

    @cached_property
    def _as_b(self) -> Any:
        return self._incidence(0.0, 1.0)

    def _incidence(self, for_a: float, for_b: float) -> Any:
        from scipy.sparse import csr_array

        pairs = np.arange(len(self.a))
        values = np.concatenate((np.full(len(pairs), for_a), np.full(len(pairs), for_b)))
        places = (np.concatenate((self.a, self.b)), np.concatenate((pairs, pairs)))
        return csr_array((values, places), shape=(self.contestants, len(pairs)))

    @cached_property
    def _sums(self) -> tuple[Any, Any]:
        from scipy.sparse import csr_array

        places = (self.pair_of_outcome, np.arange(len(self.pair_of_outcome)))
        shape = (len(self.a), len(self.pair_of_outcome))
        won = csr_array((self.score_of_outcome, places), shape=shape)
        return won, csr_array((1.0 - self.score_of_outcome, places), shape=shape)

    def points(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Points of a and of b per pair, from weights on the outcomes of shape (outcomes, rounds)."""
        won, lost = self._sums
        return won @ weights, lost @ weights

    @cached_property
    def gauge(self) -> FloatArray:
        """(contestants, contestants): fixes the mean of each component, which the likelihood leaves open."""
        same = self.component[:, None] == self.component[None, :]
        mean: FloatArray = same / same.sum(axis=1, keepdims=True)
        return mean

    def centred(self, theta: FloatArray) -> FloatArray:
        """``theta`` (contestants, rounds) shifted so that each component has mean 0."""
        return theta - self.gauge @ theta

    def no_finite_maximum(self, won: FloatArray, lost: FloatArray) -> BoolArray:
        """Which rounds, of shape (rounds,), have a group that is not reachable from everywhere in itself."""
        roots = np.unique(self.component, return_index=True)[1]
        start = np.zeros((self.contestants, won.shape[1]), dtype=bool)
        start[roots] = True
        one_way = self._reach(start, won > 0, lost > 0)
        other_way = self._reach(start, lost > 0, won > 0)
        everywhere: BoolArray = np.asarray((one_way & other_way).all(axis=0))
        return ~everywhere

    def _reach(self, reached: BoolArray, a_to_b: BoolArray, b_to_a: BoolArray) -> BoolArray:
        while True:
            before = np.count_nonzero(reached)
            to_b = self._as_b @ (reached[self.a] & a_to_b).astype(np.float32)
            to_a = self._as_a @ (reached[self.b] & b_to_a).astype(np.float32)
            reached = reached | (to_a > 0) | (to_b > 0)
            if np.count_nonzero(reached) == before:
                return reached


@dataclass(frozen=True, eq=False)
class BradleyTerryFit:
    """Ratings of shape (contestants,) by maximum likelihood.

    ``prior`` says that no finite maximum existed and that ``PRIOR_GAMES`` were added; ``component``
    numbers the connected groups: ratings of different groups have no common scale. A contestant without
    games is a group of its own at 1000.
    """

    rating: FloatArray
    prior: bool
    component: IntArray


def bradley_terry(games: Games) -> BradleyTerryFit:
    """Fit Bradley-Terry to the games; raise NoGamesError where there are none."""
    if not len(games):
        raise NoGamesError("there are no games to rank")
    table = PairTable.of(distinct_outcomes(games), games.contestants)
    theta, prior = fit_all_games(table)
    return BradleyTerryFit(to_ratings(theta)[0], prior, table.component)


def fit_all_games(table: PairTable) -> tuple[FloatArray, bool]:
    """The maximum for all games: log-odds of shape (contestants, 1), and whether the prior was needed."""
    won, lost = table.points(table.count_of_outcome[:, None])
    prior = table.no_finite_maximum(won, lost)
    return newton(table, won, lost, prior, np.zeros((table.contestants, 1))), bool(prior[0])


def to_ratings(theta: FloatArray) -> FloatArray:
    """Log-odds (contestants, rounds) as ratings (rounds, contestants)."""
    return np.ascontiguousarray(theta.T) * POINTS_PER_UNIT + CENTRE


def connected_components(a: IntArray, b: IntArray, contestants: int) -> IntArray:
    """The connected group of each contestant: 0 is the largest, equal sizes by their first member."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components as label

    edges = csr_array((np.ones(len(a)), (a, b)), shape=(contestants, contestants))
    found = label(edges, directed=False)[1]
    _, first, size = np.unique(found, return_index=True, return_counts=True)
    order = np.lexsort((first, -size))
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    numbered: IntArray = number[found].astype(np.int64)
    return numbered


def gradient(
    table: PairTable, won: FloatArray, lost: FloatArray, prior: BoolArray, theta: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The slope of the log-likelihood (contestants, rounds), and tanh of half the difference per pair."""
    half = np.tanh((theta[table.a] - theta[table.b]) * 0.5)
    surplus = 0.5 * ((won - lost) - (won + lost) * half)
    slope: FloatArray = table.sides @ surplus
    if prior.any():
        slope -= prior * (0.5 * PRIOR_GAMES) * np.tanh(theta * 0.5)
    return slope, half


def newton(
    table: PairTable, won: FloatArray, lost: FloatArray, prior: BoolArray, start: FloatArray
) -> FloatArray:
    """Maximise the log-likelihood of every round from ``start``; log-odds of shape (contestants, rounds).

    Full Newton steps, halved while they would lower the likelihood, which is concave: so this always arrives.
    """
    theta = np.array(start)
    value = log_likelihood(table, won, lost, prior, theta)
    for _ in range(_NEWTON_STEPS):
        slope, half = gradient(table, won, lost, prior, theta)
        curvature = hessian(table, won + lost, half, prior, theta)
        step = np.linalg.solve(curvature, slope.T[:, :, None])[:, :, 0].T
        size = np.abs(step).max(axis=0)
        step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(size, _TOLERANCE))
        for _ in range(30):
            reached = log_likelihood(table, won, lost, prior, theta + step)
            worse = reached < value - 1e-9 * np.abs(value)
            if not worse.any():
                break
            step[:, worse] *= 0.5
        theta, value = theta + step, reached
        if size.max(initial=0.0) < _TOLERANCE:
            break
    return table.centred(theta)


def hessian(
    table: PairTable, played: FloatArray, half: FloatArray, prior: BoolArray, theta: FloatArray
) -> FloatArray:
    """Minus the second derivative (rounds, contestants, contestants), made regular by gauge or prior."""
    rounds, contestants = played.shape[1], table.contestants
    weight = (0.25 * played * (1.0 - half * half)).T
    matrix = np.zeros((rounds, contestants, contestants))
    matrix[:, table.a, table.b] = -weight
    matrix += matrix.transpose(0, 2, 1)
    diagonal = np.arange(contestants)
    matrix[:, diagonal, diagonal] = -matrix.sum(axis=2)
    pull = 0.25 * PRIOR_GAMES * (1.0 - np.tanh(theta * 0.5) ** 2)
    matrix[:, diagonal, diagonal] += (pull * prior).T
    matrix[~prior] += table.gauge * np.maximum(1e-3, weight.mean(axis=1))[~prior, None, None]
    return matrix


def log_likelihood(
    table: PairTable, won: FloatArray, lost: FloatArray, prior: BoolArray, theta: FloatArray
) -> FloatArray:
    """Log-likelihood of each round, of shape (rounds,), the prior included where it is used."""
    difference = theta[table.a] - theta[table.b]
    value = -(won * np.logaddexp(0.0, -difference) + lost * np.logaddexp(0.0, difference)).sum(axis=0)
    pull = np.logaddexp(0.0, -theta) + np.logaddexp(0.0, theta)
    result: FloatArray = value - prior * (0.5 * PRIOR_GAMES) * pull.sum(axis=0)
    return result
