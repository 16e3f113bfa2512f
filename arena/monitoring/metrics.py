"""/metrics for Prometheus: what requests took, counted here, and what the database says when it is asked."""

import ipaddress
import logging
import secrets
from collections.abc import Iterator

from django.conf import settings
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.module_loading import import_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, Counter, Histogram, Metric, generate_latest, multiprocess
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from arena.monitoring.health import database_answers

logger = logging.getLogger(__name__)

REQUESTS = Counter("arena_http_requests", "Requests answered.", ["view", "method", "status"])
SECONDS = Histogram(
    "arena_http_request_seconds",
    "Seconds until a reply began.",
    ["view", "method"],
    buckets=(0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)


class StoredFigures(Collector):
    """Collect what the functions in settings.METRICS read from the database, each name as one family."""

    def collect(self) -> Iterator[Metric]:
        found: dict[str, Metric] = {}
        try:
            if database_answers():
                for metric in (metric for path in settings.METRICS for metric in import_string(path)()):
                    family = Metric(metric.name, metric.documentation, metric.type)
                    found.setdefault(metric.name, family).samples += metric.samples
        except DatabaseError as error:
            logger.warning("The figures in the database cannot be read: %s", error)
            found = {}
        yield GaugeMetricFamily("arena_database_up", "Whether the database answers.", value=bool(found))
        yield from found.values()


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Text for Prometheus, for whoever has METRICS_TOKEN, or without one for this machine alone."""
    if not may_read(request):
        raise Http404
    registry = CollectorRegistry()
    if settings.METRICS_DIR:
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(REQUESTS)
        registry.register(SECONDS)
    registry.register(StoredFigures())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def may_read(request: HttpRequest) -> bool:
    """Whether the request has the token; without a token, whether it comes from here and past no proxy."""
    if settings.METRICS_TOKEN:
        given = request.headers.get("Authorization", "")
        return secrets.compare_digest(given.encode(), f"Bearer {settings.METRICS_TOKEN}".encode())
    if any(name in request.headers for name in ("X-Forwarded-For", "X-Forwarded-Proto", "Forwarded")):
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
