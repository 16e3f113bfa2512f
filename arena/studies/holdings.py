"""What a study holds: prompts, contestants, the table of answers with its holes, and pairs."""

from typing import Final

from django.db.models import Count, F, Q
from django.http import HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from arena.data.writing.tables import Table, Type
from arena.models import Pair
from arena.people.permissions import OperatorRequest, operator
from arena.studies import counts, matrix
from arena.studies import counts as studies_counts
from arena.studies.pages import download, paged, show

HOLES: Final = Table(
    "missing-answers", dict.fromkeys(("prompt", "subset", "category", "contestant"), Type.TEXT)
)


@require_safe
@operator
def prompts(request: OperatorRequest) -> HttpResponse:
    """The prompts, with category and how many answers each has."""
    rows = counts.study_prompts(request.study).order_by("category", "external_id", "pk")
    current = Q(completions__is_current=True, completions__contestant__retired_at__isnull=True)
    page = paged(request, rows.annotate(answers=Count("completions", filter=current)))
    return show(request, "prompts.html", {"page": page, "imports": _imports(request)})


@require_safe
@operator
def contestants(request: OperatorRequest) -> HttpResponse:
    """The contestants, with how many prompts each has answered."""
    asked = counts.study_prompts(request.study).count()
    found = [(one, max(0, asked - one.answers)) for one in matrix.contestants(request.study)]
    return show(request, "contestants.html", {"contestants": found})


@require_safe
@operator
def completions(request: OperatorRequest) -> HttpResponse:
    """The table of prompts and contestants, page by page, with its holes."""
    only_holes = request.GET.get("show") == "holes"
    page = paged(request, matrix.prompts(request.study, only_holes=only_holes))
    context = {
        "cells": counts.cells(request.study),
        "page": page,
        "matrix": matrix.part(request.study, list(page)),
        "only_holes": only_holes,
        "query": "&show=holes" if only_holes else "",
    }
    return show(request, "completions.html", context)


@require_safe
@operator
def holes(request: OperatorRequest) -> HttpResponseBase:
    """The answers that are missing, as CSV."""
    rows = (dict(zip(HOLES.columns, hole, strict=True)) for hole in matrix.holes(request.study))
    return download(request.study, HOLES, rows, "csv")


@require_safe
@operator
def pairs(request: OperatorRequest) -> HttpResponse:
    """How many pairs there are, how much they want, and when they would have it."""
    by_category = counts.wanted_by_category(request.study)
    total = sum(by_category.values(), counts.Wanted())
    aside = dict(
        Pair.objects.filter(prompt__study=request.study)
        .exclude(use="rate")
        .order_by()
        .values_list("use")
        .annotate(n=Count("pk"))
    )
    identical = Pair.objects.filter(prompt__study=request.study, first__digest=F("second__digest")).count()
    context = {
        "total": total,
        "by_category": by_category,
        "pace": studies_counts.of(request.study, total.left),
        "checks": aside.get("check", 0),
        "training": aside.get("train", 0),
        "identical": identical,
    }
    return show(request, "pairs.html", context)


@require_safe
@operator
def judges(request: OperatorRequest) -> HttpResponse:
    """Where judges are set up."""
    return show(request, "judges.html", {"judges": counts.judges_in(request.study)})


def _imports(request: OperatorRequest) -> bool:
    return request.study.import_jobs.filter(state__in=["checking", "checked", "applying"]).exists()
