"""Bootstrapped Elo: one pass over many resamples of the games, or of whole clusters of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.elo.backends import Backend, choose_threads, open_backend
from leaderboard.stats.elo.forgetting import games_remembered
from leaderboard.stats.elo.sequential import EloParameters
from leaderboard.stats.game_reader import read_games
from leaderboard.stats.games import FloatArray, IntArray
from leaderboard.stats.late_games import worth_drawing
from leaderboard.stats.outcomes import Outcomes
from leaderboard.stats.resampling import Clusters
from leaderboard.stats.rounds import check_run, in_blocks

MEMORY: Final = 130_000_000
"""Bytes for the numbers of the games and, while clusters are resampled, the pools of all rounds in hand."""


@dataclass(frozen=True, eq=False)
class EloBootstrap:
    """Bootstrapped Elo: ``samples`` of shape (rounds, contestants) and what made them.

    ``clusters`` is the number of clusters resampled, None where single games were; ``crossed_clusters`` that
    of the second kind, None without one.
    """

    samples: FloatArray
    rounds: int
    k: float
    scale: float
    base: float
    init: float
    seed: int
    clusters: int | None
    crossed_clusters: int | None
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
    crossed: npt.ArrayLike | None = None,
    backend: str | None = None,
    threads: int | None = None,
) -> EloBootstrap:
    """Run Elo over ``rounds`` resamples of the games.

    ``a`` and ``b`` are integer arrays of contestant numbers, ``score`` is 1, 0.5 or 0 for ``a``,
    ``contestants`` their count. Without ``cluster`` each round draws n of the n games with replacement
    and the order of drawing is the order of play. With ``cluster`` (a prompt number for each game) each
    round draws whole clusters and plays all their games in a random order of that round. ``crossed`` is a
    second kind of cluster that runs across the first, such as raters who rate the same prompts: each round
    draws them too, and plays a game as often as both were drawn, multiplied. Elo forgets: of many games only
    the last ones of a round are played, because the others have no influence left (see forgetting.py).

    ``backend`` is "numpy", "numba" (several times as fast; `make fast` installs it) or None for the faster
    one; ``threads`` None means as many as help. The result says what ran. Both change the time taken alone:
    the numbers depend on the input and the seed, and agree to 1e-9. Raises a StatsError for bad input.
    """
    parameters = EloParameters(k, scale, base, init)
    check_run(rounds, seed, threads)
    games = read_games(a, b, score, contestants, cluster, crossed)
    outcomes = games.outcomes if isinstance(games, Clusters) else games
    last = games_remembered(outcomes, contestants, parameters)
    updates = rounds * last
    chosen, module = open_backend(backend, updates, games.of_game.dtype)
    used = choose_threads(threads, chosen, updates)
    samples = elo_samples(
        games, contestants, parameters, rounds, seed, backend=module, threads=used, last=last
    )
    drawn = games if isinstance(games, Clusters) else None
    return EloBootstrap(
        samples,
        rounds,
        k,
        scale,
        base,
        init,
        seed,
        clusters=None if drawn is None else len(drawn),
        crossed_clusters=None if drawn is None else drawn.crossed_clusters,
        backend=chosen,
        threads=used,
    )


def elo_samples(
    games: Outcomes | Clusters,
    contestants: int,
    parameters: EloParameters,
    rounds: int,
    seed: int,
    *,
    backend: Backend,
    threads: int = 1,
    rounds_at_once: int | None = None,
    last: int | None = None,
) -> FloatArray:
    """Ratings of shape (rounds, contestants); backend, blocks and threads change the time taken alone.

    A round plays its ``last`` games, None for all of them.
    """
    last = len(games.of_game) if last is None else last
    at_once = min(rounds_at_once or backend.ROUNDS_AT_ONCE, -(-rounds // threads))
    if isinstance(games, Outcomes):
        return np.concatenate(
            in_blocks(
                lambda block: backend.walk_games(games, last, contestants, parameters, seed, block),
                rounds,
                at_once,
                threads,
            )
        )
    sizes = backend.pool_sizes(games, seed, np.arange(rounds))
    late = worth_drawing(games, sizes, last, seed)
    samples = np.empty((rounds, contestants))

    def play(which: IntArray, longest: int, walk: Callable[[IntArray], FloatArray]) -> None:
        if len(which):
            held = max(1, (MEMORY - games.nbytes) // (longest * games.of_game.itemsize))
            size = min(at_once, max(1, held // threads))
            blocks = in_blocks(lambda block: walk(which[block]), len(which), size, min(threads, held))
            samples[which] = np.concatenate(blocks)

    play(
        np.flatnonzero(late),
        last,
        lambda some: backend.walk_late(games, last, contestants, parameters, seed, some),
    )
    play(
        np.flatnonzero(~late),
        int(sizes.max()),
        lambda some: backend.walk_pools(games, sizes[some], contestants, parameters, seed, some),
    )
    return samples
