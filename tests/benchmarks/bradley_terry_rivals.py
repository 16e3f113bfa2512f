"""Ways to bootstrap Bradley-Terry with one fit per round, to compare with.

``by_win_matrix`` and ``by_distinct_rows`` are written for this benchmark; ``by_fastchat`` calls what FastChat
published on PyPI (fschat 0.2.36).
"""

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from leaderboard.stats import Games
from tests.benchmarks.fastchat import rating_module

WINNER = {1.0: "model_a", 0.0: "model_b", 0.5: "tie"}


def by_win_matrix(games: Games, rounds: int, seed: int = 0) -> np.ndarray:
    """One quasi-Newton fit of the matrix of wins per round."""
    generator = np.random.default_rng(seed)
    size = games.contestants
    samples = np.empty((rounds, size))
    for number in range(rounds):
        drawn = generator.integers(len(games), size=len(games))
        a, b, score = games.a[drawn], games.b[drawn], games.score[drawn]
        won = np.bincount(a * size + b, score, size * size) + np.bincount(
            b * size + a, 1 - score, size * size
        )
        samples[number] = _fit_matrix(won.reshape(size, size))
    return samples


def _fit_matrix(won: np.ndarray) -> np.ndarray:
    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        difference = theta[:, None] - theta[None, :]
        missed = won / (1 + np.exp(difference))
        return float((won * np.logaddexp(0, -difference)).sum()), missed.sum(axis=0) - missed.sum(axis=1)

    theta = minimize(loss, np.zeros(len(won)), jac=True, method="L-BFGS-B", options={"gtol": 1e-6}).x
    return 1000 + (theta - theta.mean()) * 400 / np.log(10)


def by_distinct_rows(games: Games, rounds: int, seed: int = 0) -> np.ndarray:
    """One quasi-Newton fit of the distinct (a, b, score) rows per round, with multinomial counts for weights.

    As in FastChat since 2024: L-BFGS-B, gradient tolerance 1e-6, at most 100 iterations.
    """
    rows = np.stack((games.a, games.b, games.score), axis=1)
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    a, b, score = distinct[:, 0].astype(int), distinct[:, 1].astype(int), distinct[:, 2]
    weights = np.random.default_rng(seed).multinomial(len(games), counts / len(games), size=rounds)
    size = games.contestants
    samples = np.empty((rounds, size))
    for number, weight in enumerate(weights / len(games)):

        def loss(theta: np.ndarray, weight: np.ndarray = weight) -> tuple[float, np.ndarray]:
            chance = 1 / (1 + np.exp(theta[b] - theta[a]))
            value = -(weight * (score * np.log(chance) + (1 - score) * np.log1p(-chance))).sum()
            slope = weight * (chance - score)
            return float(value), np.bincount(a, slope, size) - np.bincount(b, slope, size)

        options = {"gtol": 1e-6, "maxiter": 100}
        theta = minimize(loss, np.zeros(size), jac=True, method="L-BFGS-B", options=options).x
        samples[number] = 1000 + (theta - theta.mean()) * 400 / np.log(10)
    return samples


def by_fastchat(games: Games, rounds: int, seed: int = 0) -> np.ndarray:
    """``compute_elo_mle_with_tie`` (logistic regression of scikit-learn) on a resample of votes per round."""
    fit = rating_module().compute_elo_mle_with_tie
    votes = pd.DataFrame(
        {"model_a": games.a, "model_b": games.b, "winner": [WINNER[score] for score in games.score]}
    )
    samples = np.empty((rounds, games.contestants))
    for number in range(rounds):
        found = fit(votes.sample(frac=1.0, replace=True, random_state=seed + number))
        samples[number] = found[np.arange(games.contestants)]
    return samples - samples.mean(axis=1, keepdims=True) + 1000
