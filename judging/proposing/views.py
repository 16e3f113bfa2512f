"""The page on which staff have a model propose requirements; models cost money."""

from typing import Any
from uuid import uuid4

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from arena.models import Prompt, Study
from arena.pages.counts import is_number
from arena.pages.permissions import staff_only
from judging.judges.services import JudgeError
from judging.models import Judge, ProposalCall
from judging.models.requests import LIVE
from judging.proposing import services

PER_PAGE = 50


class AskForm(forms.Form):
    """What to show the cost of."""

    judge = forms.ModelChoiceField(
        Judge.objects.filter(active=True, provider=Judge.Provider.OPENAI).whole(),
        label="Model of the judge",
        help_text="Its endpoint, key, sampling options and limits are used.",
    )
    number = forms.IntegerField(
        label="Number of prompts",
        initial=10,
        min_value=1,
        max_value=services.MOST_AT_ONCE,
        help_text="At most. Only prompts without requirements are asked about.",
    )


class ConfirmForm(forms.Form):
    """What was shown, confirmed."""

    judge = forms.ModelChoiceField(Judge.objects.whole())
    batch = forms.UUIDField()
    prompts = forms.RegexField(r"^\d{1,9}(,\d{1,9})*$", max_length=10 * services.MOST_AT_ONCE)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def proposals(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose a model and see the cost (GET); ask it (POST)."""
    study = get_object_or_404(Study, slug=slug)
    if request.method == "POST":
        return _start(request, study)
    form = AskForm(request.GET if "judge" in request.GET else None)
    return _show(request, study, form)


def _start(request: HttpRequest, study: Study) -> HttpResponse:
    form = ConfirmForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was asked. Choose the model again.")
        return redirect("judge_proposals", slug=study.slug)
    given = form.cleaned_data
    chosen = Prompt.objects.filter(study=study, pk__in=given["prompts"].split(",")).exclude(turns=[])
    try:
        asked = services.start(
            given["judge"], list(chosen.order_by("external_id", "pk")), given["batch"], request.user
        )
    except JudgeError as error:
        messages.error(request, f"Nothing was asked. {error}")
    else:
        words = f"Asking about {asked:,} prompt{'' if asked == 1 else 's'}." if asked else "Already asked."
        messages.success(request, words)
    return redirect("judge_proposals", slug=study.slug)


def _show(request: HttpRequest, study: Study, form: AskForm) -> HttpResponse:
    calls = ProposalCall.objects.filter(prompt__study=study).select_related("prompt", "judge__rater")
    context = {
        "study": study,
        "form": form,
        "judges": form.fields["judge"].queryset.exists(),  # type: ignore[attr-defined]
        "open": services.open_prompts(study).count(),
        "page": Paginator(calls, PER_PAGE).get_page(request.GET.get("page")),
        "left": calls.filter(LIVE).count(),
        "waiting": calls.filter(state=ProposalCall.State.WAITING).count(),
        **(_estimated(study, form, request.GET.get("prompt", "")) if form.is_valid() else {}),
    }
    template = "judging/_proposals.html" if request.headers.get("HX-Request") else "judging/proposals.html"
    return render(request, template, context, status=422 if form.errors else 200)


def _estimated(study: Study, form: AskForm, only: str) -> dict[str, Any]:
    judge = form.cleaned_data["judge"]
    if is_number(only):  # one prompt, whatever it has
        prompts = list(Prompt.objects.filter(study=study, pk=only).exclude(turns=[]))
    else:
        prompts = list(services.open_prompts(study)[: form.cleaned_data["number"]])
    if not prompts:
        return {"nothing": True}
    try:
        total = services.estimate(judge, prompts)
    except JudgeError as error:
        return {"problem": str(error)}
    ids = ",".join(str(prompt.pk) for prompt in prompts)
    return {"total": total, "prompts": prompts, "judge": judge, "ids": ids, "batch": uuid4()}


@require_POST
@staff_only
def stop(request: HttpRequest, slug: str) -> HttpResponse:
    study = get_object_or_404(Study, slug=slug)
    count = services.stop(study)
    messages.success(request, f"Stopped. {count:,} not asked." if count else "Nothing was waiting.")
    return redirect("judge_proposals", slug=slug)
