"""Judge workers without a database, as processes of their own, against a real arena on a bad day."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from judging.worker.arena import Arena as JudgingArena
from judging.worker.arena_client import ArenaClient
from tests.judging.endpoints.server import Answer, ChatServer, mixed
from tests.judging.processes import ROOT, Arena, assert_exact
from tests.services.servers import MissingServiceError, postgresql
from tests.waiting import eventually

pytestmark = pytest.mark.processes

PAIRS = 100
CONCURRENCY = 4
PATIENCE = 240.0
"""Seconds that a step may take on a busy machine; none of them decides what is seen."""

HELD = 5.0
"""Seconds that a held reply takes: the judge gives up after ten."""


class Elsewhere:
    """A judge worker in a folder of its own: no database, and no secret of the arena."""

    def __init__(self, folder: Path, arena: Arena, token: str) -> None:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self._environment = {
            **kept,
            "VAR_DIR": str(folder),
            "DATABASE_URL": "postgresql://nobody:nothing@127.0.0.1:9/nowhere",
            "ARENA_TOKEN": token,
        }
        self._url = arena.url
        self._process: subprocess.Popen[str] | None = None

    def runs(self) -> int:
        """The runs it is to work on: where there is none, it ends at once."""
        client = ArenaClient(self._environment["ARENA_TOKEN"], self._url)
        return JudgingArena(client, "loopback", "nobody", print).look_up().runs

    def start(self) -> None:
        command = [sys.executable, "manage.py", "judge_worker", "--judge", "loopback", "--drain"]
        self._process = subprocess.Popen(
            [*command, "--arena-url", self._url, "--concurrency", str(CONCURRENCY)],
            cwd=ROOT,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def end(self, number: signal.Signals) -> str:
        """Send the signal; what it had said."""
        self._process.send_signal(number)
        return self._process.communicate(timeout=PATIENCE)[0]

    def wait(self) -> str:
        """Its output, once it has drained the arena."""
        output, _ = self._process.communicate(timeout=PATIENCE)
        assert self._process.returncode == 0, output
        return output


class BadDay(ChatServer):
    """A model on a bad day whose replies can be held: calls are left however slowly a process starts."""

    def __init__(self) -> None:
        self._held = threading.Event()
        self._answer = mixed(11, delay=0.3, permanent=0.1)
        super().__init__(self._reply)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Whatever is asked in here is answered slowly."""
        self._held.set()
        yield
        self._held.clear()

    def _reply(self, body: dict[str, Any]) -> Answer:
        answer = self._answer(body)
        return replace(answer, delay=HELD) if self._held.is_set() else answer


@pytest.fixture
def bad_day() -> Iterator[BadDay]:
    with BadDay() as server:
        yield server


@pytest.fixture
def database() -> Iterator[str]:
    """The URL of an empty database of PostgreSQL, where several workers claim at the same moment."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(postgresql())
        except MissingServiceError as error:
            pytest.skip(str(error))
        yield stack.enter_context(empty_database(server))


@contextmanager
def empty_database(server: str) -> Iterator[str]:
    """A database of its own beside whatever else the server serves."""
    name = "far_arena"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name}")
        yield urlsplit(server)._replace(path=f"/{name}").geturl()
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def far_arena(tmp_path: Path, database: str) -> Iterator[Arena]:
    """An arena that is not seeded or started yet."""
    arena = Arena(tmp_path, JUDGE_LEASE_SECONDS="20", DATABASE_URL=database)
    try:
        yield arena
    finally:
        arena.kill()


@pytest.fixture
def workers(far_arena: Arena, bad_day: BadDay, tmp_path: Path) -> Iterator[list[Elsewhere]]:
    """Two of them, not started yet, for a run of 100 pairs: 10 prompts and 5 contestants."""
    token = far_arena.seed(prompts=10, contestants=5, url=bad_day.url)
    far_arena.start()
    made = [Elsewhere(tmp_path / name, far_arena, token) for name in ("one", "two")]
    try:
        yield made
    finally:
        for worker in made:
            if worker._process and worker._process.poll() is None:
                worker._process.kill()
                worker._process.wait()


def test_100_pairs_survive_killed_workers_and_a_killed_arena(
    far_arena: Arena, bad_day: BadDay, workers: list[Elsewhere]
) -> None:
    run = far_arena.judge("--remote")
    first, second = workers
    eventually(lambda: first.runs() > 0)
    first.start()
    second.start()
    abandoned = 0
    for asked in (PAIRS / 5, 2 * PAIRS / 5):
        eventually(lambda asked=asked: len(bad_day.requests) > asked)
        first.end(signal.SIGKILL)
        abandoned += CONCURRENCY
        first.start()
    with bad_day.held():
        asked_before = len(bad_day.requests)
        eventually(lambda: len(bad_day.requests) >= asked_before + CONCURRENCY)
        far_arena.kill()
    time.sleep(HELD)  # the replies come while the arena is away
    far_arena.start()
    said = [worker.wait() for worker in workers]
    output, errors = run.communicate(timeout=PATIENCE)
    assert "Run 1 is finished." in output, errors
    counts = far_arena.counts()
    assert_exact(counts, bad_day.answered(), PAIRS)
    assert min(counts["scored"], counts["unscored"], counts["assignments"]["failed"]) > 0
    assert counts["calls"].get("abandoned", 0) <= abandoned
    assert "in_flight" not in counts["calls"]
    assert any("No arena answers" in each for each in said)
    assert all("Done: " in each for each in said)
