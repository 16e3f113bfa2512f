"""What the database says of judge calls and standing requests, of their cost, and of those that are due."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Final

from django.db.models import Count, Max, Min, Q, Sum
from django.utils import timezone
from prometheus_client import Metric
from prometheus_client.core import GaugeMetricFamily

from arena.monitoring.recorded import age, queue_metrics
from judging.models import (
    BattleCall,
    JudgeCall,
    JudgeRun,
    LabelCall,
    ProposalCall,
    Purse,
    RunAssignment,
    WritingCall,
)
from judging.models.requests import StandingRequest


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
    runs = GaugeMetricFamily("arena_judge_runs", "Judge runs, by state.", labels=["state"])
    by_state = dict(JudgeRun.objects.order_by().values_list("state").annotate(n=Count("pk")))
    for state in JudgeRun.State.values:
        runs.add_metric([state], by_state.get(state, 0))
    yield runs
    now = timezone.now()
    for kind in STANDING:
        yield from _standing(now, *kind)
    yield from _money()
    yield from _due(now)


STANDING: Final[tuple[tuple[str, str, str, type[StandingRequest]], ...]] = (
    ("proposals", "arena_proposal_calls", "Requests for requirements", ProposalCall),
    ("writing", "arena_writing_calls", "Requests for answers", WritingCall),
    ("labels", "arena_label_calls", "Requests for categories", LabelCall),
    ("battles", "arena_battle_calls", "Requests to models of battles", BattleCall),
)


def _standing(
    now: datetime, queue: str, name: str, what: str, rows: type[StandingRequest]
) -> Iterator[Metric]:
    """Requests that stand for themselves, by state, and those of them that are due."""
    calls = GaugeMetricFamily(name, f"{what}, by what became of them.", labels=["outcome"])
    counted = dict(rows._default_manager.order_by().values_list("state").annotate(n=Count("pk")))
    for state in StandingRequest.State.values:
        calls.add_metric([state], counted.get(state, 0))
    yield calls
    waiting = Q(state=StandingRequest.State.WAITING, due_at__lte=now)
    found = rows._default_manager.aggregate(
        n=Count("pk", filter=waiting), since=Min("due_at", filter=waiting), served=Max("finished_at")
    )
    since = found["since"] and max(found["since"], found["served"] or found["since"])
    yield from queue_metrics(queue, found["n"], age(since))


def _money() -> Iterator[Metric]:
    spent = GaugeMetricFamily("arena_money_spent", "What paid calls have cost.", labels=["currency"])
    reserved = GaugeMetricFamily(
        "arena_money_reserved", "The most that calls in flight can still cost.", labels=["currency"]
    )
    runs = Purse.objects.filter(scope=Purse.Scope.RUN).exclude(currency="").order_by().values("currency")
    in_all: dict[str, Decimal] = defaultdict(Decimal)
    held: dict[str, Decimal] = defaultdict(Decimal)
    for row in runs.annotate(spent=Sum("spent"), reserved=Sum("reserved")):
        in_all[row["currency"]] += row["spent"]
        held[row["currency"]] += row["reserved"]
    # Without purses of their own, or with one that begins anew every day.
    for kind in (ProposalCall, LabelCall, BattleCall):
        calls = kind._default_manager.exclude(cost=None, reserved=0).order_by().values("currency")
        sums = calls.annotate(cost=Sum("cost", default=Decimal()), reserved=Sum("reserved"))
        for currency, cost, reservation in sums.values_list("currency", "cost", "reserved"):
            in_all[currency] += cost
            held[currency] += reservation
    for gauge, amounts in ((spent, in_all), (reserved, held)):
        for currency, amount in amounts.items():
            gauge.add_metric([currency], float(amount))
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
