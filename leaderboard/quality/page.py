"""Operators' pages of how well people rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from operator import itemgetter
from statistics import median
from typing import Any, Final

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Min, Sum
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from arena.models import Answer, Comparison, Membership, Purpose, Rater, Score, Study, StudyEvent
from arena.pages.permissions import OperatorRequest, operator
from arena.people import members
from arena.people.rater_data import pseudonym
from arena.rules import scales
from leaderboard.pages.format import counted
from leaderboard.pages.table import DataTable
from leaderboard.quality import cached
from leaderboard.quality.measures import (
    Check,
    Checked,
    Compared,
    Figures,
    in_words,
    looked_at,
)
from leaderboard.quality.table import (
    COLUMNS,
    FILE_COLUMNS,
    Shown,
    beside,
    file_row,
    labelled,
    shown,
)
from leaderboard.quality.texts import texts_table


@dataclass(frozen=True)
class Day:
    day: str
    opinions: int
    seconds: float | None
    share: float


@dataclass(frozen=True)
class Point:
    rating: int
    caption: str
    side: str
    count: int
    width: float


@dataclass(frozen=True)
class History:
    days: list[Day]
    scales: list[tuple[int, list[Point]]]


def history(study: Study, rater: Rater) -> History:
    """What the rater said for the study, without hidden repeats and checks."""
    own = Comparison.objects.current().filter(study=study, rater=rater, purpose=Purpose.STUDY)
    counts = Counter((points, rating) for points, rating in own.values_list("points", "rating") if rating)
    used = sorted({points for points, _ in counts})
    return History(_days(study, rater), [(points, _points(points, counts)) for points in used])


def _days(study: Study, rater: Rater) -> list[Day]:
    """A checked answer counts once, with the time of all its checks."""
    said: list[tuple[datetime, float | None]] = []
    for model in (Comparison, Score):
        own = model._default_manager.filter(study=study, rater=rater, purpose=Purpose.STUDY, is_current=True)
        said += own.order_by().values_list("created_at", "seconds")
    checks = Answer.objects.current().filter(study=study, rater=rater, purpose=Purpose.STUDY).order_by()
    checked = checks.values("completion").annotate(began=Min("created_at"), took=Sum("seconds"))
    said += checked.values_list("began", "took")
    by_day: dict[str, list[float | None]] = {}
    for created, seconds in sorted(said, key=itemgetter(0)):
        by_day.setdefault(f"{created.day} {created:%b %Y}", []).append(seconds)
    most = max(map(len, by_day.values()), default=1)
    return [Day(day, len(each), _median(each), 100 * len(each) / most) for day, each in by_day.items()]


def _median(seconds: list[float | None]) -> float | None:
    known = [each for each in seconds if each is not None]
    return median(known) if known else None


def _points(points: int, counts: Counter[tuple[int, int]]) -> list[Point]:
    most = max(counts[points, rating] for rating in range(1, points + 1))
    return [
        Point(
            rating=rating,
            caption=scales.CAPTIONS[points][rating - 1],
            side=_side(rating, points),
            count=counts[points, rating],
            width=100 * counts[points, rating] / most,
        )
        for rating in range(1, points + 1)
    ]


def _side(rating: int, points: int) -> str:
    preference = scales.preference(rating, points)
    return "a" if preference < 0 else "b" if preference > 0 else "tie"


NAME: Final = "name"
REMARKS: Final = "remarks"
SORTS: Final = (NAME, *COLUMNS, REMARKS)


@dataclass(frozen=True)
class Line(Checked):
    rater: Rater
    membership: Membership | None
    figures: Figures
    checks: list[Check]

    @property
    def cells(self) -> dict[str, Shown]:
        return shown(self.figures)

    @property
    def labelled(self) -> dict[str, Shown]:
        return labelled(self.figures)

    @property
    def left_out(self) -> bool:
        return bool(self.membership and self.membership.left_out_at)

    @property
    def paused(self) -> bool:
        return bool(self.rater.paused_at or (self.membership and self.membership.paused_at))


@dataclass(frozen=True)
class Table:
    study: Study
    lines: list[Line]
    compared: Compared

    @property
    def everybody(self) -> Figures:
        return self.compared.everybody

    @property
    def named(self) -> list[Line]:
        """Those with lines of their own."""
        return [line for line in self.lines if line.remarks or not line.rater.is_visitor]

    @cached_property
    def visitors(self) -> list[Line]:
        """Those without an account; page and file name the ones with warnings and sum up all."""
        return [line for line in self.lines if line.rater.is_visitor]

    @property
    def visitors_named(self) -> str:
        """How many visitors there are, as the heading of their row; empty for none."""
        number = len(self.visitors)
        return f"{counted(number, 'visitor')} without an account" if number else ""

    @property
    def visitors_warned(self) -> str:
        warned = sum(bool(line.remarks) for line in self.visitors)
        return f"{warned:,} with warnings" if warned else ""

    def ordered(self, sort: str, *, descending: bool) -> list[Line]:
        """Lines of those whom the page names. Lines without a number come last either way."""
        by_name = sorted(self.named, key=lambda line: (line.rater.name.casefold(), line.rater.pk))
        if sort == NAME:
            return by_name[::-1] if descending else by_name
        number = {line.rater.pk: _number(line, sort) for line in by_name}
        known = [line for line in by_name if number[line.rater.pk] is not None]
        known.sort(key=lambda line: number[line.rater.pk] or 0.0, reverse=descending)
        return known + [line for line in by_name if number[line.rater.pk] is None]

    def file(self) -> DataTable:
        return DataTable.plain("Raters", FILE_COLUMNS, self._rows())

    def _rows(self) -> Iterator[tuple[str | int | float | None, ...]]:
        for line in sorted(self.named, key=lambda line: line.rater.pk):
            name = pseudonym(self.study, line.rater.pk)
            who = (name, line.rater.simulated, line.left_out, line.paused)
            yield file_row(line.figures, who, [remark.key for remark in line.remarks])
        if self.visitors:
            yield file_row(self.compared.visitors, (self.visitors_named, False, False, False), [])


def _number(line: Line, sort: str) -> float | None:
    return float(len(line.remarks)) if sort == REMARKS else line.cells[sort].sort


def raters_table(study: Study) -> Table:
    compared = cached.compared(study)
    raters = Rater.objects.in_bulk(list(compared.raters))
    members = {each.rater_id: each for each in Membership.objects.filter(study=study)}
    lines = [
        Line(raters[pk], members.get(pk), own, looked_at(own, compared.everybody))
        for pk, own in compared.raters.items()
        if pk in raters
    ]
    return Table(study, lines, compared)


PER_PAGE: Final = 100
INVALID: Final = 422

_LABELS: Final = {NAME: "Rater", **COLUMNS, REMARKS: "Warnings"}


@require_safe
@operator
def table(request: OperatorRequest) -> HttpResponse:
    found = raters_table(request.study)
    sort = request.GET.get("sort", REMARKS)
    sort = sort if sort in SORTS else REMARKS
    descending = request.GET.get("order", "desc" if sort != NAME else "asc") == "desc"
    page = Paginator(found.ordered(sort, descending=descending), PER_PAGE).get_page(request.GET.get("page"))
    order = "desc" if descending else "asc"
    texts = texts_table(request.study) if _has_texts(request.study) else None
    lines = [*found.lines, *(texts.lines if texts else ())]
    context = {
        "study": request.study,
        "table": found,
        "warnings": in_words(check for line in lines for check in line.checks),
        "page": page,
        "query": "&" + urlencode({"sort": sort, "order": order}),
        "headings": [_heading(name, sort, descending=descending) for name in SORTS],
        "everybody": labelled(found.everybody),
        "visitors": labelled(found.compared.visitors),
        "texts": texts,
    }
    return render(request, "leaderboard/quality/raters.html", context)


def _has_texts(study: Study) -> bool:
    """Whether people score or check single answers, or did."""
    return any(kind != "compare" for kind in study.tasks) or study.scores.exists() or study.answers.exists()


def _heading(name: str, sort: str, *, descending: bool) -> dict[str, Any]:
    here = name == sort
    turned = "asc" if here and descending else "desc" if here or name != NAME else "asc"
    return {
        "label": _LABELS[name],
        "number": name in COLUMNS,
        "sorted": ("descending" if descending else "ascending") if here else "",
        "query": urlencode({"sort": name, "order": turned}),
    }


@require_safe
@operator
def file(request: OperatorRequest, form: str) -> HttpResponse:
    if form not in ("csv", "json"):
        raise Http404
    found = raters_table(request.study).file()
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
    return _one(request, rater)


def _one(request: OperatorRequest, pk: int, error: str = "", note: str = "") -> HttpResponse:
    found = raters_table(request.study)
    person = get_object_or_404(Rater.objects.filter(kind=Rater.Kind.PERSON), pk=pk)
    line = next((line for line in found.lines if line.rater.pk == pk), None)
    membership = person.memberships.filter(study=request.study).first()
    texts = texts_table(request.study) if _has_texts(request.study) else None
    of_texts = texts.of(person) if texts else None
    if line is None and membership is None and of_texts is None:
        raise Http404
    context = {
        "texts": texts,
        "text_line": of_texts,
        "text_cells": beside(of_texts.figures.cells, texts.everybody.cells) if texts and of_texts else [],
        "study": request.study,
        "rater": person,
        "membership": membership,
        "line": line,
        "cells": beside(line.labelled, labelled(found.everybody)) if line else [],
        "history": history(request.study, person),
        "events": request.study.events.filter(rater=person).select_related("by"),
        "error": error,
        "note": note,
    }
    return render(request, "leaderboard/quality/rater.html", context, status=INVALID if error else 200)


_DECISIONS: Final[dict[str, tuple[StudyEvent.Kind, str]]] = {
    "pause": (StudyEvent.Kind.RATER_PAUSED, "{} paused in this study."),
    "resume": (StudyEvent.Kind.RATER_RESUMED, "{} is no longer paused in this study."),
    "leave-out": (
        StudyEvent.Kind.LEFT_OUT,
        "{}’s ratings are no longer counted. The leaderboard follows in a moment.",
    ),
    "take-back": (
        StudyEvent.Kind.TAKEN_BACK,
        "{}’s ratings are counted again. The leaderboard follows in a moment.",
    ),
}


@require_POST
@operator
def decide(request: OperatorRequest, rater: int) -> HttpResponse:
    """Pause a rater, leave them out, or undo either; a repeated decision changes nothing."""
    person = get_object_or_404(Rater, pk=rater)
    found = _DECISIONS.get(request.POST.get("decision", ""))
    if found is None:
        raise Http404
    kind, done = found
    note = request.POST.get("note", "")
    try:
        changed = members.decide(request.study, person, kind, request.user, note)
    except members.MemberError as error:
        return _one(request, rater, str(error), note)
    messages.success(request, done.format(person.name) if changed else "Nothing was changed.")
    return redirect("operate-rater", slug=request.study.slug, rater=rater)
