"""/healthz: whether the database answers. /readyz: whether anything is missing that the arena needs."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from celery import current_app
from django.conf import settings
from django.core.cache import caches
from django.db import DatabaseError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

logger = logging.getLogger(__name__)
PING_SECONDS = 0.5
CONNECT_SECONDS = 2  # the least that PostgreSQL's client takes
REMEMBER_SECONDS = 10.0


@dataclass(frozen=True)
class Workers:
    """Whether the broker answers, and which queues somebody works on."""

    broker: bool
    queues: dict[str, bool]


remembered = caches["counts"]
"""What this process has found lately, so that asking often costs little."""


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Status 503 if the database does not answer."""
    database = database_answers()
    return _reply({"database": "ok" if database else "unreachable", "worker": _worker()}, is_well=database)


@require_safe
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """Status 503 with all that is missing, in sentences."""
    missing = list(_missing())
    if missing:
        logger.warning("Not ready: %s", " ".join(missing))
    return _reply({"ready": not missing, "missing": missing}, is_well=not missing)


def _reply(found: dict[str, Any], *, is_well: bool) -> JsonResponse:
    response = JsonResponse({**found, "version": settings.VERSION}, status=200 if is_well else 503)
    # Django would write an error for each 503; nothing failed here, and a warning says what is missing.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def _missing() -> Iterator[str]:
    if not database_answers():
        yield "The database does not answer."
    elif not _is_migrated():
        yield f"Migrations are missing: run {settings.COMMAND} migrate."
    workers = _workers()
    if not workers.broker:
        yield "The broker does not answer."
        return
    for queue, is_served in workers.queues.items():
        if not is_served:
            yield f"No worker takes tasks from the queue {queue}."


def database_answers() -> bool:
    """Whether it does, soon."""
    asked = _own_connection() if connection.vendor == "postgresql" else connection
    try:
        with asked.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        logger.warning("The database does not answer: %s", error)
        return False
    finally:
        if asked is not connection:
            asked.close()
    return True


def _own_connection() -> BaseDatabaseWrapper:
    """One that waits neither for a place in the pool nor for a server that hangs."""
    own = connection.copy()
    own.settings_dict["OPTIONS"].pop("pool", None)
    own.settings_dict["OPTIONS"]["connect_timeout"] = CONNECT_SECONDS
    return own


def _is_migrated() -> bool:
    if remembered.get("migrated"):
        return True
    loader = MigrationLoader(connection)
    found = loader.disk_migrations.keys() <= loader.applied_migrations.keys()
    if found:  # and so for as long as this version runs
        remembered.set("migrated", True, None)
    return found


def _worker() -> str:
    """embedded, seen (a worker answered within the last seconds) or none."""
    if not any(_workers().queues.values()):
        return "none"
    return "embedded" if settings.EMBEDDED_WORKER else "seen"


def _workers() -> Workers:
    if settings.EMBEDDED_WORKER:
        from arena.process.worker import embedded_worker_alive  # half a second of imports

        return Workers(broker=True, queues=dict.fromkeys(settings.QUEUES, embedded_worker_alive()))
    return cast("Workers", remembered.get_or_set("workers", _ask_workers, REMEMBER_SECONDS))


def _ask_workers() -> Workers:
    try:
        soon = {"socket_timeout": 2 * PING_SECONDS}  # longer than the answer of a worker takes
        with current_app.connection_for_write(connect_timeout=PING_SECONDS, transport_options=soon) as broker:
            broker.ensure_connection(max_retries=1, interval_start=0, timeout=PING_SECONDS)
            return Workers(True, {queue: _is_served(queue, broker) for queue in settings.QUEUES})
    except Exception:  # each transport raises errors of its own
        logger.warning("The broker does not answer")
        return Workers(False, dict.fromkeys(settings.QUEUES, False))


def _is_served(queue: str, broker: Any) -> bool:
    """Whether a worker of the queue answers; its name begins with it."""
    asked = {"pattern": f"{queue}@*", "matcher": "glob", "limit": 1, "timeout": PING_SECONDS}
    return bool(current_app.control.broadcast("ping", reply=True, connection=broker, **asked))
