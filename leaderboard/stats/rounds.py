"""What every bootstrap does with its rounds: check them, cut them into blocks, share those among threads."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import numpy as np

from leaderboard.stats.errors import NoGamesError, ParameterError
from leaderboard.stats.games import Games, IntArray
from leaderboard.stats.plain_values import whole_number
from leaderboard.stats.random_stream import LARGEST, check_seed

T = TypeVar("T")

MOST_ROUNDS: Final = 1_000_000
"""Their ratings take 8 MB for each contestant; no interval needs as many."""


def in_blocks(run: Callable[[IntArray], T], rounds: int, size: int, threads: int) -> list[T]:
    """What ``run`` makes of each block of round numbers, in their order."""
    blocks = [np.arange(start, min(start + size, rounds)) for start in range(0, rounds, size)]
    if threads == 1 or len(blocks) == 1:
        return [run(block) for block in blocks]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, blocks))


def resamplable(games: Games) -> Games:
    """The games, if there are some and not too many to draw from; raise a StatsError otherwise."""
    check_count(len(games))
    return games


def check_count(games: int) -> None:
    """Raise a StatsError if there is no game to draw, or too many to draw from."""
    if not games:
        raise NoGamesError("there are no games to resample")
    if games > LARGEST:
        raise ParameterError(f"there are {games} games; at most {LARGEST} can be resampled")


def check_rounds(rounds: int) -> int:
    """Return the number of rounds; raise ParameterError where there are none, or more than memory holds."""
    if whole_number("rounds", rounds) < 1:
        raise ParameterError(f"rounds is {rounds}; it must be at least 1")
    if rounds > MOST_ROUNDS:
        raise ParameterError(f"rounds is {rounds}; it must be at most {MOST_ROUNDS}")
    return rounds


def check_run(rounds: int, seed: int, threads: int | None) -> None:
    """Raise ParameterError for numbers no bootstrap can run with."""
    check_rounds(rounds)
    if threads is not None and whole_number("threads", threads) < 1:
        raise ParameterError(f"threads is {threads}; it must be at least 1")
    check_seed(seed)
