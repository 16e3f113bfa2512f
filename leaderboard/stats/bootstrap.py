"""Bootstrapped ratings: the same method on many resamples of the games (or of the prompts)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bradley_terry import CENTRE, PRIOR_GAMES, SCALE, PairTable
from leaderboard.stats.bradley_terry_rounds import (
    DRAWN_TOGETHER,
    Reference,
    distinct_rounds,
    fit_rounds,
    weights_of_rounds,
)
from leaderboard.stats.elo import EloParameters
from leaderboard.stats.elo_walk import walk
from leaderboard.stats.errors import NoGamesError, ParameterError
from leaderboard.stats.games import FloatArray, Games, IntArray, make_games
from leaderboard.stats.outcomes import distinct_outcomes
from leaderboard.stats.random_stream import LARGEST, check_seed
from leaderboard.stats.resampling import cluster_steps, game_steps, group_by_cluster

T = TypeVar("T")

BACKENDS: Final = ("numpy",)
ROUNDS_AT_ONCE: Final = 1024
STEPS_AT_ONCE: Final = 32
POOL_BYTES: Final = 2**26
"""Memory for the pools of the rounds in hand while clusters are resampled."""


@dataclass(frozen=True, eq=False)
class EloBootstrap:
    """Bootstrapped Elo: ``samples`` of shape (rounds, contestants) and what made them.

    ``clusters`` is the number of clusters resampled, None where single games were.
    """

    samples: FloatArray
    rounds: int
    k: float
    scale: float
    base: float
    init: float
    seed: int
    clusters: int | None
    backend: str
    threads: int


@dataclass(frozen=True, eq=False)
class BradleyTerryBootstrap:
    """Bootstrapped Bradley-Terry: ``samples`` of shape (rounds, contestants) and what made them.

    ``prior_rounds`` counts the rounds in which no finite maximum existed and the prior of ``prior_games``
    drawn games per contestant was used; ``component`` numbers the connected part of the graph each
    contestant is in.
    """

    samples: FloatArray
    rounds: int
    scale: float
    centre: float
    seed: int
    clusters: int | None
    threads: int
    prior_games: float
    prior_rounds: int
    component: IntArray


def bootstrap_elo(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score: npt.ArrayLike,
    contestants: int,
    *,
    rounds: int = 1000,
    k: float = 32.0,
    scale: float = 400.0,
    base: float = 10.0,
    init: float = 1000.0,
    seed: int = 0,
    cluster: npt.ArrayLike | None = None,
    backend: str | None = None,
    threads: int | None = None,
) -> EloBootstrap:
    """Run Elo over ``rounds`` resamples of the games.

    ``a`` and ``b`` are integer arrays of contestant numbers, ``score`` is 1, 0.5 or 0 for ``a``,
    ``contestants`` their count. Without ``cluster`` each round draws n of the n games with replacement
    and the order of drawing is the order of play. With ``cluster`` (a prompt number for each game) each
    round draws whole clusters and plays all their games in a random order of that round. The result
    depends on the input and the seed alone, not on threads or blocks. Raises a StatsError for bad input.
    """
    games = _some_games(make_games(a, b, score, contestants, cluster=cluster))
    parameters = EloParameters(k, scale, base, init)
    _check_run(rounds, seed, threads)
    if backend not in (None, *BACKENDS):
        raise ParameterError(f"there is no backend {backend!r}; choose one of {', '.join(BACKENDS)}")
    used = threads or 1
    samples = elo_samples(games, rounds, parameters, seed, threads=used)
    return EloBootstrap(
        samples, rounds, k, scale, base, init, seed, clusters=games.clusters, backend="numpy", threads=used
    )


def elo_samples(
    games: Games,
    rounds: int,
    parameters: EloParameters,
    seed: int,
    *,
    threads: int = 1,
    rounds_at_once: int = ROUNDS_AT_ONCE,
    steps_at_once: int = STEPS_AT_ONCE,
) -> FloatArray:
    """Ratings of shape (rounds, contestants); blocks and threads change the time taken, nothing else."""
    outcomes = distinct_outcomes(games)
    clusters = None if games.cluster is None else group_by_cluster(games.cluster)
    if clusters is not None:
        rounds_at_once = min(
            rounds_at_once, max(1, POOL_BYTES // (outcomes.of_game.nbytes + 4 * len(clusters)))
        )

    def run(block: IntArray) -> FloatArray:
        steps = (
            game_steps(outcomes.of_game, seed, block, steps_at_once)
            if clusters is None
            else cluster_steps(outcomes.of_game, clusters, seed, block, steps_at_once, len(outcomes))
        )
        return walk(outcomes, games.contestants, len(block), steps, parameters)

    return np.concatenate(_in_blocks(run, rounds, min(rounds_at_once, -(-rounds // threads)), threads))


def bootstrap_bradley_terry(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score: npt.ArrayLike,
    contestants: int,
    *,
    rounds: int = 1000,
    seed: int = 0,
    cluster: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> BradleyTerryBootstrap:
    """Fit Bradley-Terry to ``rounds`` resamples of the games (arguments as for bootstrap_elo).

    The order of games does not matter here, so a round is a set of weights on the distinct outcomes:
    multinomial without ``cluster``, sums over the drawn clusters with it. Ratings average 1000 within
    each connected component. Raises a StatsError for bad input.
    """
    games = _some_games(make_games(a, b, score, contestants, cluster=cluster))
    _check_run(rounds, seed, threads)
    outcomes, used = distinct_outcomes(games), threads or 1
    table = PairTable.of(outcomes, contestants)
    reference = Reference.of(table)
    draw = weights_of_rounds(outcomes, games.cluster, seed)
    distinct, place = distinct_rounds(games.cluster, seed, rounds)
    fits = _in_blocks(
        lambda block: fit_rounds(table, reference, draw(distinct[block])), len(distinct), DRAWN_TOGETHER, used
    )
    return BradleyTerryBootstrap(
        np.concatenate([fit.rating for fit in fits])[place],
        rounds,
        SCALE,
        CENTRE,
        seed,
        clusters=games.clusters,
        threads=used,
        prior_games=PRIOR_GAMES,
        prior_rounds=int(np.concatenate([fit.prior for fit in fits])[place].sum()),
        component=table.component,
    )


def _in_blocks(run: Callable[[IntArray], T], rounds: int, size: int, threads: int) -> list[T]:
    """What ``run`` makes of each block of round numbers, in their order."""
    blocks = [np.arange(start, min(start + size, rounds)) for start in range(0, rounds, size)]
    if threads == 1 or len(blocks) == 1:
        return [run(block) for block in blocks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, blocks))


def _some_games(games: Games) -> Games:
    if not len(games):
        raise NoGamesError("there are no games to resample")
    if len(games) > LARGEST:
        raise ParameterError(f"there are {len(games)} games; at most {LARGEST} can be resampled")
    return games


def _check_run(rounds: int, seed: int, threads: int | None) -> None:
    if rounds < 1:
        raise ParameterError(f"rounds is {rounds}; it must be at least 1")
    if threads is not None and threads < 1:
        raise ParameterError(f"threads is {threads}; it must be at least 1")
    check_seed(seed)
