"""What a study holds: prompts, contestants, the table of answers with its holes, and pairs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from arena.data.writing import Table, Type
from arena.models import Completion, Contestant, Pair, Prompt, Study
from arena.people.permissions import OperatorRequest, operator
from arena.studies import counts
from arena.studies import counts as studies_counts
from arena.studies.pages import download, paged, show

CHUNK = 500
"""Prompts looked at together."""


class Cell(NamedTuple):
    """An answer of the table: whether it is there, and whether there is anything in it."""

    contestant: str
    there: bool
    empty: bool

    @property
    def word(self) -> str:
        return "empty" if self.empty else "there" if self.there else "missing"


@dataclass(frozen=True)
class Row:
    """A prompt with its cells, in the order of the contestants."""

    prompt: Prompt
    cells: list[Cell]

    @property
    def missing(self) -> int:
        return sum(not cell.there for cell in self.cells)


@dataclass(frozen=True)
class Part:
    """Some prompts of the table, and every contestant."""

    contestants_with_answers: list[Contestant]
    rows: list[Row]


def contestants_with_answers(study: Study) -> QuerySet[Any]:
    """All contestants with ``answers``, how many prompts they have answered; those that take part first."""
    answered = (
        counts.answers(study)
        .filter(contestant=OuterRef("pk"))
        .order_by()
        .values("contestant")
        .annotate(n=Count("pk"))
    )
    found = Contestant.objects.filter(study=study)
    return found.annotate(answers=Coalesce(Subquery(answered.values("n")), 0)).order_by("retired_at", "name")


def table_prompts(study: Study, *, only_holes: bool = False) -> QuerySet[Prompt]:
    """The prompts of the table, those that lack an answer alone where that is asked."""
    found = counts.study_prompts(study).order_by("external_id", "pk")
    if not only_holes:
        return found
    wanted = Contestant.objects.active().filter(study=study).count()
    there = Q(
        completions__is_current=True,
        completions__contestant__isnull=False,
        completions__contestant__retired_at__isnull=True,
    ) & ~Q(completions__turns=[])
    return found.annotate(answers=Count("completions", filter=there)).filter(answers__lt=wanted)


def part(study: Study, rows: list[Prompt]) -> Part:
    """These prompts with their cells."""
    field = list(Contestant.objects.active().filter(study=study).order_by("name"))
    there = _there(rows)
    return Part(
        field,
        [
            Row(
                prompt,
                [
                    Cell(one.name, (prompt.pk, one.pk) in there, there.get((prompt.pk, one.pk), False))
                    for one in field
                ],
            )
            for prompt in rows
        ],
    )


def missing_answers(study: Study) -> Iterator[tuple[str, str, str, str]]:
    """Every missing answer: prompt, subset, category and contestant. Some hundred prompts at a time."""
    field = list(Contestant.objects.active().filter(study=study).order_by("name"))
    rows = counts.study_prompts(study).order_by("pk")
    last = 0
    while chunk := list(rows.filter(pk__gt=last)[:CHUNK]):
        there = _there(chunk)
        for prompt in chunk:
            for one in field:
                if (prompt.pk, one.pk) not in there:
                    yield prompt.external_id, prompt.subset, prompt.category, one.name
        last = chunk[-1].pk


def _there(rows: list[Prompt]) -> dict[tuple[int, int], bool]:
    """The cells of these prompts that are filled, and whether with nothing."""
    found = Completion.objects.filter(prompt__in=rows, is_current=True, contestant__isnull=False).exclude(
        turns=[]
    )
    return {
        (prompt, contestant): empty
        for prompt, contestant, empty in found.order_by().values_list("prompt", "contestant", "is_empty")
    }


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
    found = [(one, max(0, asked - one.answers)) for one in contestants_with_answers(request.study)]
    return show(request, "contestants.html", {"contestants": found})


@require_safe
@operator
def completions(request: OperatorRequest) -> HttpResponse:
    """The table of prompts and contestants, page by page, with its holes."""
    only_holes = request.GET.get("show") == "holes"
    page = paged(request, table_prompts(request.study, only_holes=only_holes))
    context = {
        "cells": counts.cells(request.study),
        "page": page,
        "matrix": part(request.study, list(page)),
        "only_holes": only_holes,
        "query": "&show=holes" if only_holes else "",
    }
    return show(request, "completions.html", context)


@require_safe
@operator
def holes(request: OperatorRequest) -> HttpResponseBase:
    """The answers that are missing, as CSV."""
    rows = (dict(zip(HOLES.columns, hole, strict=True)) for hole in missing_answers(request.study))
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
