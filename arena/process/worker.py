"""The Celery worker as a thread of the web process, for a broker in memory."""

import logging
import threading

from celery import signals
from celery.worker import WorkController, state
from django.conf import settings
from django.db import close_old_connections

from arena.celery import app
from arena.process.sweep import Sweeper, run_logged

logger = logging.getLogger(__name__)
_started: list["EmbeddedWorker"] = []  # of this process


def embedded_worker_alive() -> bool:
    return any(worker.is_alive() for worker in _started)


class EmbeddedWorker:
    """Runs tasks in settings.CELERY_WORKER_CONCURRENCY threads, and the sweep beside them."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="worker", daemon=True)
        self._sweeper = Sweeper()

    def start(self) -> None:
        """Settle what an earlier process left behind, then take tasks."""
        for path in settings.EMBEDDED_START:
            run_logged(path)
        close_old_connections()
        for signal in (signals.task_prerun, signals.task_postrun):
            signal.connect(_close_old_connections)
        self._thread.start()
        self._sweeper.start()
        _started.append(self)

    def stop(self, timeout: float) -> None:
        self._stopping.set()
        state.should_stop = 0
        self._sweeper.stop(timeout)
        self._thread.join(timeout)

    def is_alive(self) -> bool:
        return self._thread.is_alive() and self._sweeper.is_alive()

    def _run(self) -> None:
        while not self._stopping.is_set():
            WorkController(
                app=app,
                hostname="embedded@localhost",
                pool_cls="threads",
                concurrency=settings.CELERY_WORKER_CONCURRENCY,
                without_heartbeat=True,
                without_mingle=True,
                without_gossip=True,
            ).start()
            if not self._stopping.wait(1):
                logger.error("The embedded worker ended unexpectedly; starting a new one")


def _close_old_connections(**_: object) -> None:
    close_old_connections()
