"""Elo as in elo_walk.py, compiled by numba: several times as fast, the same to 1e-9 and better.

Each inner loop does one thing for a block of rounds, so that the compiler can use vector instructions, which
a branch for division by zero would stop. Blocks share threads (``nogil``): numba's own survive neither a fork
nor two callers at once. Numba tells by the date of this file whether its cache is old.
"""

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.elo import EloParameters
from leaderboard.stats.elo_pools import Clusters, fill_pools, late_games
from leaderboard.stats.elo_pools import pool_sizes as sizes_of_crossed
from leaderboard.stats.outcomes import Outcomes
from leaderboard.stats.resampling import (
    CLUSTER_DRAWS,
    GAME_DRAWS,
    LATE_GAMES,
    POOL_ORDER,
    WordArray,
    round_keys,
)

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
SECOND: Final = np.uint64(0x94D049BB133111EB)
S27, S30, S31, S32 = (np.uint64(shift) for shift in (27, 30, 31, 32))
ONE, LOW = np.uint64(1), np.uint64(2**32 - 1)
LOG2_E: Final = 1.0 / math.log(2.0)
LN2_HIGH: Final = 6.93147180369123816490e-01
LN2_LOW: Final = 1.90821492927058770002e-10
# Added and taken away again, it leaves the nearest whole number.
ROUNDING: Final = 1.5 * 2.0**52
# Log-odds beyond which the expected score is 0 or 1 to the last digit, and exp would overflow.
FURTHEST: Final = 700.0
ROUNDS_AT_ONCE: Final = 64
C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12 = (1.0 / math.factorial(n) for n in range(2, 13))


def _compiled(function: Kernel) -> Kernel:
    jit = partial(numba.njit, error_model="numpy", fastmath={"contract"}, nogil=True)
    try:
        return cast(Kernel, jit(cache=True)(function))
    except RuntimeError:  # there is no folder in which the compiled code could be kept
        return cast(Kernel, jit()(function))


@_compiled
def _word(key: np.uint64, counter: np.uint64) -> np.uint64:
    """One of resampling.words; ``counter`` is (step + 1) * GOLDEN."""
    word = key + counter
    word ^= word >> S30
    word *= FIRST
    word ^= word >> S27
    word *= SECOND
    word ^= word >> S31
    return word


@_compiled
def _choice(key: np.uint64, counter: np.uint64, things: np.uint64) -> np.uint64:
    """One of resampling.choices; ``counter`` is (step + 1) * GOLDEN."""
    return ((_word(key, counter) >> S32) * things) >> S32


@_compiled
def _workspace(rounds: int) -> tuple[Any, ...]:
    """Arrays of one number per round for _play: packed outcome, places and strengths of both, exp."""
    # Places have no sign: with one, every use would first look whether they count from the end.
    power = np.empty(rounds, np.int64)
    return (
        np.empty(rounds, np.int64),
        np.empty(rounds, np.uint64),
        np.empty(rounds, np.uint64),
        np.empty(rounds),
        np.empty(rounds),
        np.empty(rounds),
        power,
        power.view(np.float64),
    )


@_compiled
def _play(state: FloatArray, gain: float, workspace: tuple[Any, ...]) -> None:
    """Play one game of each round; ``state`` holds log-odds, contestants x rounds."""
    packed, first, second, high, low, fraction, power, factor = workspace
    rounds = len(packed)
    for r in range(rounds):
        outcome = packed[r]
        first[r] = np.uint64(((outcome >> 2) & 0x7FFFFFFF) * rounds + r)
        second[r] = np.uint64((outcome >> 33) * rounds + r)
        packed[r] = outcome & 3
    for r in range(rounds):
        high[r] = state[first[r]]
        low[r] = state[second[r]]
    for r in range(rounds):
        # exp(x) is 2**whole * exp(rest): the first is written into the exponent, the second is a polynomial.
        x = min(max(low[r] - high[r], -FURTHEST), FURTHEST)
        whole = (x * LOG2_E + ROUNDING) - ROUNDING
        rest = (x - whole * LN2_HIGH) - whole * LN2_LOW
        power[r] = (np.int64(whole) + 1023) << 52
        square = rest * rest
        fourth = square * square
        fraction[r] = (
            ((1.0 + rest) + square * (C2 + C3 * rest))
            + fourth * ((C4 + C5 * rest) + square * (C6 + C7 * rest))
            + (fourth * fourth) * (((C8 + C9 * rest) + square * (C10 + C11 * rest)) + fourth * C12)
        )
    for r in range(rounds):
        change = gain * (0.5 * packed[r] - 1.0 / (1.0 + fraction[r] * factor[r]))
        high[r] += change
        low[r] -= change
    for r in range(rounds):
        state[first[r]] = high[r]
        state[second[r]] = low[r]


@_compiled
def _walk_games(
    of_game: npt.NDArray[Any], last: int, packed: IntArray, contestants: int, keys: WordArray, gain: float
) -> FloatArray:
    """Log-odds, contestants x rounds, after the ``last`` of as many draws as there are games."""
    rounds, games = len(keys), np.uint64(len(of_game))
    state, workspace = np.zeros(contestants * rounds), _workspace(rounds)
    played, counter = workspace[0], np.uint64(len(of_game) - last) * GOLDEN
    place = np.empty(rounds, np.uint64)
    for _ in range(last):
        counter += GOLDEN
        for r in range(rounds):
            place[r] = _choice(keys[r], counter, games)
        for r in range(rounds):
            played[r] = packed[of_game[place[r]]]
        _play(state, gain, workspace)
    return state


@_compiled
def _walk_pools(pools: npt.NDArray[Any], packed: IntArray, contestants: int, gain: float) -> FloatArray:
    """Log-odds, contestants x rounds, after the games in each row of ``pools``, in order."""
    rounds, longest = pools.shape
    state, workspace = np.zeros(contestants * rounds), _workspace(rounds)
    played = workspace[0]
    for step in range(longest):
        for r in range(rounds):
            played[r] = packed[pools[r, step]]
        _play(state, gain, workspace)
    return state


@_compiled
def _pool_sizes(start: IntArray, keys: WordArray, sizes: IntArray) -> None:
    clusters = np.uint64(len(start) - 1)
    for r in range(len(keys)):
        counter = np.uint64(0)
        for _ in range(len(start) - 1):
            counter += GOLDEN
            drawn = np.int64(_choice(keys[r], counter, clusters))
            sizes[r] += start[drawn + 1] - start[drawn]


@_compiled
def _fill_pools(
    pools: npt.NDArray[Any],
    of_game: npt.NDArray[Any],
    start: IntArray,
    draw_keys: WordArray,
    order_keys: WordArray,
    no_game: int,
) -> None:
    """Put the games of the drawn clusters of each round into its row, in random order."""
    # The shuffle is that of elo_pools.cluster_steps, done before the walk: one row fits a cache that the rows
    # of all rounds would not.
    clusters = np.uint64(len(start) - 1)
    for r in range(len(pools)):
        counter, end = np.uint64(0), 0
        for _ in range(len(start) - 1):
            counter += GOLDEN
            drawn = np.int64(_choice(draw_keys[r], counter, clusters))
            for game in range(start[drawn], start[drawn + 1]):
                pools[r, end] = of_game[game]
                end += 1
        pools[r, end:] = no_game
        _shuffle(pools[r, :end], order_keys[r])


@_compiled
def _shuffle_pools(pools: npt.NDArray[Any], sizes: IntArray, order_keys: WordArray) -> None:
    for r in range(len(pools)):
        _shuffle(pools[r, : sizes[r]], order_keys[r])


@_compiled
def _fill_late(
    pools: npt.NDArray[Any],
    of_game: npt.NDArray[Any],
    start: IntArray,
    largest: int,
    draw_keys: WordArray,
    keys: WordArray,
) -> None:
    """Put the last games of each round into its row, drawn as by elo_pools.late_games."""
    clusters, games = np.uint64(len(start) - 1), pools.shape[1]
    taken, places = np.zeros((len(start) - 1) * largest, np.bool_), np.empty(games, np.int64)
    for r in range(len(pools)):
        counter, found = np.uint64(0), 0
        while found < games:
            counter += GOLDEN
            word = _word(keys[r], counter)
            slot = ((word >> S32) * clusters) >> S32
            offset = np.int64(((word & LOW) * np.uint64(largest)) >> S32)
            drawn = np.int64(_choice(draw_keys[r], (slot + ONE) * GOLDEN, clusters))
            place = np.int64(slot) * largest + offset
            if offset < start[drawn + 1] - start[drawn] and not taken[place]:
                taken[place] = True
                places[found] = place
                pools[r, found] = of_game[start[drawn] + offset]
                found += 1
        taken[places] = False


@_compiled
def _shuffle(pool: npt.NDArray[Any], key: np.uint64) -> None:
    places = np.empty(64, np.uint64)
    counter = np.uint64(0)
    for first in range(0, len(pool), len(places)):
        steps = min(len(places), len(pool) - first)
        # The draws of many steps at a time are vector instructions; the swaps are not.
        for i in range(steps):
            left = np.uint64(len(pool) - first - i)
            drawn = _choice(key, counter + np.uint64(i + 1) * GOLDEN, left)
            places[i] = np.uint64(first + i) + drawn
        counter += np.uint64(steps) * GOLDEN
        for i in range(steps):
            played = pool[places[i]]
            pool[places[i]] = pool[first + i]
            pool[first + i] = played


@cache
def prepare(dtype: np.dtype[Any]) -> None:
    """Compile the code for outcome numbers of this type, or load it from the cache."""
    one = np.array([0])
    outcomes = Outcomes(one, one + 1, one + 1.0, one.astype(dtype))
    clusters = Clusters(outcomes, np.array([0, 1]))
    walk_games(outcomes, 1, 2, EloParameters(), 0, one)
    walk_pools(clusters, pool_sizes(clusters, 0, one), 2, EloParameters(), 0, one)
    _shuffle_pools(np.zeros((1, 1), dtype=dtype), one, round_keys(0, one, POOL_ORDER))
    walk_late(clusters, 1, 2, EloParameters(), 0, one)


def walk_games(
    outcomes: Outcomes, games: int, contestants: int, parameters: EloParameters, seed: int, rounds: IntArray
) -> FloatArray:
    keys = round_keys(seed, rounds, GAME_DRAWS)
    gain = 2.0 * parameters.half_rate * parameters.k
    state = _walk_games(outcomes.of_game, games, _packed(outcomes), contestants, keys, gain)
    return _ratings(state, contestants, parameters, len(rounds))


def walk_pools(
    clusters: Clusters,
    sizes: IntArray,
    contestants: int,
    parameters: EloParameters,
    seed: int,
    rounds: IntArray,
) -> FloatArray:
    outcomes = clusters.outcomes
    draw_keys, order_keys = (round_keys(seed, rounds, purpose) for purpose in (CLUSTER_DRAWS, POOL_ORDER))
    pools = np.empty((len(rounds), int(sizes.max())), dtype=clusters.of_game.dtype)
    if clusters.crossed is None:
        _fill_pools(pools, clusters.of_game, clusters.start, draw_keys, order_keys, len(outcomes))
    else:
        fill_pools(pools, clusters, seed, rounds)
        _shuffle_pools(pools, sizes, order_keys)
    # Two more contestants who always draw absorb the steps without a game.
    packed = np.append(_packed(outcomes), _pack(contestants, contestants + 1, 1))
    gain = 2.0 * parameters.half_rate * parameters.k
    state = _walk_pools(pools, packed, contestants + 2, gain)
    return _ratings(state, contestants, parameters, len(rounds))


def walk_late(
    clusters: Clusters, games: int, contestants: int, parameters: EloParameters, seed: int, rounds: IntArray
) -> FloatArray:
    if clusters.crossed is None:
        pools = np.empty((len(rounds), games), dtype=clusters.of_game.dtype)
        draw_keys, keys = (round_keys(seed, rounds, purpose) for purpose in (CLUSTER_DRAWS, LATE_GAMES))
        _fill_late(pools, clusters.of_game, clusters.start, int(clusters.size.max()), draw_keys, keys)
    else:
        pools = late_games(clusters, games, seed, rounds)
    gain = 2.0 * parameters.half_rate * parameters.k
    state = _walk_pools(pools, _packed(clusters.outcomes), contestants, gain)
    return _ratings(state, contestants, parameters, len(rounds))


def pool_sizes(clusters: Clusters, seed: int, rounds: IntArray) -> IntArray:
    if clusters.crossed is not None:
        return sizes_of_crossed(clusters, seed, rounds)
    sizes = np.zeros(len(rounds), dtype=np.int64)
    _pool_sizes(clusters.start, round_keys(seed, rounds, CLUSTER_DRAWS), sizes)
    return sizes


def _packed(outcomes: Outcomes) -> IntArray:
    return np.asarray(_pack(outcomes.a, outcomes.b, (2 * outcomes.score).astype(np.int64)))


def _pack(a: Any, b: Any, doubled_score: Any) -> Any:
    """Both contestants and twice the score in one word: 31, 31 and 2 bits."""
    return b << 33 | a << 2 | doubled_score


def _ratings(state: FloatArray, contestants: int, parameters: EloParameters, rounds: int) -> FloatArray:
    ratings = state.reshape(-1, rounds)[:contestants].T
    return parameters.init + np.ascontiguousarray(ratings) / (2.0 * parameters.half_rate)
