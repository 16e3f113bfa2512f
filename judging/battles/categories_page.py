"""The operators' page on which live prompts get categories, and a sample is checked by hand."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from arena.pages.operating import INVALID, refuse
from arena.pages.permissions import OperatorRequest, operator
from arena.pages.written import LinesField
from judging.battles import categories
from judging.battles.publishing import live_prompts, named
from judging.judges.rights import WHOM_TO_ASK, may_ask_models
from judging.judges.services import JudgeError
from judging.models import HandLabel, Judge, LabelCall, Labelling
from judging.models.requests import LIVE


class LabellingForm(forms.Form):
    categories = LinesField(
        required=True,
        label="Categories",
        help_text="One per line. Other categories, or another judge, make a new version.",
    )
    judge = forms.ModelChoiceField(
        Judge.objects.filter(active=True, provider=Judge.Provider.OPENAI).whole(),
        label="Model of the judge",
        help_text="Its endpoint, key, sampling options and limits are used.",
    )


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def page(request: OperatorRequest) -> HttpResponse:
    """Name categories, have a model choose among them, and check a sample."""
    newest = categories.newest(request.study)
    initial = {"categories": newest.categories, "judge": newest.judge_id} if newest else None
    form = LabellingForm(request.POST if "define" in request.POST else None, initial=initial)
    if request.method == "POST" and _act(request, newest, form):
        return redirect(f"{request.path}#check" if "check" in request.POST else request.path)
    context = {
        "study": request.study,
        "form": form,
        "has_judges": form.fields["judge"].queryset.exists(),  # type: ignore[attr-defined]
        "may_start": may_ask_models(request.user),
        "whom_to_ask": WHOM_TO_ASK,
        "live": live_prompts(request.study).count(),
        "versions": categories.versions(request.study),
        **(_of_version(newest) if newest else {}),
    }
    status = INVALID if form.errors else 200
    return render(request, "battles/categories.html", context, status=status)


def _of_version(labelling: Labelling) -> dict[str, Any]:
    calls = LabelCall.objects.filter(labelling=labelling)
    open_prompts, labels = categories.open_prompts(labelling), categories.labels(labelling)
    found: dict[str, Any] = {
        "labelling": labelling,
        "waiting": calls.filter(LIVE).count(),
        "labelled": len(labels),
        "open": open_prompts.count(),
        "errors": list(calls.exclude(error="").values_list("error", flat=True).distinct()[:5]),
        "next": categories.next_to_check(labelling, labels),
    }
    if found["next"]:
        found["said"] = labels[found["next"].pk]
    try:
        asked = list(open_prompts[: categories.MOST_AT_ONCE])
        found |= {"asked": len(asked), "total": categories.estimate(labelling, asked) if asked else None}
    except JudgeError as error:
        found["problem"] = str(error)
    return found


def _act(request: OperatorRequest, newest: Labelling | None, form: LabellingForm) -> bool:
    """Do what a button says; False, with an error of the form, if that cannot be."""
    sent, study = request.POST, request.study
    try:
        if "define" in sent:
            if not form.is_valid():
                return False
            chosen = form.cleaned_data
            made = categories.define(study, chosen["categories"], chosen["judge"], request.user)
            messages.success(request, f"Version {made.version}.")
        elif newest is None:
            raise Http404
        elif "start" in sent:
            asked = categories.start(newest, request.user)
            messages.success(
                request, f"Asking about {asked:,} prompts." if asked else "Nothing to ask about."
            )
        elif "stop" in sent:
            messages.success(request, f"Stopped. {categories.stop(newest):,} not asked.")
        elif "check" in sent:
            _check(request, newest)
    except JudgeError as error:
        if "define" in sent:
            refuse(form, error.field, str(error))
            return False
        messages.error(request, str(error))
    return True


def _check(request: OperatorRequest, newest: Labelling) -> None:
    prompt = named(request)
    if not HandLabel.objects.filter(prompt=prompt).exists():  # in another tab
        categories.check(newest, prompt, request.POST["check"], request.user)
