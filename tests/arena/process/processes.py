"""Running the frame as an operator does: make and manage.py in processes of their own."""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[3]


def free_port() -> int:
    """A port of 127.0.0.1 for a server that starts later, and perhaps again.

    Below those that the system hands out by itself, for another test would get it in the meantime.
    """
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def environment(**overrides: str) -> dict[str, str]:
    """The least a process needs: nothing of the arena's own variables but the given ones."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, "PYTHON": sys.executable, **overrides}


def bare_project(folder: Path) -> Path:
    """What `make` reads before anything is installed, without .venv."""
    (folder / "arena" / "process").mkdir(parents=True)
    for name in (
        "Makefile",
        "requirements-uv.txt",
        "requirements.txt",
        "arena/__init__.py",
        "arena/process/__init__.py",
        "arena/process/bootstrap.py",
    ):
        shutil.copy(ROOT / name, folder / name)
    return folder


def make(folder: Path, target: str, **overrides: str) -> subprocess.CompletedProcess[str]:
    """Run make to its end; standard output and error are kept apart."""
    return subprocess.run(
        ["make", target],
        cwd=folder,
        env=environment(**overrides),
        capture_output=True,
        text=True,
        timeout=120,
    )


def manage(*arguments: str, **overrides: str) -> subprocess.CompletedProcess[str]:
    """Run a manage.py command of this project to its end."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(**overrides),
        capture_output=True,
        text=True,
        timeout=120,
    )


class Server:
    """`manage.py serve` in a process group of its own, as a terminal would start it."""

    def __init__(self, **overrides: str) -> None:
        self.port = free_port()
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "serve"],
            cwd=ROOT,
            env=environment(PORT=str(self.port), **overrides),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def get(self, path: str) -> str:
        """The body of a page, waiting for the server to come up."""
        deadline = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}") as reply:
                    return str(reply.read().decode())
            except urllib.error.URLError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(self.end(signal.SIGKILL)) from None
                time.sleep(0.05)

    def end(self, number: signal.Signals) -> str:
        """Send a signal to the whole group, as Ctrl-C does, and wait; everything the server printed."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)
        return self.process.communicate(timeout=30)[0]

    def left_behind(self) -> bool:
        """Whether any process of the group still exists."""
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return False
        return True
