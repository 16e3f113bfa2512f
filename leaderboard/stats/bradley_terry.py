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
from typing import Any, Final, Protocol, Self

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import FloatArray, IntArray, NoGamesError
from leaderboard.stats.connectivity import connected_components, unbounded
from leaderboard.stats.games import Games
from leaderboard.stats.outcomes import Outcomes, distinct_outcomes

# The pairs of contestants that met, and what belongs to each: the ground of Bradley-Terry and Davidson.


BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PairTable:
    """The pairs of contestants that met, ``a < b``, and the outcomes that belong to each pair.

    ``component`` numbers the connected groups 0, 1, ... by size, then by their first contestant. Arrays "per
    pair" have the shape (pairs, rounds): the points of each side summed over the games of a round.
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
    def _sums(self) -> tuple[Any, Any, Any]:
        score = self.score_of_outcome
        return self._summing(score), self._summing(1.0 - score), self._summing((score == 0.5).astype(float))

    def _summing(self, values: FloatArray) -> Any:
        from scipy.sparse import csr_array

        places = (self.pair_of_outcome, np.arange(len(self.pair_of_outcome)))
        summing = csr_array((values, places), shape=(len(self.a), len(values)))
        summing.eliminate_zeros()
        return summing

    def points(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Points of a and of b per pair, from weights on the outcomes of shape (outcomes, rounds)."""
        won, lost, _ = self._sums
        return won @ weights, lost @ weights

    def ties(self, weights: FloatArray) -> FloatArray:
        """Ties per pair, from weights on the outcomes of shape (outcomes, rounds)."""
        tied: FloatArray = self._sums[2] @ weights
        return tied

    @cached_property
    def gauge(self) -> FloatArray:
        """(contestants, contestants): fixes the mean of each component, which the likelihood leaves open."""
        same = self.component[:, None] == self.component[None, :]
        mean: FloatArray = same / same.sum(axis=1, keepdims=True)
        return mean

    def centred(self, theta: FloatArray) -> FloatArray:
        """``theta`` (contestants, rounds) shifted so that each component has mean 0."""
        return theta - self.gauge @ theta

    def largest_difference(self, theta: FloatArray) -> FloatArray:
        """The largest difference, in either direction, between the two of a pair, of shape (rounds,)."""
        largest: FloatArray = np.abs(theta[self.a] - theta[self.b]).max(axis=0, initial=0.0)
        return largest

    def no_finite_maximum(self, won: FloatArray, lost: FloatArray) -> BoolArray:
        """Whose component has no finite maximum in a round: (contestants, rounds).

        That is the case unless everybody in the component can be reached from everybody in it by steps from
        a contestant to one that took at least half a point from it (Ford 1957).
        """
        without = np.zeros((self.contestants, won.shape[1]), dtype=bool)
        if self._joined_by(np.asarray(((won > 0) & (lost > 0)).all(axis=1))):
            return without
        roots = np.unique(self.component, return_index=True)[1]
        start = np.array(without)
        start[roots] = True
        one_way = self._reach(start, won > 0, lost > 0)
        other_way = self._reach(start, lost > 0, won > 0)
        missing: BoolArray = self.gauge @ ~(one_way & other_way) > 0
        return missing

    def _joined_by(self, pairs: BoolArray) -> bool:
        """Whether these pairs alone connect every component."""
        if pairs.all():
            return True
        left = connected_components(self.a[pairs], self.b[pairs], self.contestants)
        return np.array_equal(left, self.component)

    def _reach(self, reached: BoolArray, a_to_b: BoolArray, b_to_a: BoolArray) -> BoolArray:
        while True:
            before = np.count_nonzero(reached)
            to_b = self._as_b @ (reached[self.a] & a_to_b).astype(np.float32)
            to_a = self._as_a @ (reached[self.b] & b_to_a).astype(np.float32)
            reached = reached | (to_a > 0) | (to_b > 0)
            if np.count_nonzero(reached) == before:
                return reached


# Maximising the concave log-likelihoods of many rounds at once: Newton steps, and cheaper chord steps.


_TOLERANCE: Final = 1e-11
_NEWTON_STEPS: Final = 100
_ROUNDING: Final = 1e-6
"""A step shorter than this that is no shorter than half the one before is rounding errors."""

_CHORD_STEPS: Final = 40
_LONGEST_STEP: Final = 3.0
_HALVINGS: Final = 30
_MOST_NUMBERS: Final = 2**21
"""Of the curvatures of rounds climbed together: 16 MB."""


class Likelihood(Protocol):
    """A concave log-likelihood for each round; ``x`` has the shape (parameters, rounds)."""

    @property
    def prior(self) -> BoolArray:
        """Who has the prior in which round, (contestants, rounds)."""

    def value(self, x: FloatArray) -> FloatArray:
        """The log-likelihood, (rounds,)."""

    def slope(self, x: FloatArray) -> FloatArray:
        """Its first derivative, (parameters, rounds)."""

    def curvature(self, x: FloatArray) -> FloatArray:
        """Minus its second derivative, made regular, (rounds, parameters, parameters)."""

    def reach(self, step: FloatArray) -> FloatArray:
        """By how much a step moves the log-odds of any game at most, (rounds,)."""

    def only(self, rounds: IntArray) -> Self:
        """The same for some of the rounds."""


def climb(likelihood: Likelihood, start: FloatArray) -> FloatArray:
    """The maximum of every round, (parameters, rounds).

    Full Newton steps, halved while they would lower the likelihood, which is concave: so this always arrives
    where there is a finite maximum. What is limited is how far a step moves the odds of a game: in a long
    chain of contestants the ends may move much farther.
    """
    x = np.array(start)
    value = likelihood.value(x)
    before = np.inf
    for _ in range(_NEWTON_STEPS):
        curvature, slope = likelihood.curvature(x), likelihood.slope(x)
        solved = np.linalg.solve(curvature, slope.T[:, :, None])[:, :, 0]
        step = np.asarray(solved.T, dtype=np.float64)
        size = np.abs(step).max(axis=0)
        step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(likelihood.reach(step), _TOLERANCE))
        for _ in range(_HALVINGS):
            reached = likelihood.value(x + step)
            worse = reached < value - 1e-9 * np.abs(value)
            if not worse.any():
                break
            step[:, worse] *= 0.5
        x, value = x + step, reached
        longest = size.max(initial=0.0)
        if longest < _TOLERANCE or before / 2.0 < longest < _ROUNDING:
            break
        before = longest
    return x


def climb_from(
    likelihood: Likelihood, start: FloatArray, inverse: FloatArray, shared: BoolArray
) -> FloatArray:
    """The maximum of every round, (parameters, rounds), where most lie near ``start`` (parameters, 1).

    ``inverse`` is the inverse curvature at the start. Rounds in ``shared`` (rounds,) take steps with it alone
    ("chord" steps); those it does not settle, and the others, get full Newton steps.
    """
    x = np.repeat(start, len(shared), axis=1)
    settled = np.zeros(len(shared), dtype=bool)
    near = np.flatnonzero(shared)
    if len(near):
        x[:, near], settled[near] = _chord(likelihood.only(near), x[:, near], inverse)
    rest = np.flatnonzero(~settled)
    at_once = max(1, _MOST_NUMBERS // len(start) ** 2)
    for first in range(0, len(rest), at_once):
        some = rest[first : first + at_once]
        x[:, some] = climb(likelihood.only(some), np.repeat(start, len(some), axis=1))
    return x


def _chord(likelihood: Likelihood, x: FloatArray, inverse: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Where steps with the one inverse curvature lead, and which rounds they settled."""
    size = np.zeros(x.shape[1])
    for _ in range(_CHORD_STEPS):
        step = inverse @ likelihood.slope(x)
        size = np.abs(step).max(axis=0)
        x += np.clip(step, -1.0, 1.0)
        if size.max() < _TOLERANCE:
            break
    return x, size < _TOLERANCE


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
