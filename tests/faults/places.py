"""Where the drill runs: an arena in one process on SQLite, and one of many processes with real services.

A place is started, killed and stopped like the machines of an operator. What it holds is read with SQL, past
the code under test.
"""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import ClassVar

from tests.faults.services import PostgreSQL, Redis, private_postgresql, private_redis
from tests.processes import Arena

CONTESTANTS = 5
PAIRS_OF_A_PROMPT = CONTESTANTS * (CONTESTANTS - 1) // 2
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


class Place(Arena):
    """An arena that drills hurt."""

    DEFAULTS: ClassVar[dict[str, str]] = {"LOG_LEVEL": "WARNING"}
    name: ClassVar[str]
    web_is_worker: ClassVar[bool] = False
    calls = "judging_judgecall"
    """The table of the calls that are counted where a process ends."""

    def prepare(self, pairs: int, model_url: str, timeout: float, protocol: str) -> None:
        """Make a study of so many pairs and a queued run over them, before anything is running."""
        filled = SEED.format(
            prompts=-(-pairs // PAIRS_OF_A_PROMPT),
            contestants=CONTESTANTS,
            url=model_url,
            timeout=timeout,
            pairs=pairs,
            protocol=protocol,
        )
        self.run(filled)

    def kill_worker(self) -> int:
        """SIGKILL a worker and start it again; the calls it had in flight."""
        raise NotImplementedError

    def stop_web(self) -> int:
        """SIGTERM the web server and wait for its end; the calls that were in flight in it."""
        self.web.terminate()
        try:
            self.web.wait(STOPPING_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill(self.web)
        self._web = None
        return 0

    def in_flight(self, pid: int | None = None) -> int:
        """Calls in flight, of one process or of all."""
        workers = self.query(f"SELECT worker FROM {self.calls} WHERE state = 'in_flight'")  # noqa: S608 - our own
        return sum(pid is None or f":{pid}:" in worker for (worker,) in workers)

    def run_state(self) -> str:
        """The state of the judge run."""
        return str(self.query("SELECT state FROM judging_judgerun")[0][0])

    def board_behind(self) -> int:
        """Comparisons that the newest board does not count."""
        return int(self.query(BEHIND)[0][0])


class Embedded(Place):
    """``manage.py serve`` on SQLite: web server and worker are one process."""

    name = "embedded"
    web_is_worker = True

    def kill_worker(self) -> int:
        """SIGKILL the whole arena and start it again."""
        self.kill()
        lost = self.in_flight()
        self.start_web()
        return lost

    def stop_web(self) -> int:
        """Stop the arena; calls that did not end in its two seconds are cut off."""
        super().stop_web()
        return self.in_flight()


class Production(Place):
    """The web server, two workers, PostgreSQL and Redis."""

    name = "production"
    WORKERS = 2

    def __init__(
        self, folder: Path, port: int, database: PostgreSQL, broker: Redis, **environment: str
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
        super().__init__(folder, port, **{**needed, **environment})

    def kill_worker(self) -> int:
        """SIGKILL the worker that has run longest and start another in its place."""
        killed = self._workers.pop(0)
        self._kill(killed)
        lost = self.in_flight(killed.pid)
        self._workers.append(self._start_worker())
        return lost


@contextmanager
def place(name: str, folder: Path, port: int = 0, **environment: str) -> Iterator[Place]:
    """The place with this name and its services, stopped at the end."""
    with ExitStack() as stack:
        if name == Embedded.name:
            found: Place = Embedded(folder, port, **environment)
        else:
            database, broker = stack.enter_context(private_postgresql()), stack.enter_context(private_redis())
            found = Production(folder, port, database, broker, **environment)
        stack.callback(found.kill)
        yield found
