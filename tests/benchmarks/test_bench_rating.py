"""Speed and memory of bootstrapped Elo, beside its peers; run by ``make bench``."""

import os
import subprocess
import sys
from functools import partial
from time import perf_counter

import numpy as np
import pytest

from leaderboard.stats import bootstrap_elo
from tests.benchmarks.paired import Rival, race
from tests.benchmarks.rivals import ROUNDS, elo_by_index_matrix, evalica_elo, fastchat_elo, games_of_20

MOST_MEMORY = 150
"""MB that a bootstrap may add to a process."""


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
        rival("ours, numba, two threads", games, backend="numba", threads=2),
        rival("ours, numba, one thread", games, backend="numba", threads=1),
        rival("ours, NumPy", games, backend="numpy"),
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


@pytest.mark.parametrize("n", [20_000, 200_000, 2_000_000])
def test_growth_with_the_number_of_games(n):
    rounds = ROUNDS if n < 1_000_000 else 128
    by_unit = {unit: games_of_20(n, clustered=unit == "prompts") for unit in ("games", "prompts")}
    rivals = [
        rival(f"resampling {unit}, {threads} thread(s)", games, rounds, backend="numba", threads=threads)
        for unit, games in by_unit.items()
        for threads in (2, 1)
    ]
    race(f"Elo, numba, 20 contestants, {n} games, {rounds} rounds", *rivals, repeats=3)


@pytest.mark.parametrize("n", [1_962, 20_000])
def test_numpy_alone(n):
    by_unit = {unit: games_of_20(n, clustered=unit == "prompts") for unit in ("games", "prompts")}
    rivals = [
        rival(f"resampling {unit}, {threads} thread(s)", games, backend="numpy", threads=threads)
        for unit, games in by_unit.items()
        for threads in (1, 2)
    ]
    race(f"Elo, NumPy, 20 contestants, {n} games, {ROUNDS} rounds", *rivals, repeats=3)


FIRST_CALL = """
import sys
from time import perf_counter
from leaderboard.stats import bootstrap_elo
from tests.leaderboard.stats.simulation import simulated_games
games = simulated_games()
start = perf_counter()
bootstrap_elo(games.a, games.b, games.score, 4, backend=sys.argv[1])
print(perf_counter() - start)
"""


def test_the_first_call_of_a_process(tmp_path):
    print("\nFirst bootstrap of a process, 4 contestants, 1962 games, 1000 rounds")
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for name, backend in (("NumPy", "numpy"), ("numba, not compiled", "numba"), ("numba, compiled", "numba")):
        command = [sys.executable, "-c", FIRST_CALL, backend]
        start = perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        whole = perf_counter() - start
        print(f"  {name:<24} {float(done.stdout):6.2f} s, with the start of the process {whole:6.2f} s")


@pytest.mark.parametrize("unit", ["games", "prompts"])
@pytest.mark.parametrize(
    ("backend", "n"), [("numba", 20_000), ("numba", 2_000_000), ("numba", 20_000_000), ("numpy", 20_000)]
)
def test_memory(backend, n, unit):
    command = [sys.executable, "-m", "tests.benchmarks.rating_memory", str(n), unit, backend]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    added = float(done.stdout)
    print(f"\nMemory added by Elo, {backend}, two threads, {n} games, resampling {unit}: {added:.0f} MB")
    assert added <= MOST_MEMORY
