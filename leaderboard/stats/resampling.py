"""Random draws that are the same for any block of rounds and any number of threads.

BLOCK rounds share a generator (Philox, keyed by seed, purpose and block: Salmon et al. 2011, *Parallel random
numbers: as easy as 1, 2, 3*). A block is always drawn whole: no round depends on which others are asked for.
"""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import IntArray, ParameterError, whole_number

BLOCK: Final = 16
# The purposes of streams, which have nothing in common.
GAME_DRAWS: Final = 0
CLUSTER_DRAWS: Final = 1
POOL_ORDER: Final = 2
ELO_DRAWS: Final = 3
CROSSED_DRAWS: Final = 4
NORMAL_DRAWS: Final = 12
CHI_SQUARE_DRAWS: Final = 13


def check_seed(seed: int) -> int:
    """The seed if it fits 64 bits without a sign; raises ParameterError otherwise."""
    if not 0 <= whole_number("seed", seed) < 2**64:
        raise ParameterError(f"seed is {seed}; it must be between 0 and 2**64 - 1")
    return seed


def generator(seed: int, purpose: int, number: int = 0) -> np.random.Generator:
    """The generator of a purpose and a number below 2**48, such as that of a block of rounds."""
    key = np.array([check_seed(seed), purpose << 48 | number], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key))


def each_round(
    seed: int, rounds: IntArray, purpose: int, draw: Callable[[np.random.Generator], npt.NDArray[Any]]
) -> Iterator[npt.NDArray[Any]]:
    """The row of each round in turn; ``draw`` takes those of a block (BLOCK, ...) from its generator."""
    for block, own in groupby(rounds.tolist(), lambda number: number // BLOCK):
        rows = draw(generator(seed, purpose, block))
        yield from (rows[number % BLOCK] for number in own)


def cluster_draws(
    seed: int, rounds: IntArray, clusters: int, purpose: int = CLUSTER_DRAWS
) -> Iterator[IntArray]:
    """For each round in turn the clusters drawn, as many as there are."""
    return each_round(seed, rounds, purpose, lambda stream: stream.integers(clusters, size=(BLOCK, clusters)))


def times_drawn(seed: int, rounds: IntArray, clusters: int, purpose: int = CLUSTER_DRAWS) -> IntArray:
    """How often each cluster is drawn in each round, (rounds, clusters)."""
    drawn = cluster_draws(seed, rounds, clusters, purpose)
    return np.array([np.bincount(one, minlength=clusters) for one in drawn])


def exact_type(amounts: npt.NDArray[Any], drawn: int) -> type[np.float32 | np.float64]:
    """32 bits, which are added up twice as fast, where they hold every sum of ``drawn`` amounts exactly."""
    whole = (amounts == np.rint(amounts)).all()
    return np.float32 if whole and drawn * np.abs(amounts).max(initial=0.0) < 2**24 else np.float64


def number_of(cluster: IntArray | None) -> int | None:
    """How many clusters are numbered there; None without clusters."""
    return None if cluster is None else int(cluster.max(initial=-1)) + 1
