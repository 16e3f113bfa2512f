"""Pages for operators: the raters of a study, each of them, and what is decided about one."""

from collections.abc import Callable
from typing import Any, Final

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from arena.models import Rater, Study
from arena.people import members
from arena.people.permissions import MemberRequest, OperatorRequest, member, operator
from leaderboard.quality import raters
from leaderboard.quality.cells import COLUMNS, shown
from leaderboard.quality.raters import history
from leaderboard.quality.report import STEP, report

PER_PAGE: Final = 100
INVALID: Final = 422

_LABELS: Final = {raters.NAME: "Rater", **COLUMNS, raters.REMARKS: "Stands out"}


@require_safe
@operator
def table(request: OperatorRequest) -> HttpResponse:
    """Everybody who rated, ordered by any column."""
    found = raters.table(request.study)
    sort = request.GET.get("sort", raters.REMARKS)
    sort = sort if sort in raters.SORTS else raters.REMARKS
    descending = request.GET.get("order", "desc" if sort != raters.NAME else "asc") == "desc"
    page = Paginator(found.ordered(sort, descending=descending), PER_PAGE).get_page(request.GET.get("page"))
    order = "desc" if descending else "asc"
    context = {
        "study": request.study,
        "table": found,
        "page": page,
        "query": "&" + urlencode({"sort": sort, "order": order}),
        "headings": [_heading(name, sort, descending=descending) for name in raters.SORTS],
        "everybody": shown(found.everybody),
    }
    return render(request, "leaderboard/quality/raters.html", context)


def _heading(name: str, sort: str, *, descending: bool) -> dict[str, Any]:
    here = name == sort
    turned = "asc" if here and descending else "desc" if here or name != raters.NAME else "asc"
    return {
        "label": _LABELS[name],
        "number": name in COLUMNS,
        "sorted": ("descending" if descending else "ascending") if here else "",
        "query": urlencode({"sort": name, "order": turned}),
    }


@require_safe
@operator
def file(request: OperatorRequest, form: str) -> HttpResponse:
    """The figures of all raters as CSV or JSON, under pseudonyms."""
    if form not in ("csv", "json"):
        raise Http404
    found = raters.table(request.study).file()
    if form == "json":
        rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
        response: HttpResponse = JsonResponse({"study": request.study.slug, "raters": rows})
    else:
        # The byte order mark makes spreadsheets read the text as UTF-8.
        response = HttpResponse("\ufeff" + found.csv(), content_type="text/csv; charset=utf-8")
    name = f"{request.study.slug}-rating-quality.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_safe
@operator
def one(request: OperatorRequest, rater: int) -> HttpResponse:
    """One rater: figures, days, ratings, and what was decided."""
    return _one(request, rater)


def _one(request: OperatorRequest, pk: int, error: str = "", note: str = "") -> HttpResponse:
    found = raters.table(request.study)
    person = get_object_or_404(Rater.objects.filter(kind=Rater.Kind.PERSON), pk=pk)
    line = next((line for line in found.lines if line.rater.pk == pk), None)
    membership = person.memberships.filter(study=request.study).first()
    if line is None and membership is None:
        raise Http404
    everybody = shown(found.everybody)
    context = {
        "study": request.study,
        "rater": person,
        "membership": membership,
        "line": line,
        "cells": [(COLUMNS[name], cell, everybody[name]) for name, cell in line.cells.items()]
        if line
        else [],
        "history": history(request.study, person),
        "events": request.study.events.filter(rater=person).select_related("by"),
        "error": error,
        "note": note,
    }
    return render(request, "leaderboard/quality/rater.html", context, status=INVALID if error else 200)


Decision = Callable[[Study, Rater, Any, str], bool]

_DECISIONS: Final[dict[str, tuple[Decision, str]]] = {
    "pause": (members.pause, "{} is paused in this study."),
    "resume": (members.resume, "{} is offered pairs again."),
    "leave-out": (members.leave_out, "What {} rated counts nowhere now. The board follows in a moment."),
    "take-back": (members.take_back, "What {} rated counts again. The board follows in a moment."),
}


@require_POST
@operator
def decide(request: OperatorRequest, rater: int) -> HttpResponse:
    """Pause or leave out, or take either back; doing it twice is doing it once."""
    person = get_object_or_404(Rater, pk=rater)
    found = _DECISIONS.get(request.POST.get("decision", ""))
    if found is None:
        raise Http404
    decision, done = found
    note = request.POST.get("note", "")
    try:
        changed = decision(request.study, person, request.user, note)
    except members.UndecidedError as error:
        return _one(request, rater, str(error), note)
    messages.success(
        request, done.format(person.name) if changed else "That was so already; nothing changed."
    )
    return redirect("operate-rater", slug=request.study.slug, rater=rater)


# The page on which raters read how they rate.


@require_safe
@member
def my_report(request: MemberRequest) -> HttpResponse:
    """About the person who asks, and nobody else."""
    context = {"study": request.study, "report": report(request.study, request.rater), "step": STEP}
    return render(request, "leaderboard/quality/report.html", context)
