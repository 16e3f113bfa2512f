"""What bootstrapped Elo and Bradley-Terry are compared with: peers from PyPI, and versions of our own."""

import importlib
import importlib.util
import sys
from functools import partial
from types import ModuleType

import evalica
import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit

from leaderboard.stats.games import make_games
from tests.leaderboard.stats.simulation import simulated_games

ROUNDS = 1000
PAIRS_OF_20 = 190


def games_of_20(wanted, *, clustered=False):
    """So many games of 20 contestants; every pair meets once on a prompt."""
    prompts = -(-wanted // PAIRS_OF_20)
    games = simulated_games(prompts, tuple(np.linspace(800.0, 1200.0, 20)), clustered=clustered)
    cluster = games.cluster[:wanted] if games.cluster is not None else None
    return make_games(games.a[:wanted], games.b[:wanted], games.score[:wanted], 20, cluster=cluster)


def elo_by_index_matrix(games, rounds, steps=None):
    """All rounds at once in NumPy, from a matrix of steps x rounds drawn beforehand.

    FastChat's newer code, which is not on PyPI, computes it in this way; this is not a copy of it. ``steps``
    is the number of games played in each round, as many as there are if None.
    """
    drawn = np.random.RandomState(0).randint(len(games), size=(steps or len(games), rounds))
    sides = np.stack((games.a, games.b), axis=1)
    ratings = np.zeros((rounds, games.contestants))
    rate, every = np.log(10.0) / 400.0, np.arange(rounds)
    for row in drawn:
        a, b = sides[row, 0], sides[row, 1]
        gain = 32 * (games.score[row] - expit(rate * (ratings[every, a] - ratings[every, b])))
        ratings[every, a] += gain
        ratings[every, b] -= gain
    return 1000 + ratings


def fastchat_elo(games, rounds):
    """The bootstrap of PyPI's fschat: a data frame and a Python loop for each round."""
    analysis = rating_module()
    analysis.tqdm = lambda numbers, desc: numbers  # no bar
    words = {1.0: "model_a", 0.0: "model_b", 0.5: "tie"}
    battles = pd.DataFrame(
        {
            "model_a": games.a.astype(str),
            "model_b": games.b.astype(str),
            "winner": [words[score] for score in games.score],
        }
    )
    elo = partial(analysis.compute_elo, K=32)
    return partial(analysis.get_bootstrap_result, battles, elo, num_round=rounds)


def evalica_elo(games, rounds):
    """Its percentile bootstrap: the default (BCa) also leaves out every game in turn."""
    winners = {1.0: evalica.Winner.X, 0.0: evalica.Winner.Y, 0.5: evalica.Winner.Draw}
    sides = ([str(number) for number in side] for side in (games.a, games.b))
    outcomes = [winners[score] for score in games.score]
    return partial(
        evalica.bootstrap,
        evalica.elo,
        *sides,
        outcomes,
        n_resamples=rounds,
        bootstrap_method="percentile",
        k=32.0,
    )


WINNER = {1.0: "model_a", 0.0: "model_b", 0.5: "tie"}


def by_win_matrix(games, rounds, seed=0):
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


def _fit_matrix(won):
    def loss(theta):
        difference = theta[:, None] - theta[None, :]
        missed = won / (1 + np.exp(difference))
        return float((won * np.logaddexp(0, -difference)).sum()), missed.sum(axis=0) - missed.sum(axis=1)

    theta = minimize(loss, np.zeros(len(won)), jac=True, method="L-BFGS-B", options={"gtol": 1e-6}).x
    return 1000 + (theta - theta.mean()) * 400 / np.log(10)


def by_distinct_rows(games, rounds, seed=0):
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

        def loss(theta, weight=weight):
            chance = 1 / (1 + np.exp(theta[b] - theta[a]))
            value = -(weight * (score * np.log(chance) + (1 - score) * np.log1p(-chance))).sum()
            slope = weight * (chance - score)
            return float(value), np.bincount(a, slope, size) - np.bincount(b, slope, size)

        options = {"gtol": 1e-6, "maxiter": 100}
        theta = minimize(loss, np.zeros(size), jac=True, method="L-BFGS-B", options=options).x
        samples[number] = 1000 + (theta - theta.mean()) * 400 / np.log(10)
    return samples


def by_fastchat(games, rounds, seed=0):
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


def rating_module():
    """The module, without the package of language models that it imports, which would need PyTorch."""
    if "fastchat.model" not in sys.modules:
        spec = importlib.util.find_spec("fastchat")
        assert spec
        assert spec.submodule_search_locations
        models = ModuleType("fastchat.model")
        models.__path__ = [f"{spec.submodule_search_locations[0]}/model"]
        sys.modules["fastchat.model"] = models
    return importlib.import_module("fastchat.serve.monitor.elo_analysis")
