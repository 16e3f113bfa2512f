"""What every bootstrap shares: how often a round draws each outcome, blocks of rounds, threads, the result.

Where the order of games does not matter, single games are a multinomial draw; clusters are drawn as for Elo,
and their outcomes added up.
"""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, TypeVar

import numpy as np
from scipy.sparse import coo_array, csr_array

from leaderboard.stats.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    NoGamesError,
    ParameterError,
    whole_number,
)
from leaderboard.stats.pair_table import Outcomes
from leaderboard.stats.resampling import (
    BLOCK,
    CLUSTER_DRAWS,
    CROSSED_DRAWS,
    GAME_DRAWS,
    check_seed,
    each_round,
    exact_type,
    number_of,
    times_drawn,
)

# Rounds drawn and fitted at once: BLOCK, or several.
DRAWN_TOGETHER: Final = 64
_MOST_NUMBERS: Final = 2**20
_ROWS_AT_ONCE: Final = _MOST_NUMBERS // DRAWN_TOGETHER
# With more clusters hardly two of a thousand rounds draw the same ones.
MOST_CLUSTERS_COMPARED: Final = 12


def weights_of_rounds(
    outcomes: Outcomes, cluster: IntArray | None, seed: int, crossed: IntArray | None = None
) -> Callable[[IntArray], FloatArray]:
    """A function from round numbers to weights (outcomes, rounds)."""
    if cluster is None:
        return lambda rounds: _multinomial(outcomes, seed, rounds)
    if crossed is not None:
        return _crossed_weights(outcomes, cluster, crossed, seed)
    clusters = int(cluster.max()) + 1
    ones = np.ones(len(cluster))
    contents = coo_array((ones, (outcomes.of_game, cluster)), shape=(len(outcomes), clusters)).tocsr()
    number = exact_type(contents.data, clusters)
    contents = contents.astype(number)

    def draw(rounds: IntArray) -> FloatArray:
        drawn = times_drawn(seed, rounds, clusters).T
        return np.asarray((contents @ np.ascontiguousarray(drawn, dtype=number)).astype(np.float64))

    return draw


def rounds_together(outcomes: int) -> int:
    """How many rounds are fitted at once: fewer where arrays would pass 8 MB."""
    return max(1, min(DRAWN_TOGETHER, _MOST_NUMBERS // outcomes) // BLOCK) * BLOCK


def distinct_rounds(
    seed: int, rounds: int, clusters: int | None, crossed_clusters: int | None = None
) -> tuple[IntArray, IntArray]:
    """One round of each distinct draw, and for every round the place of its like among those."""
    numbers = np.arange(rounds)
    kinds = ((clusters, CLUSTER_DRAWS), (crossed_clusters, CROSSED_DRAWS))
    known = [(number, purpose) for number, purpose in kinds if number]
    if not 0 < sum(number for number, _ in known) <= MOST_CLUSTERS_COMPARED:
        return numbers, numbers
    drawn = [times_drawn(seed, numbers, number, purpose) for number, purpose in known]
    _, first, place = np.unique(np.concatenate(drawn, axis=1), axis=0, return_index=True, return_inverse=True)
    return first, place.reshape(-1)


def _multinomial(outcomes: Outcomes, seed: int, rounds: IntArray) -> FloatArray:
    """Weights of as many games as there are, drawn with replacement."""
    count = np.bincount(outcomes.of_game, minlength=len(outcomes))
    games, share = int(count.sum()), count / count.sum()
    rows = each_round(seed, rounds, GAME_DRAWS, lambda stream: stream.multinomial(games, share, size=BLOCK))
    return np.ascontiguousarray(np.array(list(rows), dtype=np.float64).T)


def _crossed_weights(
    outcomes: Outcomes, cluster: IntArray, crossed: IntArray, seed: int
) -> Callable[[IntArray], FloatArray]:
    """Weights where a game counts as often as both its clusters were drawn, multiplied."""
    clusters, others = (int(kind.max()) + 1 for kind in (cluster, crossed))
    rows, row = np.unique(outcomes.of_game * np.int64(others) + crossed, return_inverse=True)
    outcome, other = np.divmod(rows, others)
    contents = coo_array((np.ones(len(row)), (row, cluster)), shape=(len(rows), clusters)).tocsr()
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


T = TypeVar("T")
ROUNDS: Final = 1000
# Their strengths take 8 MB for each contestant; no interval needs as many.
MOST_ROUNDS: Final = 1_000_000
MOST_THREADS: Final = 16


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Strengths of every round, and how they were drawn."""

    samples: FloatArray  # (rounds, contestants)
    parameters: Mapping[str, float]
    seed: int
    clusters: int | None  # that a round draws from, None for games
    crossed_clusters: int | None  # of the second kind
    threads: int
    others: Mapping[str, FloatArray] = field(default_factory=dict)  # samples (rounds,) of "nu" or "position"
    effects: Mapping[str, FloatArray] = field(default_factory=dict)  # of covariates, in log-odds
    prior_rounds: int = 0  # rounds that needed drawn games
    component: IntArray | None = None  # connected groups (contestants,), None for Elo

    @property
    def rounds(self) -> int:
        return len(self.samples)


def refit(
    fit: Callable[[FloatArray, IntArray], tuple[FloatArray, BoolArray]],
    outcomes: Outcomes,
    cluster: IntArray | None,
    crossed: IntArray | None,
    *,
    rounds: int,
    seed: int,
    together: int,
    threads: int,
) -> tuple[FloatArray, BoolArray]:
    """Parameters (parameters, rounds) that ``fit`` finds in every round, and whether it used the prior.

    ``fit`` gets weights (outcomes, rounds) and the numbers of these rounds, at most ``together``. Rounds that
    draw the same are fitted once.
    """
    draw = weights_of_rounds(outcomes, cluster, seed, crossed)
    distinct, place = distinct_rounds(seed, rounds, number_of(cluster), number_of(crossed))
    blocks = in_blocks(
        lambda block: fit(draw(distinct[block]), distinct[block]), len(distinct), together, threads
    )
    found, prior = zip(*blocks, strict=True)
    return np.concatenate(found, axis=1)[:, place], np.concatenate(prior)[place]


def in_blocks(run: Callable[[IntArray], T], rounds: int, size: int, threads: int) -> list[T]:
    """The results of ``run`` for blocks of ``size`` round numbers, in their order."""
    blocks = [np.arange(start, min(start + size, rounds)) for start in range(0, rounds, size)]
    if threads == 1 or len(blocks) == 1:
        return [run(block) for block in blocks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, blocks))


def choose_threads(wanted: int | None, worth_sharing: bool) -> int:
    """``wanted``, else as many threads as there are processors if the work is worth sharing."""
    if wanted is not None:
        return wanted
    return min(MOST_THREADS, processors()) if worth_sharing else 1


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_run(rounds: int, seed: int, threads: int | None) -> None:
    """Raise ParameterError for numbers no bootstrap can run with."""
    check_rounds(rounds)
    if threads is not None and whole_number("threads", threads) < 1:
        raise ParameterError(f"threads is {threads}; it must be at least 1")
    check_seed(seed)


def check_rounds(rounds: int) -> int:
    """The number of rounds; raises ParameterError below 1 or above MOST_ROUNDS."""
    if whole_number("rounds", rounds) < 1:
        raise ParameterError(f"rounds is {rounds}; it must be at least 1")
    if rounds > MOST_ROUNDS:
        raise ParameterError(f"rounds is {rounds}; it must be at most {MOST_ROUNDS}")
    return rounds


def check_count(games: int) -> None:
    """Raise NoGamesError where there are none."""
    if not games:
        raise NoGamesError("there are no ratings to resample")
