"""What every bootstrap shares: blocks of rounds, threads, and the type of the result."""

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
from leaderboard.stats.pair_table import Outcomes
from leaderboard.stats.resampling import check_seed, number_of

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
