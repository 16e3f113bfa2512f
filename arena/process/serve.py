"""The web server: gunicorn with threads, and with a broker in memory the worker inside it."""

import fcntl
import hashlib
import logging
import os
import shutil
import signal
import socket
import struct
import sys
from io import TextIOWrapper
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import connections
from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger

from arena.process.environment import local_url
from arena.process.memory import spare_what_stays
from arena.process.receiving import PATIENCE_SECONDS, PatientWorker

STOP_SECONDS = 2  # for what is in flight
EXIT_SECONDS = 4  # until a worker that has not gone is killed: on a busy machine its exit takes a while
KEEP_ALIVE_SECONDS = 30  # people look at a page for longer than the usual two
SWITCH_SECONDS = 0.001  # a request comes back from the database many times, and waits this long for others


class ServerError(Exception):
    """The server cannot start; the message is one sentence."""


class ServerLogger(Logger):  # type: ignore[misc]
    """Leaves what gunicorn says to the logging of the arena."""

    def setup(self, cfg: Any) -> None:
        self.error_log.propagate = True
        self.error_log.setLevel(logging.WARNING)
        self.error_log.addFilter(_is_of_us)


class ArenaServer(BaseApplication):  # type: ignore[misc]
    """gunicorn configured by the Django settings."""

    def load_config(self) -> None:
        host = f"[{settings.HOST}]" if ":" in settings.HOST else settings.HOST
        options: dict[str, Any] = {
            "bind": f"{host}:{settings.PORT}",
            "workers": settings.WEB_WORKERS,
            "threads": settings.WEB_THREADS,
            "worker_class": PatientWorker,
            "preload_app": True,
            "graceful_timeout": EXIT_SECONDS,
            "keepalive": KEEP_ALIVE_SECONDS,
            "timeout": 120,
            "logger_class": ServerLogger,
            "control_socket_disable": True,
            "limit_request_line": 0,  # a long one is answered by the application, in the form of its address
            "forwarder_headers": "",  # a proxy passes on what a client calls SCRIPT_NAME
            "when_ready": _when_ready,
            "post_fork": _post_fork,
            "post_worker_init": _post_worker_init,
            "worker_exit": _worker_exit,
        }
        for name, value in options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        application = get_wsgi_application()
        # What is forked must not share a connection with its parent.
        for connection in connections.all(initialized_only=True):
            connection.close()
            if hasattr(connection, "close_pool"):
                connection.close_pool()
        return application


def serve() -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP. Raises ServerError."""
    _require_free_port()
    lock = only_server() if settings.EMBEDDED_WORKER else None
    if settings.METRICS_DIR:
        shutil.rmtree(settings.METRICS_DIR, ignore_errors=True)  # counts of processes that are gone
    try:
        ArenaServer().run()
    finally:
        if lock:
            lock.close()


def _require_free_port() -> None:
    family = socket.AF_INET6 if ":" in settings.HOST else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.HOST, settings.PORT))
        except OSError as error:
            raise ServerError(
                f"Cannot listen on {settings.HOST}:{settings.PORT} ({error.strerror}); "
                "stop what runs there or choose another port with PORT=8001."
            ) from error


def only_server() -> TextIOWrapper:
    """Lock the database until the file is closed: two embedded workers would take each other's work for lost.

    Raises ServerError.
    """
    digest = hashlib.sha256(settings.DATABASE_URL.encode()).hexdigest()[:12]
    file = (settings.VAR_DIR / f"serve-{digest}.lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise ServerError(
            "Another arena is already serving this database; stop it first, or give this one its own VAR_DIR."
        ) from error
    return file


def limit_waiting(listener: socket.socket) -> None:
    """Let no client hold a thread that does not read its reply: eight would keep everybody waiting.

    Accepted connections inherit the limit. Linux alone can wait with accepting a connection until something
    was sent, as browsers that open connections ahead ask for.
    """
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", PATIENCE_SECONDS, 0))
    if hasattr(socket, "TCP_DEFER_ACCEPT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, PATIENCE_SECONDS)


def _is_of_us(record: logging.LogRecord) -> bool:
    """Whether it tells of more than a client that does not read."""
    return not (record.exc_info and isinstance(record.exc_info[1], BlockingIOError))


def _when_ready(server: Any) -> None:
    for listener in server.LISTENERS:
        limit_waiting(listener.sock)
    # gunicorn reloads on SIGHUP; a closed terminal must stop the arena instead of leaving it behind.
    signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    sys.stdout.write(f"Likert Arena runs on {local_url(settings.HOST, settings.PORT)}/ (Ctrl-C stops it)\n")
    sys.stdout.flush()


def _post_fork(server: Any, worker: Any) -> None:
    worker.cfg.set("graceful_timeout", STOP_SECONDS)
    spare_what_stays()
    sys.setswitchinterval(SWITCH_SECONDS)
    if settings.EMBEDDED_WORKER:
        from arena.process.worker import EmbeddedWorker

        worker.embedded = EmbeddedWorker()
        worker.embedded.start()


def _post_worker_init(worker: Any) -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the terminal's word to all; the parent passes on a SIGTERM
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, _leave)


def _leave(*_: object) -> None:
    """gunicorn's own handler waits for a lock of the threads, which what it interrupts may hold."""
    _ignore_stops()
    sys.exit(0)


def _ignore_stops() -> None:
    """Terminal and parent both ask to stop; the second must not interrupt what ends the worker."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, lambda *_: None)  # Python reports one that has come and then finds SIG_IGN


def _worker_exit(server: Any, worker: Any) -> None:
    """Stop the embedded worker and leave at once, without waiting for replies.

    Calls cut off here are counted as abandoned at the next start.
    """
    if not worker.booted:
        return  # the exit code tells gunicorn that starting another one is useless
    _ignore_stops()
    embedded = getattr(worker, "embedded", None)
    if embedded:
        embedded.stop(timeout=STOP_SECONDS / 2)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
