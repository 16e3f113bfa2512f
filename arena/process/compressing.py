"""Sends text compressed, where no secret stands in it."""

from typing import Final

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

PRIVATE: Final = ("/account/", "/admin/", "/join/", "/judging/", "/operate/")
"""Pages that may show a password, a key or a link to join. Whoever makes their reader ask again and
again could guess these from the size of what comes back compressed (BREACH)."""

TEXTS: Final = ("text/", "application/json", "application/x-ndjson", "image/svg+xml")
"""Beginnings of the content types that are worth compressing."""


class CompressingMiddleware(GZipMiddleware):
    """Adds noise to sizes, too; tokens of forms are masked anew for each page."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if request.path.startswith(PRIVATE) or not response.get("Content-Type", "").startswith(TEXTS):
            return response
        return super().process_response(request, response)
