"""503 and a sentence while the database is locked, away or full: whoever asked may ask again."""

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

RETRY_SECONDS = 10
BUSY = (
    "The arena is busy storing data, for example an import. Nothing was lost; please try again in a moment."
)
AWAY = "The arena's database does not answer. Please try again in a moment; nothing is stored twice."
FULL = (
    "The arena's disk is full, so it cannot store anything. What it had stored is safe; please tell whoever "
    "runs it, and try again later."
)
DISK_FULL = ("53100", "SQLITE_IOERR_SHMSIZE")
"""PostgreSQL's code; and SQLite's where there is no byte left even to begin a transaction."""
CONNECTION_ERRORS = ("08", "57P")
"""Beginnings of PostgreSQL's codes for a lost connection, or a server that starts or stops."""


class BusyDatabaseMiddleware(MiddlewareMixin):
    """Answers 503 with a sentence while the database is locked, away or full."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        sentence = trouble(exception) or (FULL if disk_is_full(exception) else "")
        if not sentence:
            return None
        if request.path.startswith("/api/"):
            response: HttpResponse = JsonResponse({"detail": sentence, "field": None}, status=503)
        else:
            response = render(request, "503.html", {"sentence": sentence}, status=503)
        response["Retry-After"] = str(RETRY_SECONDS)
        return response


def trouble(exception: BaseException) -> str:
    """What to tell people if the error passes by itself, else ""."""
    if not isinstance(exception, OperationalError | InterfaceError):
        return ""
    if "database is locked" in str(exception):
        return BUSY
    # The driver of PostgreSQL gives no code where there was no server to give one.
    code = getattr(exception.__cause__, "sqlstate", "not of PostgreSQL") or "08"
    return AWAY if code.startswith(CONNECTION_ERRORS) else ""


def disk_is_full(exception: BaseException) -> bool:
    """Whether the database had no room. That does not pass by itself: somebody has to make room."""
    if not isinstance(exception, OperationalError):
        return False
    cause = exception.__cause__
    code = getattr(cause, "sqlstate", "") or getattr(cause, "sqlite_errorname", "")
    return code in DISK_FULL or "database or disk is full" in str(exception)
