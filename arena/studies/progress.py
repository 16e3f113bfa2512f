"""How far a study has come, and what raters flagged."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import pluralize
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from arena.models import Assignment, Comparison, Flag, Membership, Pair, Rater, Study
from arena.people.permissions import OperatorRequest, operator
from arena.studies import counts
from arena.studies.pages import paged, show


def sums(study: Study) -> dict[str, int]:
    """People's comparisons in a study by what they were for, with open flags and pairs in hand."""
    people = Comparison.objects.filter(study=study, rater__kind=Rater.Kind.PERSON).order_by()
    now = Q(is_current=True)
    found = people.aggregate(
        study=Count("pk", filter=now & Q(purpose="study")),
        repeats=Count("pk", filter=now & Q(purpose="repeat")),
        checks=Count("pk", filter=now & Q(purpose="check")),
        adjudications=Count("pk", filter=now & Q(purpose="adjudication")),
        revised=Count("pk", filter=Q(revises__isnull=False)),
    )
    held = Assignment.objects.live().filter(study=study, rater__kind=Rater.Kind.PERSON)
    return {**found, "flags": open_flags(study).count(), "in_hand": held.count()}


@dataclass(frozen=True)
class Line:
    rater: Rater
    membership: Membership | None
    rated: int = 0
    others: int = 0
    skipped: int = 0
    flagged: int = 0
    late: int = 0
    last: datetime | None = None


def by_rater(study: Study) -> list[Line]:
    """Every person who may rate or has rated, the fewest ratings first."""
    said = (
        Comparison.objects.current()
        .filter(study=study, rater__kind=Rater.Kind.PERSON)
        .order_by()
        .values("rater")
        .annotate(
            rated=Count("pk", filter=Q(purpose="study")),
            others=Count("pk", filter=~Q(purpose="study")),
            late=Count("pk", filter=Q(is_late=True)),
            last=Max("created_at"),
        )
    )
    rated: dict[int, Any] = {row["rater"]: row for row in said}
    aside = (
        Assignment.objects.filter(study=study, state=Assignment.State.SKIPPED)
        .order_by()
        .values("rater")
        .annotate(skipped=Count("pk"), flagged=Count("flag"))
    )
    put_aside: dict[int, Any] = {row["rater"]: row for row in aside}
    members = {one.rater_id: one for one in study.memberships.exclude(role="viewer").select_related("rater")}
    gone = Rater.objects.filter(pk__in=rated.keys() - members.keys())
    raters = {one.pk: one for one in gone} | {pk: one.rater for pk, one in members.items()}
    lines = [
        Line(**rated.get(pk, {}) | put_aside.get(pk, {}) | {"rater": rater, "membership": members.get(pk)})
        for pk, rater in raters.items()
    ]
    return sorted(lines, key=lambda line: (line.rated, line.rater.name, line.rater.pk))


def by_pair(study: Study) -> QuerySet[Pair]:
    texts = [f"{side}__{field}" for side in ("first", "second") for field in ("turns", "extra")]
    return (
        Pair.objects.filter(prompt__study=study, use="rate")
        .select_related("prompt", "first__contestant", "second__contestant")
        .defer(*texts, "prompt__turns", "prompt__input")
        .order_by("people_ratings", "pk")
    )


def flags_of(study: Study, *, settled: bool) -> QuerySet[Flag]:
    related = ("assignment__rater", "assignment__pair__prompt")
    sides = ("assignment__pair__first__contestant", "assignment__pair__second__contestant")
    found = Flag.objects.filter(assignment__study=study, settled_at__isnull=not settled)
    return found.select_related(*related, *sides)


def open_flags(study: Study) -> QuerySet[Flag]:
    return Flag.objects.filter(assignment__study=study, settled_at__isnull=True)


def open_by_reason(study: Study) -> Iterable[tuple[str, int]]:
    rows = open_flags(study).order_by().values_list("reason").annotate(n=Count("pk")).order_by("-n", "reason")
    return [(Flag.Reason(reason).label, number) for reason, number in rows]


def _not_counted(sums: dict[str, int], beyond: int) -> str:
    """The ratings that count towards no pair, in words; empty if all do."""
    named = {"hidden repeat": "repeats", "hidden check": "checks", "adjudication": "adjudications"}
    numbers = {name: sums[key] for name, key in named.items()} | {"extra rating": beyond}
    return ", ".join(f"{number:,} {name}{pluralize(number)}" for name, number in numbers.items() if number)


@require_safe
@operator
def progress(request: OperatorRequest) -> HttpResponse:
    """Progress by category and rater; for htmx only the figures that move."""
    by_category = counts.wanted_by_category(request.study)
    total = sum(by_category.values(), counts.Wanted())
    context: dict[str, Any] = {
        "total": total,
        "pace": counts.of(request.study, total.left),
        "people": counts.people_in(request.study),
        "sums": (found := sums(request.study)),
        "not_counted": _not_counted(found, total.beyond),
        "now": timezone.now(),
    }
    if request.htmx:
        return show(request, "_progress_figures.html", context)
    context |= {"by_category": by_category, "raters": paged(request, by_rater(request.study))}
    return show(request, "progress.html", context)


@require_safe
@operator
def pairs(request: OperatorRequest) -> HttpResponse:
    total = counts.wanted(request.study)
    page = paged(request, by_pair(request.study))
    return show(request, "progress_pairs.html", {"total": total, "page": page})


@require_safe
@operator
def flags(request: OperatorRequest) -> HttpResponse:
    settled = request.GET.get("show") == "settled"
    context = {
        "page": paged(request, flags_of(request.study, settled=settled)),
        "settled": settled,
        "by_reason": open_by_reason(request.study),
        "query": "&show=settled" if settled else "",
    }
    return show(request, "flags.html", context)


@require_POST
@operator
def settle(request: OperatorRequest, flag: int) -> HttpResponse:
    found = get_object_or_404(Flag, pk=flag, assignment__study=request.study)
    again = "reopen" in request.POST
    Flag.objects.filter(pk=found.pk, settled_at__isnull=not again).update(
        settled_at=None if again else timezone.now()
    )
    address = redirect("operate-flags", slug=request.study.slug)
    if again:
        address["Location"] += "?show=settled"
    return address
