"""The periodic sweep, which finds in the database what is due when messages were lost.

The functions are named in settings.SWEEPS because they live in the apps above.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import close_old_connections, connection, connections
from django.utils.module_loading import import_string

from arena.process.busy import trouble

logger = logging.getLogger(__name__)
LOCK_NUMBER = 0x417265_6E61  # one advisory lock of the database, taken by whoever sweeps


def sweep_once() -> None:
    """Call every sweep, unless another process is sweeping; one that fails does not stop the others."""
    with _only_sweeper() as free:
        for path in settings.SWEEPS if free else ():
            run_logged(path)


def run_logged(path: str) -> None:
    """Call the function with this dotted path; exceptions are logged."""
    try:
        import_string(path)()
    except Exception as error:
        if trouble(error):  # which passes by itself, and is no fault of the sweep
            logger.warning("%s could not write (%s); it is tried again at the next sweep", path, error)
        else:
            logger.exception("%s failed; it is tried again at the next sweep", path)


@contextmanager
def _only_sweeper() -> Iterator[bool]:
    """Whether this process may sweep now; on SQLite always, which serves one process."""
    if connection.vendor != "postgresql":
        yield True
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK_NUMBER])
        free: bool = cursor.fetchone()[0]
    try:
        yield free
    finally:
        if free:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK_NUMBER])


class Sweeper(threading.Thread):
    """A thread that sweeps every settings.SWEEP_SECONDS."""

    def __init__(self) -> None:
        super().__init__(name="sweeper", daemon=True)
        self._stopping = threading.Event()

    def stop(self, timeout: float | None = None) -> None:
        self._stopping.set()
        self.join(timeout)

    def run(self) -> None:
        while True:
            try:
                sweep_once()
            except Exception:  # the database itself is away: say so and try again
                logger.exception("The sweep failed; it is tried again in %s s", settings.SWEEP_SECONDS)
            close_old_connections()
            if self._stopping.wait(settings.SWEEP_SECONDS):
                break
        connections.close_all()
