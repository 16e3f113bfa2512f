"""/healthz: whether the database answers and whether anybody works on the task queue."""

import logging
import time

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from arena.celery import app

logger = logging.getLogger(__name__)
PING_SECONDS = 0.5
REMEMBER_SECONDS = 10.0
_last_ping: tuple[float, bool] = (float("-inf"), False)


@require_safe
@never_cache
def healthz(request: HttpRequest) -> JsonResponse:
    """Status 503 if the database does not answer."""
    database = _database_answers()
    return JsonResponse(
        {"database": "ok" if database else "unreachable", "worker": _worker(), "version": settings.VERSION},
        status=200 if database else 503,
    )


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        logger.exception("The database does not answer")
        return False
    return True


def _worker() -> str:
    """embedded, seen (a worker answered within the last seconds) or none."""
    global _last_ping
    if settings.EMBEDDED_WORKER:
        from arena.process.worker import embedded_worker_alive  # half a second of imports

        return "embedded" if embedded_worker_alive() else "none"
    asked, seen = _last_ping
    if time.monotonic() - asked > REMEMBER_SECONDS:
        seen = _worker_answers()
        _last_ping = (time.monotonic(), seen)
    return "seen" if seen else "none"


def _worker_answers() -> bool:
    try:
        with app.connection_for_write(connect_timeout=PING_SECONDS) as broker:
            broker.ensure_connection(max_retries=1, timeout=PING_SECONDS)
            return bool(app.control.ping(timeout=PING_SECONDS, limit=1, connection=broker))
    except Exception:  # each transport raises errors of its own
        logger.warning("The broker does not answer")
        return False
