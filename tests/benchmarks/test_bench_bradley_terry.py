"""Speed of bootstrapped Bradley-Terry, Davidson and Elo against a fit per round; run by ``make bench``."""

from functools import partial

import numpy as np
import pytest

from leaderboard.stats.bradley_terry import bootstrap_bradley_terry
from leaderboard.stats.davidson import bootstrap_davidson
from leaderboard.stats.elo import EloParameters
from leaderboard.stats.elo_bootstrap import bootstrap_elo
from leaderboard.stats.elo_mean import bootstrap_mean_elo, mean_elo
from tests.benchmarks.paired import Rival, race
from tests.benchmarks.rivals import ROUNDS, by_distinct_rows, by_fastchat, by_win_matrix
from tests.leaderboard.stats.simulation import PUBLISHED, simulated_games

TIES = 0.2
SIZES = [(4, 1_962), (20, 2_000), (20, 20_000), (100, 200_000)]


def games_of(contestants, wanted):
    """About ``wanted`` games, a fifth of them ties."""
    ratings = PUBLISHED if contestants == 4 else tuple(np.linspace(800.0, 1200.0, contestants))
    pairs = contestants * (contestants - 1) // 2
    return simulated_games(round(wanted / pairs), ratings, tie_share=TIES)


def samples(bootstrap, games, rounds=ROUNDS, threads=None):
    return bootstrap(
        games.a,
        games.b,
        games.score,
        games.contestants,
        rounds=rounds,
        cluster=games.cluster,
        threads=threads,
    ).samples


def elo_samples(games):
    return bootstrap_mean_elo(games, mean_elo(games, EloParameters()), rounds=ROUNDS)


def once_per_round(name, fit, games, rounds):
    return Rival(f"{name} ({rounds} rounds)", partial(fit, games, rounds), rounds)


@pytest.mark.parametrize(("contestants", "wanted"), SIZES)
def test_a_fit_per_round(contestants, wanted):
    games = games_of(contestants, wanted)
    few = max(2, 40_000 // len(games))
    ours = partial(samples, bootstrap_bradley_terry, games)
    race(
        f"Bootstrapped Bradley-Terry, {contestants} contestants, {len(games)} games (an update: a round)",
        Rival(f"ours ({ROUNDS} rounds)", ours, ROUNDS),
        Rival("ours, one thread", partial(ours, threads=1), ROUNDS),
        Rival("ours, two threads", partial(ours, threads=2), ROUNDS),
        Rival("ours, Davidson", partial(samples, bootstrap_davidson, games), ROUNDS),
        Rival("ours, Elo", partial(elo_samples, games), ROUNDS),
        Rival("ours, Elo as in the study", partial(samples, bootstrap_elo, games), ROUNDS),
        once_per_round("fschat, scikit-learn", by_fastchat, games, min(few, 10)),
        once_per_round("L-BFGS-B on distinct rows", by_distinct_rows, games, 10 * few),
        once_per_round("L-BFGS-B on the win matrix", by_win_matrix, games, 10 * few),
        repeats=3,
    )
    for theirs in (by_distinct_rows, by_win_matrix):
        assert ours().mean(axis=0) == pytest.approx(theirs(games, 40).mean(axis=0), abs=15)
    assert ours().mean(axis=0) == pytest.approx(by_fastchat(games, 2).mean(axis=0), abs=45)


def test_growth_with_the_number_of_games():
    for clustered in (False, True):
        unit = "prompts" if clustered else "games"
        for prompts in (330, 3_300, 33_000):
            games = simulated_games(prompts, clustered=clustered)
            race(
                f"Cost by size, 4 contestants, {len(games)} games, {ROUNDS} rounds, resampling {unit}",
                Rival("Bradley-Terry", partial(samples, bootstrap_bradley_terry, games), ROUNDS),
                repeats=1,
            )
            assert samples(bootstrap_bradley_terry, games, 2).shape == (2, 4)
