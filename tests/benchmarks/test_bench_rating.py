"""Speed of bootstrapped Elo against straightforward versions and evalica; run by ``make bench``."""

from collections.abc import Callable
from functools import partial

import evalica
import numpy as np
import pytest

from leaderboard.stats import Games, bootstrap_elo
from tests.benchmarks.paired import Rival, race
from tests.benchmarks.rivals import ROUNDS, elo_by_index_matrix, elo_by_python_loop, games_of_20
from tests.leaderboard.stats.simulation import simulated_games


def our_elo(games: Games, rounds: int = ROUNDS, **options: object) -> np.ndarray:
    return bootstrap_elo(
        games.a, games.b, games.score, games.contestants, rounds=rounds, cluster=games.cluster, **options
    ).samples


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


@pytest.mark.parametrize("wanted", [2_000, 20_000])
def test_bootstrapped_elo(wanted: int) -> None:
    games = games_of_20(wanted)
    n, few = len(games), max(2, 20_000 // len(games))
    race(
        f"Bootstrapped Elo, 20 contestants, {n} games, {ROUNDS} rounds",
        Rival("ours, NumPy, one thread", partial(our_elo, games), n * ROUNDS),
        Rival(
            "NumPy over rounds with an index matrix", partial(elo_by_index_matrix, games, ROUNDS), n * ROUNDS
        ),
        Rival(f"Python loop ({few} rounds)", partial(elo_by_python_loop, games, few), n * few),
        Rival(f"evalica.bootstrap(elo) ({10 * few} rounds)", evalica_elo(games, 10 * few), n * 10 * few),
        repeats=3,
    )
    ours, theirs = np.median(our_elo(games), axis=0), np.median(elo_by_index_matrix(games, ROUNDS), axis=0)
    assert ours == pytest.approx(theirs, abs=15)


def test_growth_with_the_number_of_games() -> None:
    for clustered in (False, True):
        unit = "prompts" if clustered else "games"
        for prompts in (330, 3_300, 33_000):
            games = simulated_games(prompts, clustered=clustered)
            work = len(games) * ROUNDS
            race(
                f"Cost by size, 4 contestants, {len(games)} games, {ROUNDS} rounds, resampling {unit}",
                Rival("Elo", partial(our_elo, games), work),
                repeats=1,
            )
            assert our_elo(games, 2).shape == (2, 4)


def test_threads() -> None:
    games = games_of_20(20_000)
    work = len(games) * ROUNDS
    race(
        f"Threads, 20 contestants, {len(games)} games, {ROUNDS} rounds",
        Rival("Elo, one thread", partial(our_elo, games), work),
        Rival("Elo, two threads", partial(our_elo, games, threads=2), work),
        repeats=3,
    )
    assert np.array_equal(our_elo(games, 20), our_elo(games, 20, threads=2))
