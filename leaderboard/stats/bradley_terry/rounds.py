"""Bradley-Terry on many resamples at once: weights on the distinct outcomes, then shared Newton steps.

The maximum of a resample lies near that of all games, so one inverse Hessian, taken there, serves every round
("chord" steps). Rounds this does not settle, and rounds that need the prior, get full Newton steps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np

from leaderboard.stats.bradley_terry.climbing import Likelihood, climb, climb_from
from leaderboard.stats.bradley_terry.fit import BradleyTerryLikelihood, to_ratings
from leaderboard.stats.bradley_terry.pair_table import BoolArray, PairTable
from leaderboard.stats.elo.backends import MOST_THREADS, processors
from leaderboard.stats.games import FloatArray, Games, IntArray
from leaderboard.stats.outcome_draws import OutcomeDraws
from leaderboard.stats.outcomes import Outcomes
from leaderboard.stats.resampling import CLUSTER_DRAWS, CROSSED_DRAWS, times_drawn
from leaderboard.stats.rounds import in_blocks

Fits = TypeVar("Fits")

DRAWN_TOGETHER: Final = 64
"""Rounds of a block. They share a generator where outcomes are few, so it is part of the numbers there."""

_FEWEST_TOGETHER: Final = 8
_MOST_NUMBERS: Final = 2**20
_ROWS_AT_ONCE: Final = _MOST_NUMBERS // DRAWN_TOGETHER

WORTH_THREADS: Final = 1_000_000
"""Distinct outcomes x rounds from which threads help: 50 contestants have some 3,700 outcomes."""

MOST_CLUSTERS_COMPARED: Final = 12
"""With more clusters hardly two of a thousand rounds draw the same ones."""


@dataclass(frozen=True, eq=False)
class RoundFits:
    """Ratings (rounds, contestants) and the rounds, of shape (rounds,), that needed the prior."""

    rating: FloatArray
    prior: BoolArray


@dataclass(frozen=True, eq=False)
class Reference:
    """The fit of all games: its maximum (parameters, 1), inverse curvature there, and who has the prior."""

    x: FloatArray
    inverse: FloatArray
    prior: BoolArray

    @classmethod
    def of(cls, likelihood: Likelihood, parameters: int) -> "Reference":
        """Maximise the likelihood of all games."""
        x = climb(likelihood, np.zeros((parameters, 1)))
        return cls(x, np.linalg.inv(likelihood.curvature(x))[0], likelihood.prior)

    def climb(self, likelihood: Likelihood) -> FloatArray:
        """The maximum of every round, (parameters, rounds)."""
        alike = (likelihood.prior == self.prior).all(axis=0)
        return climb_from(likelihood, self.x, self.inverse, alike)


def fit_rounds(table: PairTable, reference: Reference, weights: FloatArray) -> RoundFits:
    """Fit every round of ``weights``, of shape (outcomes, rounds)."""
    won, lost = table.points(weights)
    prior = table.no_finite_maximum(won, lost)
    theta = reference.climb(BradleyTerryLikelihood(table, won, lost, prior))
    return RoundFits(to_ratings(table.centred(theta)), np.asarray(prior.any(axis=0)))


def fit_blocks(
    fit: Callable[[FloatArray], Fits],
    outcomes: Outcomes,
    games: Games,
    *,
    rounds: int,
    seed: int,
    threads: int,
) -> tuple[list[Fits], IntArray]:
    """What ``fit`` makes of the weights (outcomes, rounds) of each block, and every round's place in that.

    ``outcomes`` are those of the games, whose clusters are drawn. Rounds that draw the same clusters are
    fitted once, so places may repeat.
    """
    draw = weights_of_rounds(outcomes, games.cluster, seed, games.crossed)
    distinct, place = distinct_rounds(seed, rounds, games.clusters, games.crossed_clusters)
    together = rounds_together(len(outcomes))
    return in_blocks(lambda block: fit(draw(distinct[block])), len(distinct), together, threads), place


def rounds_together(outcomes: int) -> int:
    """How many rounds make a block: fewer where there are so many outcomes that arrays would pass 8 MB."""
    return max(_FEWEST_TOGETHER, min(DRAWN_TOGETHER, _MOST_NUMBERS // outcomes))


def choose_threads(wanted: int | None, outcomes: int, rounds: int) -> int:
    """The wanted threads; otherwise as many as there are processors where the work is worth sharing."""
    if wanted is not None:
        return wanted
    return min(MOST_THREADS, processors()) if outcomes * rounds >= WORTH_THREADS else 1


def weights_of_rounds(
    outcomes: Outcomes, cluster: IntArray | None, seed: int, crossed: IntArray | None = None
) -> Callable[[IntArray], FloatArray]:
    """A function from round numbers to weights on the outcomes, (outcomes, rounds).

    The rounds of one call are at most ``DRAWN_TOGETHER``, from a multiple of it. ``crossed`` numbers the
    second kind of cluster of each game, which needs the first.
    """
    if cluster is None:
        few = len(outcomes) ** 2 < len(outcomes.of_game)
        if few:
            return lambda rounds: _multinomial(outcomes, seed, rounds)
        return OutcomeDraws(outcomes.of_game, len(outcomes), seed).weights
    if crossed is not None:
        return _crossed_weights(outcomes, cluster, crossed, seed)
    clusters = int(cluster.max()) + 1
    from scipy.sparse import coo_array

    ones = np.ones(len(cluster))
    contents = coo_array((ones, (outcomes.of_game, cluster)), shape=(len(outcomes), clusters)).tocsr()

    def draw(rounds: IntArray) -> FloatArray:
        drawn = times_drawn(seed, rounds, clusters)
        weights: FloatArray = contents @ drawn.astype(np.float64).T
        return weights

    return draw


def _crossed_weights(
    outcomes: Outcomes, cluster: IntArray, crossed: IntArray, seed: int
) -> Callable[[IntArray], FloatArray]:
    """A game counts as often as its cluster was drawn times as often as that of the second kind was.

    Games are summed over the first kind for each outcome and cluster of the second kind (a row), some rows at
    a time.
    """
    from scipy.sparse import coo_array, csr_array

    clusters, others = (int(kind.max()) + 1 for kind in (cluster, crossed))
    rows, row = np.unique(outcomes.of_game * np.int64(others) + crossed, return_inverse=True)
    outcome, other = np.divmod(rows, others)
    contents = coo_array((np.ones(len(row)), (row.reshape(-1), cluster)), shape=(len(rows), clusters)).tocsr()
    places = (outcome, np.arange(len(rows)))
    summed = csr_array((np.ones(len(rows)), places), shape=(len(outcomes), len(rows))).tocsc()
    cuts = [slice(at, at + _ROWS_AT_ONCE) for at in range(0, len(rows), _ROWS_AT_ONCE)]
    parts = [(contents[cut], other[cut], summed[:, cut]) for cut in cuts]

    def draw(rounds: IntArray) -> FloatArray:
        first_kind = times_drawn(seed, rounds, clusters).T.astype(np.float64)
        second_kind = times_drawn(seed, rounds, others, CROSSED_DRAWS).T
        weights = np.zeros((len(outcomes), len(rounds)))
        for games, kind, add in parts:
            weights += add @ ((games @ first_kind) * second_kind[kind])
        return weights

    return draw


def distinct_rounds(
    seed: int, rounds: int, clusters: int | None, crossed_clusters: int | None = None
) -> tuple[IntArray, IntArray]:
    """One round of each distinct draw, and for every round the place of its like among those.

    Few clusters give few different draws (3 clusters 10, 5 clusters 126), and equal draws have equal fits.
    """
    numbers = np.arange(rounds)
    kinds = ((clusters, CLUSTER_DRAWS), (crossed_clusters, CROSSED_DRAWS))
    known = [(number, purpose) for number, purpose in kinds if number]
    if not 0 < sum(number for number, _ in known) <= MOST_CLUSTERS_COMPARED:
        return numbers, numbers
    drawn = [times_drawn(seed, numbers, number, purpose) for number, purpose in known]
    _, first, place = np.unique(np.concatenate(drawn, axis=1), axis=0, return_index=True, return_inverse=True)
    return first, place.reshape(-1)


def _multinomial(outcomes: Outcomes, seed: int, rounds: IntArray) -> FloatArray:
    """The weights by conditional binomials: faster where there are few outcomes for so many games."""
    count = np.bincount(outcomes.of_game, minlength=len(outcomes))
    block = int(rounds[0]) // DRAWN_TOGETHER
    generator = np.random.Generator(np.random.Philox(key=np.array([seed, block], dtype=np.uint64)))
    games = int(count.sum())
    drawn = generator.multinomial(games, count / games, size=DRAWN_TOGETHER)[: len(rounds)]
    return np.ascontiguousarray(drawn.T, dtype=np.float64)
