"""The web server: processes that share a listening socket, and with a broker in memory the worker inside."""

import fcntl
import hashlib
import logging
import os
import resource
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import CommandError
from django.core.wsgi import get_wsgi_application
from django.db import connection, connections

from arena.process.environment import local_url
from arena.process.web import BACKLOG, MOST_CONNECTIONS, WebServer

logger = logging.getLogger(__name__)

STOP_SECONDS: Final = 2
"""For what is in flight."""

EXIT_SECONDS: Final = 4
"""Until a process that has not gone is killed: on a busy machine its exit takes a while."""

RESTART_SECONDS: Final = 1
SWITCH_SECONDS: Final = 0.001
"""A request comes back from the database many times, and waits this long for others."""

FILES: Final = 4 * MOST_CONNECTIONS
"""Open files of a process: a connection, and what waits on the disk of its request and replies."""

STOPS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def serve() -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP. Raises CommandError."""
    with _listening() as listener, only_server():
        if settings.METRICS_DIR:
            shutil.rmtree(settings.METRICS_DIR, ignore_errors=True)  # counts of processes that are gone
        application = get_wsgi_application()
        # What is forked must not share a connection with its parent.
        for each in connections.all(initialized_only=True):
            each.close()
            if hasattr(each, "close_pool"):
                each.close_pool()
        _allow_files()
        address = local_url(settings.HOST, settings.PORT)
        sys.stdout.write(f"Likert Arena runs on {address}/ (Ctrl-C stops it)\n")
        sys.stdout.flush()
        Processes(lambda: _work(application, listener), settings.WEB_WORKERS).run()


@contextmanager
def _listening() -> Iterator[socket.socket]:
    is_v6 = ":" in settings.HOST
    try:
        listener = socket.create_server(
            (settings.HOST, settings.PORT),
            family=socket.AF_INET6 if is_v6 else socket.AF_INET,
            backlog=BACKLOG,
            dualstack_ipv6=is_v6 and socket.has_dualstack_ipv6(),
        )
    except OSError as error:
        raise CommandError(
            f"Cannot listen on {settings.HOST}:{settings.PORT} ({os.strerror(error.errno or 0)}); "
            "stop what runs there or choose another port with PORT=8001."
        ) from error
    with listener:
        yield listener


@contextmanager
def only_server() -> Iterator[None]:
    """Lock the database: two embedded workers would take each other's work for lost. Raises CommandError."""
    if not settings.EMBEDDED_WORKER:
        yield
        return
    with _lock_file().open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CommandError(
                "Another arena is already serving this database; stop it first, or give this one a database "
                "of its own with VAR_DIR or DATABASE_URL."
            ) from error
        yield


def _lock_file() -> Path:
    """Beside SQLite's file, which has several addresses but one place."""
    if connection.vendor == "sqlite":
        return Path(f"{Path(connection.settings_dict['NAME']).resolve()}-serve")
    digest = hashlib.sha256(settings.DATABASE_URL.encode()).hexdigest()[:12]
    return settings.VAR_DIR / f"serve-{digest}.lock"


def _allow_files() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if most == resource.RLIM_INFINITY else min(FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


class Processes:
    """Runs a function in processes of their own, each replaced when it ends, until told to stop."""

    def __init__(self, work: Callable[[], None], number: int) -> None:
        self._work = work
        self._number = number
        self._running: set[int] = set()
        self._is_stopping = False

    def run(self) -> None:
        for each in STOPS:
            signal.signal(each, self._stop)
        signal.signal(signal.SIGALRM, lambda *_: self._tell(signal.SIGKILL))
        for _ in range(self._number):
            self._start()
        while self._running:
            number, status = os.wait()
            self._running.discard(number)
            if not self._is_stopping:
                code = os.waitstatus_to_exitcode(status)
                logger.error("A web process ended unexpectedly (%s); starting another one", code)
                time.sleep(RESTART_SECONDS)
                self._start()

    def _start(self) -> None:
        if self._is_stopping:
            return
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)  # until the child has handlers of its own
        number = os.fork()
        if not number:
            try:
                self._work()
            except BaseException:
                logger.exception("A web process failed")
            os._exit(1)
        self._running.add(number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)

    def _stop(self, *_: Any) -> None:
        self._is_stopping = True
        self._tell(signal.SIGTERM)
        signal.alarm(EXIT_SECONDS)

    def _tell(self, number: int) -> None:
        for each in self._running:
            os.kill(each, number)


def _work(application: Any, listener: socket.socket) -> None:
    """Serve until told to leave, and exit without waiting for replies of models.

    Calls cut off here are counted as abandoned at the next start.
    """
    server = WebServer(application, listener)
    for each in STOPS:
        signal.signal(each, lambda *_: server.leave())
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the terminal's word to all; the parent passes on a SIGTERM
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
    sys.setswitchinterval(SWITCH_SECONDS)
    embedded = None
    if settings.EMBEDDED_WORKER:
        from arena.process.worker import Worker

        embedded = Worker(settings.QUEUES)
        embedded.start()
    server.run(STOP_SECONDS)
    if embedded:
        embedded.stop(timeout=STOP_SECONDS / 2)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
