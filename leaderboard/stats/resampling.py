"""Random draws that are the same on any machine, for any block of rounds and threads.

A counter of seed, purpose, round and step is mixed by the finaliser of splitmix64 (Steele, Lea and Flood
2014, *Fast splittable pseudorandom number generators*).
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import IntArray, ParameterError, whole_number

WordArray = npt.NDArray[np.uint64]
# The purposes of streams, which have nothing in common.
GAME_DRAWS: Final = 0
CLUSTER_DRAWS: Final = 1
POOL_ORDER: Final = 2
LATE_GAMES: Final = 3
CROSSED_DRAWS: Final = 4
POISSON_DRAWS: Final = 10
SINGLE_DRAWS: Final = 11
NORMAL_DRAWS: Final = 12
# The most things one step can choose from.
LARGEST: Final = 2**32 - 1
DRAWS_AT_ONCE: Final = 2**15
GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)


def check_seed(seed: int) -> int:
    """The seed if it fits 64 bits without a sign; raises ParameterError otherwise."""
    if not 0 <= whole_number("seed", seed) < 2**64:
        raise ParameterError(f"seed is {seed}; it must be between 0 and 2**64 - 1")
    return seed


def round_keys(seed: int, rounds: npt.NDArray[np.int64], purpose: int = 0) -> WordArray:
    """One key for each round number; streams of different ``purpose`` have nothing in common."""
    start = np.array([check_seed(seed)], dtype=np.uint64)
    spare = np.empty_like(start)
    mix(start, spare)
    start ^= np.uint64(purpose * int(GOLDEN) % 2**64)
    mix(start, spare)
    keys = start + (rounds.astype(np.uint64) + np.uint64(1)) * GOLDEN
    mix(keys, np.empty_like(keys))
    return keys


def words(keys: WordArray, first_step: int, steps: int) -> WordArray:
    """Random 64-bit words (steps, rounds) for the steps from ``first_step``."""
    block = keys[None, :] + _steps(first_step, steps)[:, None]
    mix(block, np.empty_like(block))
    return block


def _steps(first: int, number: int) -> WordArray:
    return np.arange(first + 1, first + number + 1, dtype=np.uint64) * GOLDEN


def choices(
    keys: WordArray, first_step: int, steps: int, things: int | npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Numbers in 0..things-1 (steps, rounds), equally likely to one part in 2**32 / things."""
    return _chosen(words(keys, first_step, steps), things)


def _chosen(block: WordArray, things: int | npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """What the words choose, in their place."""
    np.right_shift(block, np.uint64(32), out=block)
    np.multiply(block, np.asarray(things).astype(np.uint64), out=block)
    np.right_shift(block, np.uint64(32), out=block)
    return block.view(np.int64)


def mix(words: WordArray, spare: WordArray) -> None:
    """Scramble ``words`` in place; ``spare`` has the same shape and is overwritten."""
    for shift, factor in ((30, _FIRST), (27, _SECOND)):
        np.right_shift(words, np.uint64(shift), out=spare)
        np.bitwise_xor(words, spare, out=words)
        np.multiply(words, factor, out=words)
    np.right_shift(words, np.uint64(31), out=spare)
    np.bitwise_xor(words, spare, out=words)


def cluster_draws(
    seed: int, rounds: IntArray, clusters: int, purpose: int = CLUSTER_DRAWS
) -> Iterator[IntArray]:
    """For each round in turn the clusters drawn, as many as there are."""
    keys, steps = round_keys(seed, rounds, purpose)[:, None], _steps(0, clusters)
    together = max(1, DRAWS_AT_ONCE // clusters)
    for row in range(0, len(rounds), together):
        block = keys[row : row + together] + steps
        mix(block, np.empty_like(block))
        yield from _chosen(block, clusters)


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
