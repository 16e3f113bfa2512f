"""Where the drill runs: an arena in one process on SQLite, and one of many processes with real services.

A place is started, killed and stopped like the machines of an operator. What it holds is read with SQL, past
the code under test.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import psycopg

from tests import migrated
from tests.arena.process.processes import free_port
from tests.faults.services import PostgreSQL, Redis, private_postgresql, private_redis

ROOT = Path(__file__).parents[2]
CONTESTANTS = 5
PAIRS_OF_A_PROMPT = CONTESTANTS * (CONTESTANTS - 1) // 2
STARTING_SECONDS = 60
STOPPING_SECONDS = 20

SEED = """
from judging.judges.services import create_judge
from judging.runs.lifecycle import start_run
from tests.factories import judge_with, make_small_study
study = make_small_study(slug="pairs", prompts={prompts}, contestants={contestants})
asked = judge_with(model="loopback", base_url="{url}", timeout={timeout}, protocol="{protocol}")
start_run(study, create_judge("loopback", "Loopback", asked), limit={pairs})
"""

BEHIND = """
SELECT (SELECT count(*) FROM arena_comparison)
     - coalesce((SELECT comparisons FROM leaderboard_snapshot ORDER BY id DESC LIMIT 1), 0)
"""

Row = tuple[Any, ...]


class Place:
    """One arena with its own folder, database and port."""

    name: ClassVar[str]
    web_is_worker: ClassVar[bool] = False

    def __init__(self, folder: Path, port: int, environment: dict[str, str]) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{port or free_port()}"
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self.environment = {
            **kept,
            "PORT": self.url.rpartition(":")[2],
            "VAR_DIR": str(folder),
            "SECRET_KEY": "only-for-a-drill-and-nothing-else-at-all",
            "LOG_LEVEL": "WARNING",
            **environment,
        }
        self._web: subprocess.Popen[bytes] | None = None

    def prepare(self, pairs: int, model_url: str, timeout: float, protocol: str) -> None:
        """Tables, a study of so many pairs and a queued run over them, before anything is running."""
        self.make_tables()
        filled = SEED.format(
            prompts=-(-pairs // PAIRS_OF_A_PROMPT),
            contestants=CONTESTANTS,
            url=model_url,
            timeout=timeout,
            pairs=pairs,
            protocol=protocol,
        )
        self.manage("shell", "-v0", "-c", filled)

    def start(self) -> None:
        """Start everything."""
        self.start_web()

    def kill_worker(self) -> int:
        """SIGKILL a worker and start it again; the calls it had in flight."""
        raise NotImplementedError

    def stop_web(self) -> int:
        """SIGTERM the web server and wait for its end; the calls that were in flight in it."""
        web = self._running_web()
        web.terminate()
        try:
            web.wait(STOPPING_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill(web)
        self._web = None
        return 0

    def start_web(self) -> None:
        """Start the web server and wait until it answers."""
        self._web = self._spawn("web", "manage.py", "serve")
        deadline = time.monotonic() + STARTING_SECONDS
        while True:
            with suppress(OSError):
                urllib.request.urlopen(f"{self.url}/healthz", timeout=5).close()  # noqa: S310 - our own
                return
            if self._web.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the web server did not start; see {self.folder / 'web.log'}")
            time.sleep(0.1)

    def stop(self) -> None:
        """End every process at once."""
        if self._web:
            self._kill(self._web)
            self._web = None

    def query(self, sql: str) -> list[Row]:
        """The rows of an SQL query."""
        raise NotImplementedError

    def in_flight(self, pid: int | None = None) -> int:
        """Calls in flight, of one process or of all."""
        workers = self.query("SELECT worker FROM judging_judgecall WHERE state = 'in_flight'")
        return sum(pid is None or f":{pid}:" in worker for (worker,) in workers)

    def run_state(self) -> str:
        """The state of the judge run."""
        return str(self.query("SELECT state FROM judging_judgerun")[0][0])

    def board_behind(self) -> int:
        """Comparisons that the newest board does not count."""
        return int(self.query(BEHIND)[0][0])

    def _running_web(self) -> subprocess.Popen[bytes]:
        if self._web is None:
            raise RuntimeError("the web server is not running")
        return self._web

    def make_tables(self) -> None:
        """What has to be there before anything is stored or started."""
        self.manage("migrate", "--verbosity=0", "--skip-checks")

    def command(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command of manage.py to its end, however it ends."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment | environment,
            capture_output=True,
            text=True,
        )

    def manage(self, *arguments: str, **environment: str) -> str:
        """Run a command of manage.py that has to end well; its standard output."""
        done = self.command(*arguments, **environment)
        if done.returncode:
            raise RuntimeError(f"manage.py {arguments[0]} failed: {done.stderr}")
        return done.stdout

    def _spawn(self, log: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{log}.log").open("ab") as file:
            return subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=self.environment,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @staticmethod
    def _kill(process: subprocess.Popen[bytes]) -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Embedded(Place):
    """``manage.py serve`` on SQLite: web server and worker are one process."""

    name = "embedded"
    web_is_worker = True

    def __init__(self, folder: Path, port: int, environment: dict[str, str]) -> None:
        self._file = folder / "arena.sqlite3"
        super().__init__(folder, port, {"DATABASE_URL": f"sqlite:///{self._file}", **environment})

    def kill_worker(self) -> int:
        """SIGKILL the whole arena and start it again."""
        self._kill(self._running_web())
        lost = self.in_flight()
        self.start_web()
        return lost

    def stop_web(self) -> int:
        """Stop the arena; calls that did not end in its two seconds are cut off."""
        super().stop_web()
        return self.in_flight()

    def make_tables(self) -> None:
        migrated.migrate(self._file, self.manage)

    def query(self, sql: str) -> list[Row]:
        connection = sqlite3.connect(self._file, timeout=30)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()


class Production(Place):
    """The web server, two workers, PostgreSQL and Redis."""

    name = "production"
    WORKERS = 2

    def __init__(
        self, folder: Path, port: int, environment: dict[str, str], database: PostgreSQL, broker: Redis
    ) -> None:
        self.database, self.broker = database, broker
        needed = {
            "ARENA_ENV": "production",
            "JUDGE_ENDPOINTS": "127.0.0.1",
            "ALLOWED_HOSTS": "127.0.0.1",
            "SECURE_SSL_REDIRECT": "false",
            "DATABASE_URL": database.url,
            "BROKER_URL": broker.url,
        }
        super().__init__(folder, port, {**needed, **environment})
        self._workers: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        self._workers = [self._start_worker() for _ in range(self.WORKERS)]
        super().start()

    def kill_worker(self) -> int:
        """SIGKILL the worker that has run longest and start another in its place."""
        killed = self._workers.pop(0)
        self._kill(killed)
        lost = self.in_flight(killed.pid)
        self._workers.append(self._start_worker())
        return lost

    def stop(self) -> None:
        super().stop()
        for worker in self._workers:
            self._kill(worker)
        self._workers = []

    def query(self, sql: str) -> list[Row]:
        with psycopg.connect(self.database.url) as connection:
            return connection.execute(sql).fetchall()  # type: ignore[call-overload,no-any-return]

    def _start_worker(self) -> subprocess.Popen[bytes]:
        return self._spawn("workers", "manage.py", "worker")


@contextmanager
def place(name: str, folder: Path, port: int, environment: dict[str, str]) -> Iterator[Place]:
    """The place with this name and its services, stopped at the end."""
    with ExitStack() as stack:
        if name == Embedded.name:
            found: Place = Embedded(folder, port, environment)
        else:
            database, broker = stack.enter_context(private_postgresql()), stack.enter_context(private_redis())
            found = Production(folder, port, environment, database, broker)
        stack.callback(found.stop)
        yield found
