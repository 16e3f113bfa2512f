"""503 and a sentence while the database is locked or away: whoever asked may ask again."""

from collections.abc import Callable

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

RETRY_SECONDS = 10
BUSY = (
    "The arena is busy storing data, for example an import. Nothing was lost; please try again in a moment."
)
AWAY = (
    "The arena's database does not answer. Please try again in a moment; what is sent twice is stored once."
)
CONNECTION_ERRORS = ("08", "57P")
"""Beginnings of PostgreSQL's codes for a lost connection, or a server that starts or stops."""


class BusyDatabaseMiddleware:
    """Answers 503 with a sentence while the database is locked or away."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        sentence = trouble(exception)
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
