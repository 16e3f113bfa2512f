"""Speed of bootstrapped Bradley-Terry against a fit per round; run by ``make bench``."""

from functools import partial

import numpy as np
import pytest

from leaderboard.stats import Games, bootstrap_bradley_terry
from tests.benchmarks.paired import Rival, race
from tests.benchmarks.rivals import ROUNDS, bradley_terry_by_rounds, games_of_20
from tests.leaderboard.stats.simulation import simulated_games


def our_bradley_terry(games: Games, rounds: int = ROUNDS, **options: object) -> np.ndarray:
    return bootstrap_bradley_terry(
        games.a, games.b, games.score, games.contestants, rounds=rounds, cluster=games.cluster, **options
    ).samples


@pytest.mark.parametrize("wanted", [2_000, 20_000])
def test_bootstrapped_bradley_terry(wanted: int) -> None:
    games = games_of_20(wanted)
    n, few = len(games), 20
    race(
        f"Bootstrapped Bradley-Terry, 20 contestants, {n} games, {ROUNDS} rounds (update: a game of a round)",
        Rival("ours, one thread", partial(our_bradley_terry, games), n * ROUNDS),
        Rival(
            f"one L-BFGS fit per round ({few} rounds)", partial(bradley_terry_by_rounds, games, few), n * few
        ),
        repeats=3,
    )
    ours = our_bradley_terry(games).mean(axis=0)
    assert ours == pytest.approx(bradley_terry_by_rounds(games, 50).mean(axis=0), abs=15)


def test_growth_of_bradley_terry_with_the_number_of_games() -> None:
    for clustered in (False, True):
        unit = "prompts" if clustered else "games"
        for prompts in (330, 3_300, 33_000):
            games = simulated_games(prompts, clustered=clustered)
            race(
                f"Cost by size, 4 contestants, {len(games)} games, {ROUNDS} rounds, resampling {unit}",
                Rival("Bradley-Terry", partial(our_bradley_terry, games), len(games) * ROUNDS),
                repeats=1,
            )
            assert our_bradley_terry(games, 2).shape == (2, 4)
