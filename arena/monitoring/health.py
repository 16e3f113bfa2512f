"""/healthz: whether the database answers. /readyz: whether anything is missing that the arena needs."""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from arena.celery import app

logger = logging.getLogger(__name__)
PING_SECONDS = 0.5
REMEMBER_SECONDS = 10.0


@dataclass(frozen=True)
class Workers:
    """Whether the broker answers, and which queues somebody works on."""

    broker: bool
    queues: dict[str, bool]


@dataclass
class _Remembered:
    """What was found lately, so that asking often costs little."""

    workers: Workers | None = None
    asked: float = float("-inf")
    is_migrated: bool = False  # once it is, it stays so for as long as this version runs


_remembered = _Remembered()


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Status 503 if the database does not answer."""
    database = _database_answers()
    return JsonResponse(
        {"database": "ok" if database else "unreachable", "worker": _worker(), "version": settings.VERSION},
        status=200 if database else 503,
    )


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """Status 503 with all that is missing, in sentences."""
    missing = list(_missing())
    return JsonResponse(
        {"ready": not missing, "missing": missing, "version": settings.VERSION},
        status=503 if missing else 200,
    )


def _missing() -> Iterator[str]:
    if not _database_answers():
        yield "The database does not answer."
    elif not _is_migrated():
        yield "Migrations are missing: run manage.py migrate."
    workers = _workers()
    if not workers.broker:
        yield "The broker does not answer."
        return
    for queue, is_served in workers.queues.items():
        if not is_served:
            yield f"No worker takes tasks from the queue {queue}."


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        logger.exception("The database does not answer")
        return False
    return True


def _is_migrated() -> bool:
    if not _remembered.is_migrated:
        executor = MigrationExecutor(connection)
        _remembered.is_migrated = not executor.migration_plan(executor.loader.graph.leaf_nodes())
    return _remembered.is_migrated


def _worker() -> str:
    """embedded, seen (a worker answered within the last seconds) or none."""
    if not any(_workers().queues.values()):
        return "none"
    return "embedded" if settings.EMBEDDED_WORKER else "seen"


def _workers() -> Workers:
    if settings.EMBEDDED_WORKER:
        from arena.process.worker import embedded_worker_alive  # half a second of imports

        return Workers(broker=True, queues=dict.fromkeys(settings.QUEUES, embedded_worker_alive()))
    if _remembered.workers is None or time.monotonic() - _remembered.asked > REMEMBER_SECONDS:
        _remembered.workers, _remembered.asked = _ask_workers(), time.monotonic()
    return _remembered.workers


def _ask_workers() -> Workers:
    try:
        with app.connection_for_write(connect_timeout=PING_SECONDS) as broker:
            broker.ensure_connection(max_retries=1, timeout=PING_SECONDS)
            return Workers(True, {queue: _is_served(queue, broker) for queue in settings.QUEUES})
    except Exception:  # each transport raises errors of its own
        logger.warning("The broker does not answer")
        return Workers(False, dict.fromkeys(settings.QUEUES, False))


def _is_served(queue: str, broker: Any) -> bool:
    """Whether a worker of the queue answers; its name begins with it."""
    asked = {"pattern": f"{queue}@*", "matcher": "glob", "limit": 1}
    return bool(app.control.broadcast("ping", reply=True, timeout=PING_SECONDS, connection=broker, **asked))
