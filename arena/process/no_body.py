"""Answers HEAD without the body of the page, which waitress would send."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase


class NoBodyMiddleware:
    """Outside of what sets headers by the body, which stay as they are for GET."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        is_head = request.method == "HEAD"  # asked before, as the API has it answered like GET
        response = self.get_response(request)
        if is_head and isinstance(response, StreamingHttpResponse):
            response.streaming_content = ()
        elif is_head and isinstance(response, HttpResponse):
            response.content = b""
        return response
