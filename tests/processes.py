"""An arena in processes of its own, started, stopped and killed like the machines of an operator."""

import os
import signal
import sqlite3
import subprocess
import sys
import urllib.request
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

import psycopg

from tests import migrated
from tests.arena.process.processes import ROOT, environment, free_port
from tests.waiting import eventually

STARTING_SECONDS = 120
COMMAND_SECONDS = 900


class Arena:
    """One arena with its own folder, port and database, which is a file unless DATABASE_URL names another."""

    DEFAULTS: ClassVar[dict[str, str]] = {}
    """Variables of its environment that are not given."""

    WORKERS = 0
    """How many processes of ``manage.py worker`` run beside the web server."""

    def __init__(self, folder: Path, port: int = 0, **given: str) -> None:
        self.folder = folder
        self.url = f"http://127.0.0.1:{port or free_port()}"
        file = folder / "arena.sqlite3"
        usual = {
            "PORT": self.url.rpartition(":")[2],
            "VAR_DIR": str(folder),
            "DATABASE_URL": f"sqlite:///{file}",
            "SECRET_KEY": "only-for-a-test-and-nothing-else-at-all",
            "LOG_LEVEL": "ERROR",
        }
        self.environment = environment(**usual | self.DEFAULTS | given)
        self._web: subprocess.Popen[bytes] | None = None
        self._workers: list[subprocess.Popen[bytes]] = []
        if "DATABASE_URL" in given:
            self.manage("migrate", "--verbosity=0", "--skip-checks")
        else:
            migrated.migrate(file, self.manage)

    def command(self, *arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
        """Run a command of manage.py to its end, however it ends; ``more`` for its environment."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment | more,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
        )

    def manage(self, *arguments: str, **more: str) -> str:
        """Run a command of manage.py that has to end well; its standard output."""
        done = self.command(*arguments, **more)
        if done.returncode:
            raise RuntimeError(f"manage.py {arguments[0]} failed: {done.stderr}")
        return done.stdout

    def run(self, program: str) -> str:
        """Run a program that knows the models; what it prints."""
        return self.manage("shell", "-v0", "-c", program)

    def start(self) -> None:
        """Start workers and web server, and wait until it answers."""
        self._workers = [self._start_worker() for _ in range(self.WORKERS)]
        self.start_web()

    def start_web(self) -> None:
        """Start the web server and wait until it answers."""
        self._web = self._spawn("web", "serve")
        eventually(lambda: self._answers() or self.web.poll() is not None, STARTING_SECONDS)
        if self.web.poll() is not None:
            raise RuntimeError(f"the web server did not start; see {self.folder / 'web.log'}")

    def _answers(self) -> bool:
        with suppress(OSError):
            urllib.request.urlopen(f"{self.url}/healthz", timeout=5).close()  # noqa: S310 - our own
            return True
        return False

    @property
    def web(self) -> "subprocess.Popen[bytes]":
        """The web server. Raises RuntimeError where none is running."""
        if self._web is None:
            raise RuntimeError("the web server is not running")
        return self._web

    def kill(self) -> None:
        """SIGKILL every process of the arena at once."""
        for process in [*([self._web] if self._web else []), *self._workers]:
            self._kill(process)
        self._web, self._workers = None, []

    def query(self, sql: str) -> list[Any]:
        """The rows of an SQL query, past the code under test."""
        url = self.environment["DATABASE_URL"]
        is_file = url.startswith("sqlite")
        opened = sqlite3.connect(urlsplit(url).path, timeout=30) if is_file else psycopg.connect(url)
        with closing(opened):
            return opened.execute(sql).fetchall()

    def _start_worker(self) -> "subprocess.Popen[bytes]":
        return self._spawn("workers", "worker")

    def _spawn(self, log: str, *arguments: str) -> "subprocess.Popen[bytes]":
        with (self.folder / f"{log}.log").open("ab") as file:
            return subprocess.Popen(
                [sys.executable, "manage.py", *arguments],
                cwd=ROOT,
                env=self.environment,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @staticmethod
    def _kill(process: "subprocess.Popen[bytes]") -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
