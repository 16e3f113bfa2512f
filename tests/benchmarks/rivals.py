"""Straightforward implementations to compare with, written for this benchmark.

They do what a first version of each algorithm does; none is a copy of another project's code.
"""

import numpy as np
from scipy.optimize import minimize

from leaderboard.stats import Games
from tests.leaderboard.stats.simulation import simulated_games

ROUNDS = 1000
PAIRS_OF_20 = 190


def games_of_20(wanted: int) -> Games:
    """About ``wanted`` games of 20 contestants."""
    return simulated_games(round(wanted / PAIRS_OF_20), tuple(np.linspace(800.0, 1200.0, 20)))


def elo_by_python_loop(games: Games, rounds: int, seed: int = 0) -> np.ndarray:
    """One dictionary of ratings per round, one game at a time."""
    generator = np.random.default_rng(seed)
    samples = np.empty((rounds, games.contestants))
    for number in range(rounds):
        drawn = generator.integers(len(games), size=len(games))
        rows = zip(games.a[drawn].tolist(), games.b[drawn].tolist(), games.score[drawn].tolist(), strict=True)
        ratings = dict.fromkeys(range(games.contestants), 1000.0)
        for a, b, score in rows:
            expected = 1 / (1 + 10 ** ((ratings[b] - ratings[a]) / 400))
            ratings[a] += 32 * (score - expected)
            ratings[b] += 32 * ((1 - score) - (1 - expected))
        samples[number] = [ratings[contestant] for contestant in range(games.contestants)]
    return samples


def elo_by_index_matrix(games: Games, rounds: int, seed: int = 0) -> np.ndarray:
    """All rounds at once in NumPy, from a matrix of games x rounds drawn beforehand."""
    drawn = np.random.default_rng(seed).integers(len(games), size=(len(games), rounds))
    ratings = np.full((rounds, games.contestants), 1000.0)
    every = np.arange(rounds)
    for row in drawn:
        a, b = games.a[row], games.b[row]
        expected = 1 / (1 + 10 ** ((ratings[every, b] - ratings[every, a]) / 400))
        gain = 32 * (games.score[row] - expected)
        ratings[every, a] += gain
        ratings[every, b] -= gain
    return ratings


def bradley_terry_by_rounds(games: Games, rounds: int, seed: int = 0) -> np.ndarray:
    """One quasi-Newton fit of the win matrix per round."""
    generator = np.random.default_rng(seed)
    size = games.contestants
    samples = np.empty((rounds, size))
    for number in range(rounds):
        drawn = generator.integers(len(games), size=len(games))
        a, b, score = games.a[drawn], games.b[drawn], games.score[drawn]
        won = np.bincount(a * size + b, score, size * size) + np.bincount(
            b * size + a, 1 - score, size * size
        )
        samples[number] = _fit(won.reshape(size, size))
    return samples


def _fit(won: np.ndarray) -> np.ndarray:
    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        difference = theta[:, None] - theta[None, :]
        missed = won / (1 + np.exp(difference))
        return float((won * np.logaddexp(0, -difference)).sum()), missed.sum(axis=0) - missed.sum(axis=1)

    theta = minimize(loss, np.zeros(len(won)), jac=True, method="L-BFGS-B", options={"gtol": 1e-6}).x
    return 1000 + (theta - theta.mean()) * 400 / np.log(10)
