"""Speed and memory of bootstrapped Elo, beside its peers; run by ``make bench``."""

import subprocess
import sys
from functools import partial
from time import process_time

import numpy as np
import pytest

from leaderboard.stats.elo_bootstrap import bootstrap_elo
from tests.benchmarks.paired import Rival, race
from tests.benchmarks.rivals import ROUNDS, elo_by_index_matrix, evalica_elo, fastchat_elo, games_of_20

MOST_MEMORY = 150
"""MB that a bootstrap may add to a process."""
MOST_SECONDS = 30
"""Of processor time that a bootstrap may take."""


@pytest.fixture(autouse=True)
def whole_rounds(monkeypatch):
    """Play every game of a round, as the others do: what is measured is the time of an update."""
    module = "leaderboard.stats.elo.games_remembered"
    monkeypatch.setattr(module, lambda outcomes, *_: len(outcomes.of_game))


def our_elo(games, rounds=ROUNDS, **options):
    return bootstrap_elo(
        games.a, games.b, games.score, games.contestants, rounds=rounds, cluster=games.cluster, **options
    ).samples


def rival(name, games, rounds=ROUNDS, **options):
    return Rival(name, partial(our_elo, games, rounds, **options), len(games) * rounds)


@pytest.mark.parametrize("n", [1_962, 20_000, 200_000])
def test_bootstrapped_elo(n):
    games, steps, few = games_of_20(n), min(n, 20_000), max(1, 10_000 // n)
    race(
        f"Bootstrapped Elo, 20 contestants, {n} games, {ROUNDS} rounds",
        rival("ours", games),
        Rival(
            f"NumPy with an index matrix ({steps} steps)",
            partial(elo_by_index_matrix, games, ROUNDS, steps),
            steps * ROUNDS,
        ),
        Rival(f"fschat's Python loop ({few} rounds)", fastchat_elo(games, few), n * few),
        Rival(f"evalica.bootstrap(elo) ({5 * few} rounds)", evalica_elo(games, 5 * few), n * 5 * few),
        repeats=3 if n > 100_000 else 5,
    )


def test_all_of_them_compute_the_same_thing():
    games = games_of_20(1_962)
    ours, theirs = (
        np.median(found, axis=0) for found in (our_elo(games), elo_by_index_matrix(games, ROUNDS))
    )
    assert ours == pytest.approx(theirs, abs=15)
    loop = fastchat_elo(games, 60)().median().rename(int).sort_index().to_numpy()
    assert ours == pytest.approx(loop, abs=60)


@pytest.mark.parametrize("n", [1_962, 20_000])
def test_growth_with_the_number_of_games(n):
    by_unit = {unit: games_of_20(n, clustered=unit == "prompts") for unit in ("games", "prompts")}
    rivals = [
        rival(f"resampling {unit}, {threads} thread(s)", games, threads=threads)
        for unit, games in by_unit.items()
        for threads in (1, 2)
    ]
    race(f"Elo, 20 contestants, {n} games, {ROUNDS} rounds", *rivals, repeats=3)


@pytest.mark.parametrize("k", [32.0, 4.0])
@pytest.mark.parametrize("unit", ["games", "prompts"])
@pytest.mark.parametrize("n", [20_000, 1_000_000])
def test_as_it_is_used(monkeypatch, n, unit, k):
    """A round plays the games that decide its strengths, and no more."""
    monkeypatch.undo()
    games = games_of_20(n, clustered=unit == "prompts")
    started = process_time()
    our_elo(games, k=k)
    taken = process_time() - started
    print(f"\nElo in use, 20 contestants, {n} games, resampling {unit}, K={k:g}: {taken:.1f} s")
    assert taken < MOST_SECONDS


@pytest.mark.parametrize("unit", ["games", "prompts"])
@pytest.mark.parametrize("n", [20_000, 1_000_000])
def test_memory(n, unit):
    command = [sys.executable, "-m", "tests.benchmarks.rating_memory", str(n), unit]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    added = float(done.stdout)
    print(f"\nMemory added by Elo, {n} games, resampling {unit}: {added:.0f} MB")
    assert added <= MOST_MEMORY
