"""Many rounds of Elo side by side in NumPy: each step updates every round.

The state (contestants x rounds) holds arguments of tanh relative to the start.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.elo_pools import Clusters, cluster_steps, game_steps, late_games
from leaderboard.stats.outcomes import Outcomes

if TYPE_CHECKING:
    from leaderboard.stats.elo import EloParameters

ROUNDS_AT_ONCE: Final = 1024
STEPS_AT_ONCE: Final = 32


def walk_games(
    outcomes: Outcomes, games: int, contestants: int, parameters: "EloParameters", seed: int, rounds: IntArray
) -> FloatArray:
    """Strengths (rounds, contestants) after the last ``games`` of each round of resampled games."""
    steps = game_steps(outcomes.of_game, games, seed, rounds, STEPS_AT_ONCE)
    return _walk(outcomes, contestants, parameters, len(rounds), steps)


def walk_pools(
    clusters: Clusters,
    sizes: IntArray,
    contestants: int,
    parameters: "EloParameters",
    seed: int,
    rounds: IntArray,
) -> FloatArray:
    """Strengths (rounds, contestants) after resampling clusters; ``sizes`` as for cluster_steps."""
    steps = cluster_steps(clusters, sizes, seed, rounds, STEPS_AT_ONCE)
    return _walk(clusters.outcomes, contestants, parameters, len(rounds), steps)


def walk_late(
    clusters: Clusters, games: int, contestants: int, parameters: "EloParameters", seed: int, rounds: IntArray
) -> FloatArray:
    """Strengths (rounds, contestants) after the last ``games`` of each pool."""
    pools = late_games(clusters, games, seed, rounds)
    steps = (pools[:, first : first + STEPS_AT_ONCE].T for first in range(0, games, STEPS_AT_ONCE))
    return _walk(clusters.outcomes, contestants, parameters, len(rounds), steps)


def _walk(
    outcomes: Outcomes,
    contestants: int,
    parameters: "EloParameters",
    rounds: int,
    steps: Iterable[npt.NDArray[Any]],
) -> FloatArray:
    """Strengths after the outcome numbers in ``steps`` (steps, rounds); ``len(outcomes)`` is no game."""
    gain = parameters.k * parameters.half_rate / 2.0
    columns = np.arange(rounds)
    # Two more contestants who always draw absorb the steps without a game.
    sides = np.append(outcomes.a, contestants) * rounds, np.append(outcomes.b, contestants + 1) * rounds
    won = np.append((2.0 * outcomes.score - 1.0) * gain, 0.0)
    state = np.zeros((contestants + 2) * rounds)
    # Written again and again: memory of their own would cost each block more than the arithmetic.
    played, starts = (np.empty((STEPS_AT_ONCE, rounds), dtype=np.intp) for _ in range(2))
    places, wins = np.empty((STEPS_AT_ONCE, 2, rounds), dtype=np.intp), np.empty((STEPS_AT_ONCE, rounds))
    for block in steps:
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
