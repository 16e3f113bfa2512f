from collections.abc import Callable
from decimal import Decimal
from time import time
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arena.models import Study
from arena.people.permissions import staff_only
from arena.rating import planning
from judging.judges.services import JudgeError
from judging.models import Judge, JudgeCall, JudgeRun, Panel
from judging.runs import lifecycle, spending, summary
from judging.runs.api import EstimateOut, JudgeRunIn
from judging.runs.estimating import estimate
from judging.runs.limiting import outage_of


class BudgetField(forms.DecimalField):
    def __init__(self, **options: Any) -> None:
        super().__init__(
            **{"required": False, "max_digits": 12, "decimal_places": 6, "min_value": 0, **options}
        )

    def prepare_value(self, value: Any) -> Any:
        """Without the zeros that its column adds."""
        return format(value.normalize(), "f") if isinstance(value, Decimal) else value


class RunForm(forms.Form):
    study = forms.ModelChoiceField(Study.objects.filter(closed_at=None), to_field_name="slug")
    judge = forms.ModelChoiceField(Judge.objects.filter(active=True).select_related("rater"))
    kind = forms.ChoiceField(label="What is asked", choices=JudgeRun.Kind, required=False)
    limit = forms.IntegerField(
        label="At most this many pairs",
        min_value=1,
        max_value=2**31 - 1,
        required=False,
        help_text="Empty: all.",
    )
    both_orders = forms.ChoiceField(
        label="Orders",
        choices=[
            ("", "as the judge is configured"),
            ("on", "every pair in both"),
            ("off", "every pair in one"),
        ],
        required=False,
        help_text="Both orders are twice the calls; they show how much the judge is swayed by the order.",
    )
    budget = BudgetField(
        help_text="The run pauses before it would pass it. In the currency of the prices; empty: no budget."
    )
    controls = forms.BooleanField(
        label="Ask about identical completions too",
        required=False,
        help_text="A test of the judge: which side does it take where both are the same? Never a game.",
    )
    remote = forms.ChoiceField(
        label="Asked by",
        choices=[("", "this arena's workers"), ("elsewhere", "judge workers on other machines")],
        required=False,
        help_text="On the other machine: python manage.py judge_worker --judge SLUG --arena-url URL.",
    )

    def clean_kind(self) -> str:
        return self.cleaned_data["kind"] or JudgeRun.Kind.ALL

    def clean_remote(self) -> bool:
        return bool(self.cleaned_data["remote"])

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or {}
        chosen, judge = found.get("both_orders"), found.get("judge")
        found["both_orders"] = chosen == "on" or (not chosen and judge is not None and judge.both_orders)
        return found


class ChangeBudgetForm(forms.Form):
    budget = BudgetField(
        label="Budget", help_text="In all, what is spent already included. Empty: no budget."
    )


LAST_CALLS = 30
LAST_RUNS = 30

ENDED: Final = {
    JudgeRun.Kind.FAILURES: "Retry what failed",
    JudgeRun.Kind.UNSCORED: "Ask again what has no rating",
    JudgeRun.Kind.EXTEND: "Rate new pairs",
}


@require_safe
@staff_only
def overview(request: HttpRequest) -> HttpResponse:
    runs = list(JudgeRun.objects.select_related("study", "judge__rater").order_by("-pk")[:LAST_RUNS])
    progress = JudgeCall.objects.progress_of(runs)
    return render(
        request,
        "judging/overview.html",
        {
            "judges": Judge.objects.select_related("rater"),
            "panels": Panel.objects.select_related("rater").prefetch_related("members__rater"),
            "runs": [(run, progress[run.pk]) for run in runs],
        },
    )


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def start_run(request: HttpRequest) -> HttpResponse:
    judges = list(Judge.objects.filter(active=True).values_list("pk", flat=True)[:2])
    only = {"judge": judges[0]} if len(judges) == 1 else {}
    form = RunForm(request.POST or None, initial=only | request.GET.dict())
    if request.method == "POST" and form.is_valid():
        try:
            run = lifecycle.start_run(**form.cleaned_data, created_by=request.user)
        except JudgeError as error:
            form.add_error(None, str(error))
        else:
            return redirect("judge_run", run.pk)
    status = 422 if form.errors else 200
    return render(request, "judging/run_form.html", {"form": form}, status=status)


@require_safe
@staff_only
def preview_run(request: HttpRequest) -> HttpResponse:
    form = RunForm(request.GET)
    context: dict[str, Any] = {"form": form}
    if form.is_valid():
        try:
            context |= _estimated(form.cleaned_data)
        except JudgeError as error:
            context["error"] = str(error)
    return render(request, "judging/_preview.html", context)


def _estimated(chosen: dict[str, Any]) -> dict[str, Any]:
    """Raises JudgeError."""
    study, judge, budget = chosen["study"], chosen["judge"], chosen["budget"]
    if budget is not None:
        spending.check_budget(judge, budget)
    asked = JudgeRunIn(**{**chosen, "study": study.slug, "judge": judge.slug})
    found = estimate(study, judge, asked.wanted(judge.both_orders), remote=chosen["remote"])
    if not found.assignments and not found.identical:
        return {"nothing": lifecycle.nothing_to_do(study, judge, chosen["kind"])}
    said = EstimateOut.of(asked, judge.is_simulated, found).model_dump()
    amount = None if budget is None else str(budget)
    return {"judge": judge, "rows": summary.estimated(said, amount), "notes": summary.notes(said)}


@require_safe
@staff_only
def run_page(request: HttpRequest, run_id: int) -> HttpResponse:
    run = _run(run_id)
    context = _watched(run) | {
        "calls": JudgeCall.objects.select_related("assignment").filter(run=run)[:LAST_CALLS],
        "budget_form": ChangeBudgetForm(initial={"budget": run.budget}),
    }
    return render(request, "judging/run.html", context)


def _watched(run: JudgeRun) -> dict[str, Any]:
    asked_here = run.state == JudgeRun.State.RUNNING and not run.remote
    outage = outage_of(run.judge) if asked_here else None
    now = time()
    return {
        "run": run,
        "progress": JudgeCall.objects.progress(run),
        "silent_for": outage and now - outage.since,
        "next_try_in": outage and max(outage.next_try - now, 0.0),
    }


def _run(run_id: int) -> JudgeRun:
    return get_object_or_404(JudgeRun.objects.select_related("study", "judge__rater"), pk=run_id)


@require_safe
@staff_only
def run_progress(request: HttpRequest, run_id: int) -> HttpResponse:
    """The progress alone, polled while the run is active; a changed state reloads the page."""
    run = _run(run_id)
    response = render(request, "judging/_progress.html", _watched(run))
    if request.GET.get("state", run.state) != run.state:
        response["HX-Refresh"] = "true"
    return response


@require_safe
@staff_only
def run_next(request: HttpRequest, run_id: int) -> HttpResponse:
    run = _run(run_id)
    other = JudgeRun.objects.active().filter(study=run.study, judge=run.judge).first()
    outlook = planning.outlook(run.study, run.judge.rater, both_orders=run.both_orders)
    choices = [
        {"words": words, "plan": outlook[planning.Which(kind)], "address": _following(run, kind)}
        for kind, words in ENDED.items()
        if outlook[planning.Which(kind)].assignments
    ]
    return render(request, "judging/_next.html", {"run": run, "other": other, "choices": choices})


def _following(run: JudgeRun, kind: str) -> str:
    asked = {
        "study": run.study.slug,
        "judge": str(run.judge_id),
        "kind": kind,
        "both_orders": "on" if run.both_orders else "off",
        "controls": "on" if run.controls else "",
        "remote": "elsewhere" if run.remote else "",
    }
    filled = {name: value for name, value in asked.items() if value}
    return f"{reverse('judge_run_new')}?{urlencode(filled)}"


@require_POST
@staff_only
def cancel_run(request: HttpRequest, run_id: int) -> HttpResponse:
    done = "The run is cancelled. Calls in flight still come in."
    return _change(request, _run(run_id), lifecycle.cancel_run, done, "The run had ended already.")


@require_POST
@staff_only
def pause_run(request: HttpRequest, run_id: int) -> HttpResponse:
    done = "The run is paused. Calls in flight still come in."
    nothing = "There was nothing to pause: the run is paused or has ended."
    return _change(request, _run(run_id), lifecycle.pause_run, done, nothing)


@require_POST
@staff_only
def resume_run(request: HttpRequest, run_id: int) -> HttpResponse:
    return _change(request, _run(run_id), lifecycle.resume_run, "The run goes on.", "The run was not paused.")


@require_POST
@staff_only
def change_budget(request: HttpRequest, run_id: int) -> HttpResponse:
    run, form = _run(run_id), ChangeBudgetForm(request.POST)
    if not form.is_valid():
        messages.error(request, f"Budget: {form.errors['budget'][0]}")
        return redirect("judge_run", run.pk)
    budget = form.cleaned_data["budget"]
    return _change(request, run, lambda run: spending.change_budget(run, budget), "The budget is changed.")


def _change(
    request: HttpRequest, run: JudgeRun, change: Callable[[JudgeRun], object], done: str, nothing: str = ""
) -> HttpResponse:
    """Change a run and show a message; ``nothing`` if ``change`` returns something false."""
    try:
        if change(run):
            messages.success(request, done)
        else:
            messages.info(request, nothing)
    except JudgeError as error:
        messages.error(request, str(error))
    return redirect("judge_run", run.pk)
