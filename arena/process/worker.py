"""The worker: takes tasks of queues, each with slots of its own, so that none of them waits for another's.

With a broker in memory it is part of the web process, else `manage.py worker`.
"""

import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Iterable
from typing import Any

from celery import Celery, current_app, signals
from celery.worker import WorkController, state
from django.conf import settings
from django.db import close_old_connections
from django.utils.module_loading import import_string

from arena.process.sweep import Sweeper, run_logged

logger = logging.getLogger(__name__)
_started: list["Worker"] = []  # of this process


def embedded_worker_alive() -> bool:
    return any(worker.is_alive() for worker in _started)


class Worker:
    """Tasks of the queues in threads, and the sweep beside them."""

    def __init__(self, queues: Iterable[str]) -> None:
        queues = list(queues)
        self._lanes = [_Lane(queue) for queue in queues]
        self._askers = [_asker(queue) for queue in queues if queue in settings.DOORS]
        self._sweeper = Sweeper()

    def start(self) -> None:
        """Take tasks from now on; in the web process, settle first what an earlier one left behind."""
        for path in settings.EMBEDDED_START if settings.EMBEDDED_WORKER else settings.WORKER_START:
            run_logged(path)
        close_old_connections()
        state.should_stop = None
        for each in (signals.task_prerun, signals.task_postrun):
            each.connect(close_old_connections)
        current_app.loader.import_default_modules()
        for lane in self._lanes:
            lane.start()
        self._sweeper.start()
        for each in self._askers:
            each.start()
        _started.append(self)

    def stop(self, timeout: float) -> None:
        """Take no more tasks, and wait so many seconds in all for those at work."""
        until = time.monotonic() + timeout
        for lane in self._lanes:
            lane.stopping.set()
        state.should_stop = 0
        for each in self._askers:
            each.stop()
        self._sweeper.stop(min(timeout / 2, 1))
        for lane in self._lanes:
            lane.join(max(until - time.monotonic(), 0))
        for each in self._askers:
            each.stop(max(until - time.monotonic(), 0))
        # As it stops, each lane has celery set this to a few seconds and then to what it was. Lanes that stop
        # at once would leave some seconds to every socket that the process opens afterwards.
        socket.setdefaulttimeout(None)

    def is_alive(self) -> bool:
        return all(each.is_alive() for each in (*self._askers, self._sweeper, *self._lanes))


def _asker(queue: str) -> Any:
    """Return what asks models for a queue in threads of its own (judging.worker.worker.Worker)."""
    door = import_string(settings.DOORS[queue])
    return import_string(settings.ASKER)(door, settings.QUEUES[queue], queue)


class _Lane(threading.Thread):
    """One queue with its slots. Begins again when Celery gives up, as it may do when Redis goes away."""

    def __init__(self, queue: str) -> None:
        super().__init__(name=f"worker-{queue}", daemon=True)
        self.stopping = threading.Event()
        self._queue = queue
        # An app for each, because an app knows only one set of queues to take from.
        self._app = Celery("arena", set_as_current=False, fixups=[])
        self._app.config_from_object("django.conf:settings", namespace="CELERY")

    def run(self) -> None:
        while not self.stopping.is_set():
            try:
                self._take_tasks()
            except Exception:
                logger.exception("The worker of the queue %s failed", self._queue)
            if not self.stopping.wait(1):
                logger.error("The worker of the queue %s ended unexpectedly; starting a new one", self._queue)

    def _take_tasks(self) -> None:
        WorkController(
            app=self._app,
            hostname=worker_name(self._queue),
            queues=[self._queue],
            pool_cls="threads",
            concurrency=settings.QUEUES[self._queue],
            use_eventloop=False,  # there is one for each process, and lanes would share it
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
        ).start()


def worker_name(queue: str) -> str:
    """What the worker of a queue in this process is called; health asks for all that begin with the queue."""
    return f"{queue}@{socket.gethostname()}-{os.getpid()}"


def work(queues: Iterable[str]) -> None:
    """Take tasks until SIGTERM or SIGINT; then end what is begun. A second one ends the process at once."""
    asked = threading.Event()

    def stop(*_: object) -> None:
        if asked.is_set():
            os._exit(1)
        asked.set()

    worker = Worker(queues)
    worker.start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    asked.wait()
    worker.stop(settings.WORKER_STOP_SECONDS)
    os._exit(0)  # threads that still wait for a model are cut off; their calls are asked again
