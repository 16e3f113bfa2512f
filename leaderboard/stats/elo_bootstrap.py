"""Elo over resamples of the games: what each round plays, and many rounds side by side in NumPy.

Games: each of n steps draws one of the n games. Clusters: a round draws as many as there are, with
replacement, and plays all their games (the pool) in a random order, because Elo weighs late games more.
Crossed clusters: a game is in the pool as often as its prompt was drawn times as often as its rater was, the
pigeonhole bootstrap (Owen 2007; Owen and Eckles 2012). Of more games than Elo remembers only as many are
drawn.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from itertools import zip_longest
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.bootstrap import ROUNDS, Bootstrap, check_count, check_run, in_blocks
from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.elo import BASE, INIT, SCALE, EloParameters, K, games_remembered
from leaderboard.stats.games import Games, make_games
from leaderboard.stats.resampling import (
    BLOCK,
    CROSSED_DRAWS,
    ELO_DRAWS,
    POOL_ORDER,
    cluster_draws,
    generator,
    times_drawn,
)

# Rounds that draw single games from one generator.
TOGETHER: Final = 4 * BLOCK
ROUNDS_AT_ONCE: Final = 16 * TOGETHER
STEPS_AT_ONCE: Final = 32
# Steps for which all rounds draw their games at once.
DRAWN_AT_ONCE: Final = 16 * STEPS_AT_ONCE
# Bytes for the pools of all rounds in hand.
MEMORY: Final = 40_000_000
# From pools so many times longer than what is played, places are drawn without making the pool.
_LONG: Final = 8


def bootstrap_elo(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    score: npt.ArrayLike,
    contestants: int,
    *,
    rounds: int = ROUNDS,
    k: float = K,
    scale: float = SCALE,
    base: float = BASE,
    init: float = INIT,
    seed: int = 0,
    cluster: npt.ArrayLike | None = None,
    crossed: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> Bootstrap:
    """Run Elo over ``rounds`` resamples of the games.

    ``a`` and ``b`` hold contestant numbers 0..contestants-1, ``score`` is 1, 0.5 or 0 for ``a``. A round
    draws single games, or whole clusters where ``cluster`` labels that of each game, and with ``crossed``
    clusters of a second kind across the first. ``threads`` changes the time taken alone, and None is one:
    NumPy's steps are too short to share. Raises a StatsError for bad input.
    """
    parameters = EloParameters(k, scale, base, init)
    check_run(rounds, seed, threads)
    games = make_games(a, b, score, contestants, cluster=cluster, crossed=crossed)
    check_count(len(games))
    last, used = games_remembered(games.outcomes, contestants, parameters), threads or 1
    samples = elo_samples(games, parameters, rounds, seed, threads=used, last=last)
    return Bootstrap(samples, asdict(parameters), seed, games.clusters, games.crossed_clusters, used)


def elo_samples(
    games: Games,
    parameters: EloParameters,
    rounds: int,
    seed: int,
    *,
    threads: int = 1,
    rounds_at_once: int = ROUNDS_AT_ONCE,
    last: int | None = None,
) -> FloatArray:
    """Strengths (rounds, contestants) after so many games of each round, None for all of them."""
    played = len(games) if last is None else last
    steps, at_once = partial(_game_steps, games), min(rounds_at_once, -(-rounds // threads))
    if games.cluster is not None:
        held = MEMORY // (threads * played * games.outcomes.of_game.itemsize)
        steps, at_once = partial(_pool_steps, games, games.cluster), min(at_once, held)
    blocks = in_blocks(
        lambda block: _walk(games, parameters, len(block), steps(played, seed, block)),
        rounds,
        max(1, -(-at_once // TOGETHER)) * TOGETHER,
        threads,
    )
    return np.concatenate(blocks)


def _game_steps(games: Games, last: int, seed: int, rounds: IntArray) -> Iterator[npt.NDArray[Any]]:
    """Outcome numbers in parts (steps, rounds): games drawn with replacement."""
    streams = [generator(seed, ELO_DRAWS, block) for block in np.unique(rounds // TOGETHER).tolist()]
    of_game = games.outcomes.of_game
    for first in range(0, last, DRAWN_AT_ONCE):
        shape = min(DRAWN_AT_ONCE, last - first), TOGETHER
        drawn = [of_game.take(stream.integers(len(games), size=shape)) for stream in streams]
        yield np.concatenate(drawn, axis=1)[:, : len(rounds)]


def _pool_steps(
    games: Games, cluster: IntArray, last: int, seed: int, rounds: IntArray
) -> Iterator[npt.NDArray[Any]]:
    """Outcome numbers (steps, rounds): the games of drawn clusters in random order, at most ``last``.

    Rounds shorter than the longest end in ``len(games.outcomes)``.
    """
    pools = list(_pools(games, cluster, last, seed, rounds))
    played = np.full((len(rounds), max(map(len, pools))), len(games.outcomes), games.outcomes.of_game.dtype)
    for row, pool in zip(played, pools, strict=True):
        row[: len(pool)] = pool
    yield played.T


def _pools(
    games: Games, cluster: IntArray, last: int, seed: int, rounds: IntArray
) -> Iterator[npt.NDArray[Any]]:
    order, size = np.argsort(cluster, kind="stable"), np.bincount(cluster)
    of_game, start = games.outcomes.of_game[order], np.cumsum(size) - size
    crossed = None if games.crossed is None else games.crossed[order]
    others = () if crossed is None else times_drawn(seed, rounds, int(crossed.max()) + 1, CROSSED_DRAWS)
    draws = zip_longest(rounds.tolist(), cluster_draws(seed, rounds, len(size)), others)
    for number, drawn, times in draws:
        stream, sizes = generator(seed, POOL_ORDER, number), size[drawn]
        ends = np.cumsum(sizes)
        shift = start[drawn] - (ends - sizes)
        if crossed is None and ends[-1] > _LONG * last:
            places = stream.choice(ends[-1], last, replace=False)
            yield of_game[places + shift[np.searchsorted(ends, places, side="right")]]
            continue
        places = np.repeat(shift, sizes) + np.arange(ends[-1])
        pool = of_game[places if crossed is None else places.repeat(times[crossed[places]])]
        stream.shuffle(pool)
        yield pool[:last] if last < len(games) else pool


def _walk(
    games: Games, parameters: EloParameters, rounds: int, parts: Iterable[npt.NDArray[Any]]
) -> FloatArray:
    """Strengths (rounds, contestants) after the outcome numbers in ``parts`` (steps, rounds).

    The state (contestants x rounds) holds arguments of tanh relative to the start. ``len(games.outcomes)`` is
    no game: two more contestants who always draw absorb such steps.
    """
    gain, contestants, outcomes = parameters.k * parameters.half_rate / 2.0, games.contestants, games.outcomes
    columns = np.arange(rounds)
    sides = np.append(outcomes.a, contestants) * rounds, np.append(outcomes.b, contestants + 1) * rounds
    won = np.append((2.0 * outcomes.score - 1.0) * gain, 0.0)
    state = np.zeros((contestants + 2) * rounds)
    # Written again and again: memory of their own would cost each block more than the arithmetic.
    played, starts = (np.empty((STEPS_AT_ONCE, rounds), dtype=np.intp) for _ in range(2))
    places, wins = np.empty((STEPS_AT_ONCE, 2, rounds), dtype=np.intp), np.empty((STEPS_AT_ONCE, rounds))
    for part in parts:
        for first in range(0, len(part), STEPS_AT_ONCE):
            block = part[first : first + STEPS_AT_ONCE]
            now = slice(len(block))
            played[now] = block
            for side, start in enumerate(sides):
                start.take(played[now], out=starts[now], mode="clip")
                np.add(starts[now], columns, out=places[now, side])
            won.take(played[now], out=wins[now], mode="clip")
            _play(state, places[now], wins[now], gain)
    ratings = state.reshape(contestants + 2, rounds)[:contestants].T
    return parameters.init + np.ascontiguousarray(ratings) / parameters.half_rate


def _play(state: FloatArray, places: npt.NDArray[np.int64], won: FloatArray, gain: float) -> None:
    """Play one block; ``places`` (steps, 2, rounds) says where in ``state`` both strengths stand."""
    both = np.empty(places.shape[1:])
    first, second = both
    change = np.empty_like(first)
    for step in range(len(places)):
        where = places[step]
        state.take(where, out=both, mode="clip")
        np.subtract(first, second, out=change)
        np.tanh(change, out=change)
        np.multiply(change, gain, out=change)
        np.subtract(won[step], change, out=change)
        np.add(first, change, out=first)
        np.subtract(second, change, out=second)
        state[where] = both
