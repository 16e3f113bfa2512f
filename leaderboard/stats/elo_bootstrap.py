"""Bootstrapped Elo: one pass over many resamples of the games, or of whole clusters of them."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.elo import EloParameters
from leaderboard.stats.elo_walk import walk
from leaderboard.stats.errors import ParameterError
from leaderboard.stats.games import FloatArray, Games, IntArray, make_games
from leaderboard.stats.outcomes import distinct_outcomes
from leaderboard.stats.resampling import cluster_steps, game_steps, group_by_cluster
from leaderboard.stats.rounds import check_run, in_blocks, resamplable

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
    games = resamplable(make_games(a, b, score, contestants, cluster=cluster))
    parameters = EloParameters(k, scale, base, init)
    check_run(rounds, seed, threads)
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

    return np.concatenate(in_blocks(run, rounds, min(rounds_at_once, -(-rounds // threads)), threads))
