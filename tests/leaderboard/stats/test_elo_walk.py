import signal
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numba
import numpy as np
import pytest

from leaderboard import stats
from leaderboard.stats import (
    Method,
    bootstrap,
    bootstrap_elo,
    elo,
    elo_walk,
    elo_walk_numba,
    rank_games,
)
from leaderboard.stats.bootstrap import choose_threads
from leaderboard.stats.checks import ParameterError
from leaderboard.stats.elo import open_backend
from tests.leaderboard.stats.simulation import simulated_games

UINT16 = np.dtype(np.uint16)
LITTLE, MUCH = elo.WORTH_COMPILING - 1, elo.WORTH_COMPILING


@pytest.fixture
def cold(monkeypatch):
    """Numba is installed but not loaded yet."""
    elo_walk_numba.prepare(UINT16)  # for compiling enters the module as loaded
    modules = {elo.BACKENDS["numpy"]: elo_walk, elo.BACKENDS["numba"]: elo_walk_numba}
    monkeypatch.delitem(sys.modules, elo.BACKENDS["numba"])
    monkeypatch.setattr(elo, "import_module", modules.__getitem__)


@pytest.fixture
def without_numba(monkeypatch):
    monkeypatch.setattr(elo, "find_spec", lambda name: None if name == "numba" else find_spec(name))
    elo.has_numba.cache_clear()
    yield
    monkeypatch.undo()
    elo.has_numba.cache_clear()


class TestTheChoice:
    def test_a_cold_process_loads_numba_for_much_work_alone(self, cold):
        assert open_backend(None, LITTLE, UINT16) == ("numpy", elo_walk)
        assert open_backend(None, MUCH, UINT16) == ("numba", elo_walk_numba)

    def test_once_loaded_numba_does_all_the_work_unless_another_is_asked_for(self):
        assert open_backend(None, 1, UINT16)[0] == "numba"
        assert open_backend("numpy", 10 * MUCH, UINT16)[0] == "numpy"
        assert open_backend("numba", 1, UINT16)[0] == "numba"
        assert bootstrap_elo([0], [1], [1], 2, rounds=2, backend="numba", threads=2).backend == "numba"
        assert bootstrap_elo([0], [1], [1], 2, rounds=2, backend="numpy").backend == "numpy"

    def test_without_numba_numpy_does_all_the_work(self, without_numba):
        assert open_backend(None, 10 * MUCH, UINT16)[0] == "numpy"
        with pytest.raises(ParameterError, match="not installed; `make fast` installs it"):
            bootstrap_elo([0], [1], [1], 2, backend="numba")


class TestNumbaThatDoesNotWork:
    @pytest.fixture(autouse=True)
    def full_disk(self, monkeypatch):
        def prepare(dtype):
            raise OSError("No space left on device")

        monkeypatch.setattr(elo_walk_numba, "prepare", prepare)

    def test_numpy_runs_instead_and_the_log_says_why(self, caplog):
        assert bootstrap_elo([0], [1], [1], 2, rounds=2).backend == "numpy"
        assert "Numba does not work (OSError: No space left on device)" in caplog.text
        with pytest.raises(OSError, match="No space left"):
            bootstrap_elo([0], [1], [1], 2, rounds=2, backend="numba")


class TestThreads:
    @pytest.mark.parametrize(
        ("backend", "worth", "wanted", "used"),
        [("numba", 3, None, 1), ("numba", 2, None, 3), ("numpy", 2, None, 1), ("numpy", 3, 5, 5)],
    )
    def test_only_much_work_by_numba_takes_the_processors_there_are(
        self, monkeypatch, backend, worth, wanted, used
    ):
        monkeypatch.setattr(bootstrap, "processors", lambda: 3)
        monkeypatch.setattr(elo, "WORTH_THREADS", worth)
        found = bootstrap_elo([0], [1], [1], 2, rounds=2, backend=backend, threads=wanted)
        assert found.threads == used

    def test_a_large_machine_is_not_filled(self, monkeypatch):
        monkeypatch.setattr(bootstrap, "processors", lambda: 400)
        assert choose_threads(None, True) == bootstrap.MOST_THREADS


@pytest.mark.parametrize("clustered", [False, True])
def test_standings_are_the_same_to_the_letter(monkeypatch, clustered):
    games = simulated_games(30, tie_share=0.2, clustered=clustered)
    texts = []
    for name in elo.BACKENDS:
        monkeypatch.setattr(elo, "_faster", lambda updates, name=name: name)
        texts.append(rank_games(games, ("a", "b", "c", "d"), Method(rounds=100)).canonical_json())
    assert texts[0] == texts[1]


FORKING = """
import multiprocessing
import numpy as np
from leaderboard.stats import bootstrap_elo
from tests.leaderboard.stats.simulation import simulated_games

games = simulated_games(40, clustered=True)

def samples(seed):
    by_prompt, by_game = (
        bootstrap_elo(games.a, games.b, games.score, 4, rounds=130, seed=seed, cluster=cluster,
                      backend="numba", threads=2).samples
        for cluster in (games.cluster, None)
    )
    return np.concatenate((by_prompt, by_game))

def in_children():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return pool.map_async(samples, range(4)).get(timeout=60)

children_first = in_children()
parent = [samples(seed) for seed in range(4)]
children_last = in_children()
assert np.array_equal(children_first, parent) and np.array_equal(children_last, parent)
print("equal")
"""

INTERRUPTED = """
import numpy as np
from leaderboard.stats import bootstrap_elo
generator = np.random.default_rng(0)
a = generator.integers(0, 9, 50_000)
bootstrap_elo(a[:9], a[:9] + 1, a[:9] % 2, 10, rounds=2, backend="numba")
print("started", flush=True)
bootstrap_elo(a, a + 1, a % 2, 10, rounds=1_000_000, backend="numba", threads=2)
"""


def test_forked_processes_compute_what_their_parent_does():
    done = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "equal\n"), done.stderr


def test_an_interrupt_ends_all_threads():
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors


class TestTheCacheOfCompiledCode:
    def test_without_a_place_for_it_numba_compiles_every_time(self):
        def double(number):
            return 2 * number

        double.__code__ = double.__code__.replace(co_filename="no such file")
        with pytest.raises(RuntimeError, match="no locator available"):
            numba.njit(cache=True)(double)
        assert elo_walk_numba._compiled(double)(21) == 42

    def test_when_it_is_damaged_numpy_runs(self, tmp_path, monkeypatch, caplog):
        monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
        monkeypatch.delitem(sys.modules, elo.BACKENDS["numba"])
        monkeypatch.setattr(stats, "elo_walk_numba", elo_walk_numba)  # which loading it again replaces
        loaded = import_module(elo.BACKENDS["numba"])
        Path(loaded._walk_games._cache._cache_file._index_path).write_text("nonsense")
        assert bootstrap_elo([0], [1], [1], 2, rounds=2).backend == "numpy"
        assert "Numba does not work (UnpicklingError" in caplog.text
