"""Figures about ratings and imports, read from the database."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count, Min
from django.utils import timezone
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from arena.models import ImportJob
from arena.models.comparisons import Opinion
from arena.rating.tasks import TASKS


def metrics() -> Iterator[Metric]:
    recorded = GaugeMetricFamily(
        "arena_ratings_recorded",
        "Ratings, scores and checks in the database, by task and where they came from.",
        labels=["task", "source"],
    )
    for task in TASKS.values():
        rows = task.model._default_manager.order_by().values_list("source")
        counted = dict(rows.annotate(n=Count("pk")))
        for source in Opinion.Source.values:
            recorded.add_metric([task.kind, source], counted.get(source, 0))
    yield recorded
    waiting = ImportJob.objects.running().aggregate(n=Count("pk"), since=Min("touched_at"))
    yield from queue_metrics("imports", waiting["n"], age(waiting["since"]))


def queue_metrics(queue: str, waiting: int, seconds: float) -> Iterator[Metric]:
    """The two figures that every queue has."""
    depth = GaugeMetricFamily("arena_queue_depth", "Work that is due and not done.", labels=["queue"])
    depth.add_metric([queue], waiting)
    yield depth
    oldest = GaugeMetricFamily(
        "arena_queue_oldest_seconds", "How long due work has waited without progress.", labels=["queue"]
    )
    oldest.add_metric([queue], seconds)
    yield oldest


def age(since: datetime | None) -> float:
    """Seconds since then; 0 for never."""
    return max((timezone.now() - since).total_seconds(), 0.0) if since else 0.0
