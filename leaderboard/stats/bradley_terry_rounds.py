"""Bradley-Terry on many resamples at once: weights on the distinct outcomes, then shared Newton steps.

The maximum of a resample lies near that of all games, so one inverse Hessian, taken there, serves every round
("chord" steps). Rounds this does not settle, and rounds that need the prior, get full Newton steps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from leaderboard.stats.bradley_terry import (
    BoolArray,
    PairTable,
    fit_all_games,
    gradient,
    hessian,
    newton,
    to_ratings,
)
from leaderboard.stats.games import FloatArray, IntArray
from leaderboard.stats.outcomes import Outcomes
from leaderboard.stats.resampling import cluster_draws

DRAWN_TOGETHER: Final = 64
"""Rounds that share one generator; part of the definition of the numbers, not a matter of speed."""

MOST_CLUSTERS_COMPARED: Final = 12
"""With more clusters hardly two of a thousand rounds draw the same ones."""

_CHORD_STEPS: Final = 40
_TOLERANCE: Final = 1e-11


@dataclass(frozen=True, eq=False)
class RoundFits:
    """Ratings (rounds, contestants) and the rounds, of shape (rounds,), that needed the prior."""

    rating: FloatArray
    prior: BoolArray


@dataclass(frozen=True, eq=False)
class Reference:
    """The fit of all games: log-odds (contestants, 1) and the inverse Hessian there."""

    theta: FloatArray
    prior: bool
    inverse: FloatArray

    @classmethod
    def of(cls, table: PairTable) -> "Reference":
        """Fit all games of the table."""
        theta, prior = fit_all_games(table)
        half = np.tanh((theta[table.a] - theta[table.b]) * 0.5)
        won, lost = table.points(table.count_of_outcome[:, None])
        curvature = hessian(table, won + lost, half, np.array([prior]), theta)
        return cls(theta, prior, np.linalg.inv(curvature)[0])


def fit_rounds(table: PairTable, reference: Reference, weights: FloatArray) -> RoundFits:
    """Fit every round of ``weights``, of shape (outcomes, rounds)."""
    won, lost = table.points(weights)
    prior = table.no_finite_maximum(won, lost)
    theta = np.repeat(reference.theta, weights.shape[1], axis=1)
    settled = np.zeros(weights.shape[1], dtype=bool)
    shared = np.flatnonzero(prior == reference.prior)
    if len(shared):
        theta[:, shared], settled[shared] = _chord(
            table, reference, won[:, shared], lost[:, shared], prior[shared]
        )
    rest = np.flatnonzero(~settled)
    if len(rest):
        start = np.repeat(reference.theta, len(rest), axis=1)
        theta[:, rest] = newton(table, won[:, rest], lost[:, rest], prior[rest], start)
    return RoundFits(to_ratings(table.centred(theta)), prior)


def _chord(
    table: PairTable, reference: Reference, won: FloatArray, lost: FloatArray, prior: BoolArray
) -> tuple[FloatArray, BoolArray]:
    """Steps with the reference's inverse Hessian; log-odds of each round and whether they settled."""
    theta = np.repeat(reference.theta, won.shape[1], axis=1)
    size = np.zeros(won.shape[1])
    for _ in range(_CHORD_STEPS):
        step = reference.inverse @ gradient(table, won, lost, prior, theta)[0]
        size = np.abs(step).max(axis=0)
        theta += np.clip(step, -1.0, 1.0)
        if size.max() < _TOLERANCE:
            break
    return theta, size < _TOLERANCE


def weights_of_rounds(
    outcomes: Outcomes, cluster: IntArray | None, seed: int
) -> Callable[[IntArray], FloatArray]:
    """A function from the round numbers of one block to weights on the outcomes, (outcomes, rounds).

    A block is ``DRAWN_TOGETHER`` rounds from a multiple of it; the last may be shorter.
    """
    if cluster is None:
        return lambda rounds: _multinomial(outcomes, seed, rounds)
    clusters = int(cluster.max()) + 1
    from scipy.sparse import coo_array

    ones = np.ones(len(cluster))
    contents = coo_array((ones, (outcomes.of_game, cluster)), shape=(len(outcomes), clusters)).tocsr()

    def draw(rounds: IntArray) -> FloatArray:
        drawn = [np.bincount(one, minlength=clusters) for one in cluster_draws(seed, rounds, clusters)]
        weights: FloatArray = contents @ np.array(drawn, dtype=np.float64).T
        return weights

    return draw


def distinct_rounds(cluster: IntArray | None, seed: int, rounds: int) -> tuple[IntArray, IntArray]:
    """One round of each distinct draw, and for every round the place of its like among those.

    Few clusters give few different draws (3 clusters 10, 5 clusters 126), and equal draws have equal fits.
    """
    numbers = np.arange(rounds)
    clusters = 0 if cluster is None else int(cluster.max()) + 1
    if not 0 < clusters <= MOST_CLUSTERS_COMPARED:
        return numbers, numbers
    drawn = [np.bincount(one, minlength=clusters) for one in cluster_draws(seed, numbers, clusters)]
    _, first, place = np.unique(np.array(drawn), axis=0, return_index=True, return_inverse=True)
    return first, place.reshape(-1)


def _multinomial(outcomes: Outcomes, seed: int, rounds: IntArray) -> FloatArray:
    count = np.bincount(outcomes.of_game, minlength=len(outcomes))
    block = int(rounds[0]) // DRAWN_TOGETHER
    generator = np.random.Generator(np.random.Philox(key=np.array([seed, block], dtype=np.uint64)))
    games = int(count.sum())
    drawn = generator.multinomial(games, count / games, size=DRAWN_TOGETHER)[: len(rounds)]
    return np.ascontiguousarray(drawn.T, dtype=np.float64)
