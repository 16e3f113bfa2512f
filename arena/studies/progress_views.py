"""How far a study has come, what raters flagged, and what people rated as a file."""

from collections.abc import Iterable
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from arena.models import Flag
from arena.people.permissions import OperatorRequest, operator
from arena.studies import counts
from arena.studies import counts as studies_counts
from arena.studies import progress as reads
from arena.studies import progress as studies_progress
from arena.studies.pages import download, paged, show


@require_safe
@operator
def progress(request: OperatorRequest) -> HttpResponse:
    """By category and rater, with the time left; asked for by htmx, the figures that move alone."""
    by_category = counts.wanted_by_category(request.study)
    total = sum(by_category.values(), counts.Wanted())
    context: dict[str, Any] = {
        "total": total,
        "pace": studies_counts.of(request.study, total.left),
        "sums": reads.sums(request.study),
        "now": timezone.now(),
    }
    if request.htmx:
        return show(request, "_progress_figures.html", context)
    context |= {"by_category": by_category, "raters": paged(request, reads.by_rater(request.study))}
    return show(request, "progress.html", context)


@require_safe
@operator
def pairs(request: OperatorRequest) -> HttpResponse:
    """Pair by pair, the least rated first."""
    total = counts.wanted(request.study)
    page = paged(request, reads.by_pair(request.study))
    return show(request, "progress_pairs.html", {"total": total, "page": page})


@require_safe
@operator
def flags(request: OperatorRequest) -> HttpResponse:
    """What raters found wrong: open, or settled."""
    settled = request.GET.get("show") == "settled"
    context = {
        "page": paged(request, reads.flags(request.study, settled=settled)),
        "settled": settled,
        "by_reason": reads.open_by_reason(request.study),
        "query": "&show=settled" if settled else "",
    }
    return show(request, "flags.html", context)


@require_POST
@operator
def settle(request: OperatorRequest, flag: int) -> HttpResponse:
    """Mark a flag as looked at, or open it again; either twice is once."""
    found = get_object_or_404(Flag, pk=flag, assignment__study=request.study)
    again = "reopen" in request.POST
    Flag.objects.filter(pk=found.pk, settled_at__isnull=not again).update(
        settled_at=None if again else timezone.now()
    )
    address = redirect("operate-flags", slug=request.study.slug)
    if again:
        address["Location"] += "?show=settled"
    return address


@require_safe
@operator
def export(request: OperatorRequest) -> HttpResponse:
    """What can be taken away about raters, and what the files say of them."""
    rows = studies_progress.of_people(request.study)
    people = rows.order_by().values("rater").distinct().count()
    return show(request, "export.html", {"rows": rows.count(), "people": people})


@require_safe
@operator
def rater_file(request: OperatorRequest, form: str) -> HttpResponseBase:
    """What people rated, under pseudonyms; with their comments only where the address asks for them."""
    if form not in ("csv", "jsonl"):
        raise Http404
    comments = request.GET.get("comments") == "1"
    rows: Iterable[Any] = studies_progress.rows(request.study, comments=comments)
    return download(request.study, studies_progress.table(comments=comments), rows, form)
