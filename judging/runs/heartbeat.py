"""Which worker processes live: each says so every few seconds, and notices those that have fallen silent.

What a dead process asked is over at once: its calls are abandoned, and take no more places. Nobody trusts the
clock of another machine; whoever sees no change for a while, by its own clock, takes the other for dead.
"""

import logging
import os
import secrets
import socket
import threading
import time
from datetime import datetime
from functools import cache
from typing import Final

from django.db import close_old_connections
from django.utils import timezone

from arena.process.sweep import sweep_once
from judging.models import JudgeCall, WorkerProcess
from judging.models.requests import standing

logger = logging.getLogger(__name__)

BEAT: Final = 2.0  # seconds
SILENT: Final = 15.0  # seconds after which a process is taken for dead


def this_worker() -> str:
    """Name this process among all that ever ask models."""
    return _name_of(os.getpid())


@cache
def _name_of(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}:{secrets.token_hex(4)}"


class Heartbeat:
    """The other processes, as one process knows them."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[datetime, float]] = {}  # with the time of this process
        self._last = time.monotonic()

    def beat(self) -> list[str]:
        """Say that this process lives; end the calls of those that have died, and return which."""
        now, own = time.monotonic(), this_worker()
        if now - self._last > 2 * BEAT:  # the database was away, or this process slept: it knows nothing
            self._seen.clear()
        WorkerProcess.objects.bulk_create(
            [WorkerProcess(name=own, seen_at=timezone.now())],
            update_conflicts=True,
            unique_fields=["name"],
            update_fields=["seen_at"],
        )
        told = dict(WorkerProcess.objects.exclude(name=own).values_list("name", "seen_at"))
        kept = {name: self._seen.get(name, (at, now)) for name, at in told.items()}
        self._seen = {name: kept[name] if kept[name][0] == at else (at, now) for name, at in told.items()}
        dead = sorted(name for name, (_, since) in self._seen.items() if now - since >= SILENT)
        for name in dead:
            bury(name, self._seen[name][0])
        self._last = now
        return dead


def bury(name: str, seen_at: datetime) -> None:
    """Let the calls of a dead process be over."""
    gone = WorkerProcess.objects.filter(name=name, seen_at=seen_at)
    if gone.exists():
        logger.warning("The worker %s has died; what it asked counts as abandoned", name)
        own = {"worker": name, "state": "in_flight"}
        JudgeCall.objects.filter(**own).update(deadline=timezone.now())
        for calls in standing():
            calls._default_manager.filter(**own).update(deadline=timezone.now())
        gone.delete()
        sweep_once()


def start() -> None:
    """Beat in a thread for as long as this process lives."""
    threading.Thread(target=_beat_on, name="heartbeat", daemon=True).start()


def _beat_on() -> None:
    heart = Heartbeat()
    while True:
        try:
            heart.beat()
        except Exception as error:  # the database is away
            logger.warning("The heartbeat failed; it is tried again in %s s: %s", BEAT, error)
        close_old_connections()
        time.sleep(BEAT)
