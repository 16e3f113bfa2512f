"""What the database says of judge calls, of their cost, and of those that are due."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count, Min, Sum
from django.utils import timezone
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from arena.monitoring.recorded import age, queue_metrics
from judging.models import JudgeCall, JudgeRun, RunAssignment


def metrics() -> Iterator[Metric]:
    calls = GaugeMetricFamily(
        "arena_judge_calls", "Judge calls in the database, by what became of them.", labels=["outcome"]
    )
    states = JudgeCall.objects.order_by().values_list("state")
    counted = {
        state: (n, cached) for state, n, cached in states.annotate(n=Count("pk"), cached=Count("cached_from"))
    }
    for state in JudgeCall.State.values:
        n, cached = counted.get(state, (0, 0))
        calls.add_metric([state], n - cached)
    calls.add_metric(["cached"], sum(cached for _, cached in counted.values()))
    yield calls
    yield from _money()
    yield from _due(timezone.now())


def _money() -> Iterator[Metric]:
    spent = GaugeMetricFamily("arena_money_spent", "What judge runs have cost.", labels=["currency"])
    reserved = GaugeMetricFamily(
        "arena_money_reserved", "The most that calls in flight can still cost.", labels=["currency"]
    )
    runs = JudgeRun.objects.exclude(currency="").order_by()
    for row in runs.values("currency").annotate(spent=Sum("spent"), reserved=Sum("reserved")):
        spent.add_metric([row["currency"]], float(row["spent"]))
        reserved.add_metric([row["currency"]], float(row["reserved"]))
    yield spent
    yield reserved


def _due(now: datetime) -> Iterator[Metric]:
    """Runs that wait to be planned count as one each. Judge workers elsewhere fetch their work themselves."""
    here = JudgeRun.objects.going_on().filter(remote=False)
    due = RunAssignment.objects.filter(
        run__in=here, run__judge__rater__paused_at=None, assignment__state="open", due_at__lte=now
    )
    unplanned = here.filter(state=JudgeRun.State.QUEUED).aggregate(n=Count("pk"), since=Min("created_at"))
    planned = due.aggregate(n=Count("pk"), since=Min("due_at"))
    served = JudgeCall.objects.filter(run__in=here).order_by("-pk").values_list("started_at", flat=True)
    waits = [unplanned["since"]]
    if planned["since"]:
        waits.append(max(planned["since"], served.first() or planned["since"]))
    oldest = min((since for since in waits if since), default=None)
    yield from queue_metrics("judging", unplanned["n"] + planned["n"], age(oldest))
