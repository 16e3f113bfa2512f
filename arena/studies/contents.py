"""The pages of a study's prompts, contestants, answers and pairs, and correcting them."""

import json
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Count, F, Q, QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from arena.data.formats.ours import benchmark_faults
from arena.data.json_input import JSONInput
from arena.files.writing import Table, Type
from arena.models import Completion, Contestant, Pair, Prompt, Study
from arena.pages.names import NamedForm
from arena.pages.operating import INVALID, download, paged, show
from arena.pages.permissions import OperatorRequest, operator
from arena.pages.written import LineField, LinesField, MarkdownField
from arena.studies import changes, counts
from arena.studies.progress import Work

CHUNK = 500


class Row(NamedTuple):
    """A prompt, and by contestant if its answer is "present", "empty" or "missing"."""

    prompt: Prompt
    words: dict[str, str]

    @property
    def missing(self) -> list[str]:
        return [name for name, word in self.words.items() if word == "missing"]


def matrix(study: Study, prompts: Iterable[Prompt]) -> list[Row]:
    """Return the row of each prompt, with the active contestants by name."""
    prompts = list(prompts)
    active = Contestant.objects.active().filter(study=study).order_by("name")
    contestants = dict(active.values_list("pk", "name"))
    current = Completion.objects.filter(prompt__in=prompts, is_current=True, contestant__in=contestants)
    known = current.exclude(turns=[]).order_by().values_list("prompt", "contestant", "is_empty")
    there = {(prompt, one): "empty" if empty else "present" for prompt, one, empty in known}
    return [
        Row(each, {name: there.get((each.pk, pk), "missing") for pk, name in contestants.items()})
        for each in prompts
    ]


def with_holes(study: Study) -> QuerySet[Prompt]:
    """The prompts that lack an answer of an active contestant."""
    wanted = Contestant.objects.active().filter(study=study).count()
    there = Count("completions", filter=Q(completions__in=counts.answers(study)))
    return counts.study_prompts(study).annotate(answers=there).filter(answers__lt=wanted)


HOLES: Final = Table(
    "missing-answers", dict.fromkeys(("prompt", "subset", "category", "contestant"), Type.TEXT)
)


@require_safe
@operator
def prompts(request: OperatorRequest) -> HttpResponse:
    rows = counts.study_prompts(request.study).order_by("category", "external_id", "pk")
    current = Q(completions__is_current=True, completions__contestant__retired_at__isnull=True)
    page = paged(request, rows.annotate(answers=Count("completions", filter=current)))
    return show(request, "prompts.html", {"page": page})


@require_safe
@operator
def contestants(request: OperatorRequest) -> HttpResponse:
    asked = counts.study_prompts(request.study).count()
    there = Count("completions", filter=Q(completions__in=counts.answers(request.study)))
    rows: QuerySet[Any] = request.study.contestants.annotate(answers=there).order_by("retired_at", "name")
    found = [(one, max(0, asked - one.answers)) for one in rows]
    return show(request, "contestants.html", {"contestants": found})


@require_safe
@operator
def completions(request: OperatorRequest) -> HttpResponse:
    only_holes = request.GET.get("show") == "holes"
    prompts = with_holes(request.study) if only_holes else counts.study_prompts(request.study)
    page = paged(request, prompts.order_by("external_id", "pk"))
    context = {
        "cells": counts.cells(request.study),
        "page": page,
        "rows": matrix(request.study, page),
        "only_holes": only_holes,
        "query": "&show=holes" if only_holes else "",
    }
    return show(request, "completions.html", context)


@require_safe
@operator
def holes(request: OperatorRequest) -> HttpResponseBase:
    prompts = counts.study_prompts(request.study).order_by("pk")
    rows = (
        {"prompt": row.prompt.external_id, "subset": row.prompt.subset, "category": row.prompt.category}
        | {"contestant": name}
        for some in Paginator(prompts, CHUNK)
        for row in matrix(request.study, some)
        for name in row.missing
    )
    return download(request.study, HOLES, rows, "csv")


@require_safe
@operator
def pairs(request: OperatorRequest) -> HttpResponse:
    task = Work(request.study, "compare", counts.wanted_by_category(request.study))
    aside = dict(
        Pair.objects.filter(prompt__study=request.study)
        .exclude(use="rate")
        .order_by()
        .values_list("use")
        .annotate(n=Count("pk"))
    )
    identical = Pair.objects.filter(prompt__study=request.study, first__digest=F("second__digest")).count()
    context = {
        "total": task.sum,
        "task": task,
        "checks": aside.get("check", 0),
        "training": aside.get("train", 0),
        "identical": identical,
        "known": paged(request, known_pairs(request.study)),
    }
    return show(request, "pairs.html", context)


def known_pairs(study: Study) -> QuerySet[Pair]:
    known = Pair.objects.filter(prompt__study=study).exclude(gold="")
    return counts.listed(known).order_by("-use", "pk")


class BenchmarksField(LinesField):
    """Scores by benchmark: lines of name, colon and number."""

    def prepare_value(self, value: Any) -> Any:
        is_stored = isinstance(value, dict)
        return "\n".join(f"{name}: {score}" for name, score in value.items()) if is_stored else value

    def to_python(self, value: Any) -> Any:
        scores = [self._benchmark(line) for line in super().to_python(value)]
        if len(dict(scores)) < len(scores):
            raise forms.ValidationError("Name each benchmark once.")
        return dict(scores)

    def _benchmark(self, line: str) -> tuple[str, float]:
        name, colon, score = line.rpartition(":")
        try:
            return name.strip(), json.loads(score if colon else "")
        except ValueError:
            raise forms.ValidationError(f"“{line}” is not a name, a colon and a number.") from None

    def validate(self, value: Any) -> None:
        if wrong := [": ".join(filter(None, fault)) for fault in benchmark_faults(value)]:
            raise forms.ValidationError(wrong)


_ON_PAGES = ("family", "organisation", "licence", "size")


class ContestantForm(NamedForm):
    benchmarks = BenchmarksField(
        label="Scores on other benchmarks",
        widget=forms.Textarea({"rows": 4}),
        help_text="One per line, for example MMLU: 69.8. Columns of the leaderboard, not part of scores.",
    )

    class Meta:
        model = Contestant
        fields = ("name", "kind", *_ON_PAGES, "benchmarks", "generation")
        labels = {"organisation": "Maker", "generation": "Generation parameters, as JSON"}
        field_classes = {"generation": JSONInput, **dict.fromkeys(_ON_PAGES, LineField)}
        widgets = {"generation": forms.Textarea({"rows": 4, "class": "mono"})}
        help_texts = {
            "name": "The name on leaderboards and in files you import later. Its address does not change.",
        }

    def others(self) -> "QuerySet[Contestant]":
        return super().others().filter(study=self.instance.study)

    def clean_generation(self) -> dict[str, Any]:
        parameters = self.cleaned_data["generation"] or {}
        if not isinstance(parameters, dict):
            raise forms.ValidationError('Give names and values, for example {"temperature": 0.7}.')
        return parameters


class PromptForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Prompt
        fields = ("category", "domain")
        field_classes = dict.fromkeys(fields, LineField)
        help_texts = {"category": "Each category has a leaderboard of its own."}


class KnownAnswerForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Pair
        fields = ("gold", "gold_source", "explanation")
        labels = {"gold": "Right answer", "gold_source": "Source", "explanation": "Explanation"}
        help_texts = {"explanation": "Why it is right. Markdown, shown in training."}
        field_classes = {"gold_source": LineField, "explanation": MarkdownField}
        widgets = {"gold": forms.RadioSelect, "explanation": forms.Textarea({"rows": 6})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        first, second = (_side(side) for side in (self.instance.first, self.instance.second))
        answers = {
            "first": f"A is better: {first}",
            "tie": "Equally good",
            "second": f"B is better: {second}",
        }
        self.fields["gold"].choices = list(answers.items())  # type: ignore[attr-defined]
        self.fields["gold"].required = self.fields["gold_source"].required = True


def _side(completion: Completion) -> str:
    return str(completion.contestant or completion.external_id or f"answer {completion.pk}")


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def contestant(request: OperatorRequest, contestant: int) -> HttpResponse:
    """Correct, confirm, retire or remove a contestant."""
    row = get_object_or_404(Contestant, pk=contestant, study=request.study)
    if "confirm" in request.POST:
        row.provisional = False
        changes.store_row(row, request.study, request.user, ["provisional"])
        messages.success(request, f"{row} is confirmed.")
        return redirect("operate-contestants", slug=request.study.slug)
    if not {"retire", "reinstate"} & request.POST.keys():
        return _row_page(request, row, ContestantForm)
    if bool(row.retired_at) != ("retire" in request.POST):
        row.retired_at = None if row.retired_at else timezone.now()
        changes.store_row(row, request.study, request.user, ["retired_at"])
    messages.success(request, f"{row} is {'retired' if row.retired_at else 'active again'}.")
    return redirect("operate-contestants", slug=request.study.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def prompt(request: OperatorRequest, prompt: int) -> HttpResponse:
    """Correct or remove a prompt."""
    return _row_page(request, get_object_or_404(Prompt, pk=prompt, study=request.study), PromptForm)


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def known_answer(request: OperatorRequest, pair: int) -> HttpResponse:
    return _row_page(request, get_object_or_404(known_pairs(request.study), pk=pair), KnownAnswerForm)


def _row_page(request: OperatorRequest, row: Contestant | Prompt | Pair, form_class: Any) -> HttpResponse:
    """Show a row with its form; store it, or remove one whose answers nobody has seen, and go to the list."""
    kind, study = str(row._meta.model_name), request.study
    form = form_class(request.POST or None, instance=row)
    context: dict[str, Any] = {"form": form, kind: row}
    if not isinstance(row, Pair):
        if "remove" in request.POST:
            _remove(request, row)
            return redirect(f"operate-{kind}s", slug=study.slug)
        context |= {"removable": not changes.is_used(row), "answers": row.completions.count()}
    with transaction.atomic():
        if form.is_valid():
            changed = changes.store_row(row, study, request.user, form.changed_data)
            messages.success(request, "Saved." if changed else "Nothing was changed.")
            return redirect(f"operate-{kind}s", slug=study.slug)
    if form.errors:
        row.refresh_from_db()  # the heading shows what is stored, the form what was typed
    return show(request, f"{kind}.html", context, status=INVALID if form.errors else 200)


def _remove(request: OperatorRequest, row: Contestant | Prompt) -> None:
    name = str(row)
    if changes.remove_row(row, request.study, request.user):
        messages.success(request, f"{name} removed.")
    else:
        messages.error(request, f"You cannot remove {name}: some of its answers have been shown to raters.")
