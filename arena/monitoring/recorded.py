"""What the database says of ratings and imports."""

import threading
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, QuerySet, Sum
from django.utils import timezone
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from arena.models import ImportJob, Study
from arena.models.comparisons import Opinion
from arena.models.querysets import MAY_COME_LATE
from arena.rating.tasks import TASKS


def metrics() -> Iterator[Metric]:
    recorded = GaugeMetricFamily(
        "arena_ratings_recorded",
        "Ratings, scores and checks in the database, by task and where they came from.",
        labels=["task", "source"],
    )
    changed = Study.objects.aggregate(n=Count("pk"), revisions=Sum("revision"))
    for task in TASKS.values():
        counted = _counts[task.kind].now(task.model, changed)
        for source in Opinion.Source.values:
            recorded.add_metric([task.kind, source], counted[source])
    yield recorded
    waiting = ImportJob.objects.running().aggregate(n=Count("pk"), since=Min("touched_at"))
    yield from queue_metrics("imports", waiting["n"], age(waiting["since"]))


class _Counted:
    """Opinions by source, counted once in a process and then only the new ones.

    Opinions are only added, and go with a change of their study.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changed: object = None
        self._until, self._counts = 0, Counter[str]()

    def now(self, opinions: type[Opinion], changed: object) -> Counter[str]:
        rows = opinions._default_manager.order_by()
        last = rows.aggregate(last=Max("pk"))["last"] or 0
        with self._lock:
            if changed != self._changed or last < self._until:
                self._changed, self._until, self._counts = changed, 0, Counter()
            if (settled := last - MAY_COME_LATE) > self._until:
                self._counts += _by_source(rows.filter(pk__gt=self._until, pk__lte=settled))
                self._until = settled
            return self._counts + _by_source(rows.filter(pk__gt=self._until))


def _by_source(rows: QuerySet[Any]) -> Counter[str]:
    return Counter(dict(rows.values_list("source").annotate(n=Count("pk"))))


_counts = {task: _Counted() for task in TASKS}


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
