"""Bootstrapped Elo: one pass over many resamples of the games, or of whole clusters of them."""

import logging
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Protocol, cast

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import FloatArray, IntArray, ParameterError, StatsError, column
from leaderboard.stats.elo import EloParameters, games_remembered
from leaderboard.stats.elo_games import worth_drawing
from leaderboard.stats.games import make_games
from leaderboard.stats.intervals import check_count, check_run, in_blocks
from leaderboard.stats.outcomes import Outcomes, outcomes_of, parts
from leaderboard.stats.resampling import Clusters, group_by_cluster

# The caller's arrays, checked and numbered a part at a time, so that nothing of their size is copied.
#
# make_games copies what it checks, which for twenty million games is more memory than their bootstrap needs.


def read_games(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score: npt.ArrayLike,
    contestants: int,
    cluster: npt.ArrayLike | None,
    crossed: npt.ArrayLike | None = None,
) -> Outcomes | Clusters:
    """The outcome of each game, arranged by cluster if there are clusters; ``crossed`` is a second kind.

    Raises the errors of make_games, and NoGamesError if there is no game.
    """
    first, second, points = column("a", a), column("b", b), column("score", score)
    label = None if cluster is None else column("cluster", cluster)
    other = None if crossed is None else column("crossed", crossed)
    _check(first, second, points, contestants, label, other)
    outcomes = outcomes_of(first, second, points.astype(np.float64, copy=False), contestants)
    return outcomes if label is None else group_by_cluster(outcomes, label, other)


def _check(
    a: npt.NDArray[Any],
    b: npt.NDArray[Any],
    score: npt.NDArray[Any],
    contestants: int,
    label: npt.NDArray[Any] | None,
    other: npt.NDArray[Any] | None,
) -> None:
    def check(part: slice = slice(None)) -> None:
        cluster, crossed = (None if labels is None else labels[part] for labels in (label, other))
        make_games(a[part], b[part], score[part], contestants, cluster=cluster, crossed=crossed)

    lengths = {len(array) for array in (a, b, score, label, other) if array is not None}
    if len(lengths) > 1 or (label is None and other is not None):
        check()
    try:
        for part in parts(len(a)):
            check(part)
    except StatsError:
        # Found in a part: the whole says at which position.
        check()
        raise
    check_count(len(a))


# Which code runs bootstrapped Elo, and on how many threads: a matter of time taken, nothing else.
#
# NumPy is always there. Numba (``make fast``) is several times as fast, but costs 1.4 seconds in a new
# process, and 3.6 the first time on a machine, before its first update (docs/performance.md).


logger = logging.getLogger(__name__)

BACKENDS: Final = {"numpy": "leaderboard.stats.elo_walk", "numba": "leaderboard.stats.elo_walk_numba"}
WORTH_COMPILING: Final = 60_000_000
"""Updates (games x rounds) from which numba is faster than NumPy although it has to be loaded first."""
WORTH_THREADS: Final = 5_000_000
MOST_THREADS: Final = 16


class Backend(Protocol):
    """What a backend's module offers; walk.py documents it."""

    @property
    def ROUNDS_AT_ONCE(self) -> int:  # noqa: N802
        """Rounds of one block, where memory allows."""
        ...

    def prepare(self, dtype: np.dtype[Any], /) -> None: ...

    def walk_games(
        self,
        outcomes: Outcomes,
        games: int,
        contestants: int,
        parameters: EloParameters,
        seed: int,
        rounds: IntArray,
        /,
    ) -> FloatArray: ...

    def walk_pools(
        self,
        clusters: Clusters,
        sizes: IntArray,
        contestants: int,
        parameters: EloParameters,
        seed: int,
        rounds: IntArray,
        /,
    ) -> FloatArray: ...

    def walk_late(
        self,
        clusters: Clusters,
        games: int,
        contestants: int,
        parameters: EloParameters,
        seed: int,
        rounds: IntArray,
        /,
    ) -> FloatArray: ...

    def pool_sizes(self, clusters: Clusters, seed: int, rounds: IntArray, /) -> IntArray: ...


def open_backend(wanted: str | None, updates: int, dtype: np.dtype[Any]) -> tuple[str, Backend]:
    """Name and module of the wanted backend, ready for outcome numbers of this type.

    Without a wish it is the faster one for so many updates, and NumPy where numba is installed but does not
    work. Raises ParameterError if the wanted one does not exist or is not installed.
    """
    name = wanted or _faster(updates)
    if name not in BACKENDS:
        raise ParameterError(f"there is no backend {name!r}; choose one of {', '.join(BACKENDS)}")
    if name == "numba" and not has_numba():
        raise ParameterError("backend is 'numba', which is not installed; `make fast` installs it")
    try:
        backend = cast(Backend, import_module(BACKENDS[name]))
        backend.prepare(dtype)
    except Exception as error:  # a release that does not fit NumPy's, a damaged cache, a full disk
        if wanted:
            raise
        logger.warning("Numba does not work (%s: %s); NumPy runs instead.", type(error).__name__, error)
        return open_backend("numpy", updates, dtype)
    return name, backend


def load_for(updates: int) -> None:
    """Have the faster backend for so many updates loaded, in however many bootstraps they will come."""
    open_backend(None, updates, np.dtype(np.uint16))


def choose_threads(wanted: int | None, backend: str, updates: int) -> int:
    """The wanted threads, or as many as help. NumPy's steps are too short to share: threads slow it down."""
    if wanted is not None:
        return wanted
    if backend == "numpy" or updates < WORTH_THREADS:
        return 1
    return min(MOST_THREADS, processors())


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def has_numba() -> bool:
    """Whether numba is installed; it is not imported."""
    return find_spec("numba") is not None


def _faster(updates: int) -> str:
    """Numba once it is loaded, or where the work pays for loading it."""
    worth = updates >= WORTH_COMPILING or BACKENDS["numba"] in sys.modules
    return "numba" if worth and has_numba() else "numpy"


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
