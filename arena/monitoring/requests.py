"""Gives every request an id, and counts, times and logs it."""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve

from arena.monitoring.logs import begin_request
from arena.monitoring.metrics import REQUESTS, SECONDS

logger = logging.getLogger(__name__)
METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class RequestMiddleware:
    """The first of all, so that it sees what the others answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        if settings.METRICS_DIR:
            Path(settings.METRICS_DIR).mkdir(parents=True, exist_ok=True)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        number = begin_request(request.headers.get("X-Request-ID", ""))
        started = time.perf_counter()
        response = self.get_response(request)
        seconds = time.perf_counter() - started
        response["X-Request-ID"] = number
        told = {"view": view_of(request), "method": method_of(request), "status": response.status_code}
        SECONDS.labels(told["view"], told["method"]).observe(seconds)
        REQUESTS.labels(**told).inc()
        logger.info("request", extra={**told, "seconds": round(seconds, 4)})
        return response


def view_of(request: HttpRequest) -> str:
    """The name of what answers, never the address itself: that may hold a secret, and has no end."""
    try:
        # A page that is kept is answered before anybody looks for its view.
        found = request.resolver_match or resolve(request.path_info)
    except Resolver404:
        return "none"
    return found.view_name or found.route


def method_of(request: HttpRequest) -> str:
    return request.method if request.method in METHODS else "other"
