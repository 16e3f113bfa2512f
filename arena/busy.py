"""What people and judges are told while something long, such as an import, keeps the database for itself.

SQLite lets one transaction write at a time and the others wait, but not for ever. Then nothing is broken, and
whoever asked may ask again.
"""

from collections.abc import Callable

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

RETRY_SECONDS = 10
SENTENCE = (
    "The arena is busy storing data, for example an import. Nothing was lost; please try again in a moment."
)


class BusyDatabaseMiddleware:
    """Answers 503 with a sentence, in place of 500, where a write waited in vain."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """The answer to a locked database; None for every other error."""
        if not isinstance(exception, OperationalError) or "database is locked" not in str(exception):
            return None
        if request.path.startswith("/api/"):
            response: HttpResponse = JsonResponse({"detail": SENTENCE, "field": None}, status=503)
        else:
            response = render(request, "503.html", {"sentence": SENTENCE}, status=503)
        response["Retry-After"] = str(RETRY_SECONDS)
        return response
