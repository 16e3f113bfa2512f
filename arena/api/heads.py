"""HEAD for every GET of the API: the same reply without its body."""

from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse

PREFIX: Final = "/api/"


class HeadMiddleware:
    """Answers HEAD below PREFIX as GET: the router of the API knows the methods of its operations alone."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method != "HEAD" or not request.path_info.startswith(PREFIX):
            return self._get_response(request)
        request.method = "GET"
        response = self._get_response(request)
        response["Content-Length"] = str(len(response.content))
        response.content = b""
        return response
