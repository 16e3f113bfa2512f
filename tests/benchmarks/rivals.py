"""What bootstrapped Elo is compared with: two peers from PyPI, and a version written for this benchmark."""

from collections.abc import Callable
from functools import partial

import evalica
import numpy as np
import pandas as pd
from scipy.special import expit

from leaderboard.stats import Games, make_games
from tests.benchmarks.fastchat import rating_module
from tests.leaderboard.stats.simulation import simulated_games

ROUNDS = 1000
PAIRS_OF_20 = 190


def games_of_20(wanted: int, *, clustered: bool = False) -> Games:
    """So many games of 20 contestants; every pair meets once on a prompt."""
    prompts = -(-wanted // PAIRS_OF_20)
    games = simulated_games(prompts, tuple(np.linspace(800.0, 1200.0, 20)), clustered=clustered)
    cluster = games.cluster[:wanted] if games.cluster is not None else None
    return make_games(games.a[:wanted], games.b[:wanted], games.score[:wanted], 20, cluster=cluster)


def elo_by_index_matrix(games: Games, rounds: int, steps: int | None = None) -> np.ndarray:
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


def fastchat_elo(games: Games, rounds: int) -> Callable[[], pd.DataFrame]:
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


def evalica_elo(games: Games, rounds: int) -> Callable[[], object]:
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
