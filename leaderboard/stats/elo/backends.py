"""Which code runs bootstrapped Elo, and on how many threads: a matter of time taken, nothing else.

NumPy is always there. Numba (``make fast``) is several times as fast, but costs 1.4 seconds in a new
process, and 3.6 the first time on a machine, before its first update (docs/performance.md).
"""

import logging
import os
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Protocol, cast

import numpy as np

from leaderboard.stats.elo.sequential import EloParameters
from leaderboard.stats.errors import ParameterError
from leaderboard.stats.games import FloatArray, IntArray
from leaderboard.stats.outcomes import Outcomes
from leaderboard.stats.resampling import Clusters

logger = logging.getLogger(__name__)

BACKENDS: Final = {"numpy": "leaderboard.stats.elo.walk", "numba": "leaderboard.stats.elo.walk_numba"}
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
