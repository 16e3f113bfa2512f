"""What every bootstrap shares: its rounds in blocks, among threads, and one type of result."""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, TypeVar

import numpy as np

from leaderboard.stats.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    NoGamesError,
    ParameterError,
    whole_number,
)
from leaderboard.stats.outcome_weights import distinct_rounds, weights_of_rounds
from leaderboard.stats.outcomes import Outcomes
from leaderboard.stats.resampling import LARGEST, check_seed, number_of

T = TypeVar("T")

ROUNDS: Final = 1000
"""The rounds of a bootstrap, unless another number is asked for."""

MOST_ROUNDS: Final = 1_000_000
"""Their ratings take 8 MB for each contestant; no interval needs as many."""

MOST_THREADS: Final = 16


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Ratings of every round: ``samples`` (rounds, contestants), the method's parameters, and what was drawn.

    ``clusters`` is the number of clusters a round draws from, None for single games; ``crossed_clusters``
    that of the second kind, None without one. ``others`` has samples (rounds,) of what is estimated beside
    ratings: "nu" of Davidson's model; "position" of the ordinal one, whose ``effects`` are those of each
    covariate, all in log-odds. ``prior_rounds`` counts the rounds without a finite maximum, in which
    contestants were given drawn games; ``component`` (contestants,) numbers the connected groups, None for
    Elo. ``backend`` is the code that ran Elo.
    """

    samples: FloatArray
    parameters: Mapping[str, float]
    seed: int
    clusters: int | None
    crossed_clusters: int | None
    threads: int
    others: Mapping[str, FloatArray] = field(default_factory=dict)
    effects: Mapping[str, FloatArray] = field(default_factory=dict)
    prior_rounds: int = 0
    component: IntArray | None = None
    backend: str | None = None

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
    """What ``fit`` finds in every round: parameters (parameters, rounds), and whether it used the prior.

    ``fit`` gets weights on the outcomes (outcomes, rounds) and the numbers of these rounds, at most
    ``together``. ``cluster`` and ``crossed`` number what the outcomes of games are drawn with. Rounds that
    draw the same clusters are fitted once.
    """
    draw = weights_of_rounds(outcomes, cluster, seed, crossed)
    distinct, place = distinct_rounds(seed, rounds, number_of(cluster), number_of(crossed))
    blocks = in_blocks(
        lambda block: fit(draw(distinct[block]), distinct[block]), len(distinct), together, threads
    )
    found, prior = zip(*blocks, strict=True)
    return np.concatenate(found, axis=1)[:, place], np.concatenate(prior)[place]


def in_blocks(run: Callable[[IntArray], T], rounds: int, size: int, threads: int) -> list[T]:
    """What ``run`` makes of each block of round numbers, in their order."""
    blocks = [np.arange(start, min(start + size, rounds)) for start in range(0, rounds, size)]
    if threads == 1 or len(blocks) == 1:
        return [run(block) for block in blocks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, blocks))


def choose_threads(wanted: int | None, worth_sharing: bool) -> int:
    """The wanted threads; otherwise as many as there are processors if the work is worth sharing."""
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
    """Return the number of rounds; raise ParameterError where there are none, or more than memory holds."""
    if whole_number("rounds", rounds) < 1:
        raise ParameterError(f"rounds is {rounds}; it must be at least 1")
    if rounds > MOST_ROUNDS:
        raise ParameterError(f"rounds is {rounds}; it must be at most {MOST_ROUNDS}")
    return rounds


def check_count(games: int) -> None:
    """Raise a StatsError if there is no game to draw, or too many to draw from."""
    if not games:
        raise NoGamesError("there are no games to resample")
    if games > LARGEST:
        raise ParameterError(f"there are {games} games; at most {LARGEST} can be resampled")
