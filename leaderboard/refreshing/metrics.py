"""What the database says of computing leaderboards."""

from collections.abc import Iterator

from django.db.models import Count, Min, Q
from django.utils import timezone
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from arena.monitoring.recorded import age, queue_metrics
from leaderboard.models import ComputedView, Refresh, Snapshot


def metrics() -> Iterator[Metric]:
    newest = Snapshot.objects.complete().order_by("-pk").values("seconds", "created_at").first()
    seconds = GaugeMetricFamily("arena_refresh_seconds", "What the newest leaderboard took to compute.")
    finished = GaugeMetricFamily("arena_refresh_timestamp_seconds", "When it was published, as a Unix time.")
    if newest:
        seconds.add_metric([], newest["seconds"])
        finished.add_metric([], newest["created_at"].timestamp())
    yield seconds
    yield finished
    yield GaugeMetricFamily(
        "arena_refresh_failing",
        "Studies whose last computation failed.",
        value=Refresh.objects.exclude(error="").count(),
    )
    yield from _wanted()


def _wanted() -> Iterator[Metric]:
    idle = Q(running_until=None) | Q(running_until__lte=timezone.now())
    boards = Refresh.objects.filter(idle, wanted_at__isnull=False).aggregate(
        n=Count("pk"), since=Min("wanted_at")
    )
    views = ComputedView.objects.filter(idle, state="wanted").aggregate(n=Count("pk"), since=Min("wanted_at"))
    oldest = min((found["since"] for found in (boards, views) if found["since"]), default=None)
    yield from queue_metrics("statistics", boards["n"] + views["n"], age(oldest))
