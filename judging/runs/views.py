from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db.models import Avg, Count, F, Max, Q, Sum
from django.forms import BoundField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arena.models import Answer, Assignment, Rater, Score, Study
from arena.pages.operating import refuse
from arena.pages.permissions import Visitor, staff_only
from arena.rating import planning, plans, publication
from arena.rating.tasks import TASKS
from arena.rules import scales
from judging.endpoints.costs import in_words
from judging.judges.forms import AmountField
from judging.judges.rights import may_ask_models
from judging.judges.services import JudgeError, missing_key, price_of
from judging.judges.views import JudgeForm, get_judge, show_form
from judging.models import Judge, JudgeCall, JudgeRun, Panel, Purse
from judging.protocols.parsing import READ_ANOTHER_WAY, read_verdict
from judging.protocols.protocol import QUESTIONS, ConfiguredProtocol
from judging.protocols.replies import Place
from judging.runs import lifecycle, limiting, summary
from judging.runs.api import EstimateOut, JudgeRunIn
from judging.runs.estimating import estimate
from judging.runs.limiting import outage_of_run
from judging.runs.trial import tested
from judging.runs.work import text_of
from judging.spending import budgets


class RunForm(forms.Form):
    study = forms.ModelChoiceField(
        Study.objects.filter(closed_at=None), to_field_name="slug", empty_label="Choose a study"
    )
    judge = forms.ModelChoiceField(Judge.objects.filter(active=True).whole(), empty_label="Choose a judge")
    kind = forms.ChoiceField(label="What to ask about", choices=JudgeRun.Kind, required=False)
    limit = forms.IntegerField(
        label="Number of pairs or answers",
        min_value=1,
        max_value=2**31 - 1,
        required=False,
        help_text="At most. Leave empty to ask about all.",
    )
    both_orders = forms.ChoiceField(
        label="Orders",
        choices=[
            ("", "As set for the judge"),
            ("on", "Both orders of every pair"),
            ("off", "One order of every pair"),
        ],
        required=False,
        help_text="Both orders take twice the calls and show how much the order sways the judge.",
    )
    budget = AmountField(
        help_text="The run pauses before it spends more. In the currency of the prices. Optional. Studies "
        "and days can have budgets, too: see Judging, Budgets."
    )
    controls = forms.BooleanField(
        label="Ask about identical answers too",
        required=False,
        help_text="Shows which side the judge prefers when both are the same. Not counted as ratings.",
    )
    remote = forms.ChoiceField(
        label="Who asks",
        choices=[("", "This arena"), ("elsewhere", "Judge workers on other machines")],
        required=False,
        help_text=f"Start them with {settings.COMMAND} judge_worker --judge SLUG --arena-url URL.",
    )

    MAIN: Final = ("study", "judge", "limit", "budget")

    @property
    def main(self) -> list[BoundField]:
        return [self[name] for name in self.MAIN]

    @property
    def advanced(self) -> list[BoundField]:
        return [field for field in self if field.name not in self.MAIN]

    @property
    def has_advanced_values(self) -> bool:
        return any(field.errors or field.value() not in (None, False, "", "all") for field in self.advanced)

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
    budget = AmountField(
        label="Budget",
        help_text="Of the whole run, including what is spent already. Leave empty for no budget.",
    )


LAST_CALLS = 30
LAST_RUNS = 30

ENDED: Final = {
    JudgeRun.Kind.FAILURES: "Retry what failed",
    JudgeRun.Kind.UNSCORED: "Ask again about what was not rated",
    JudgeRun.Kind.EXTEND: "Rate what is new",
}


@require_safe
@staff_only
def overview(request: HttpRequest) -> HttpResponse:
    runs = list(JudgeRun.objects.whole().select_related("purse").order_by("-pk")[:LAST_RUNS])
    progress = JudgeCall.objects.progress_of(runs)
    return render(
        request,
        "judging/overview.html",
        {
            "judges": _judges(),
            "elsewhere": Rater.objects.independent().filter(kind=Rater.Kind.JUDGE, judge=None).count(),
            "panels": Panel.objects.select_related("rater").prefetch_related("members__rater"),
            "runs": [(run, progress[run.pk]) for run in runs],
        },
    )


def _judges() -> list[dict[str, object]]:
    """Each judge with its last run, what all of its runs cost, and whether its key is missing."""
    latest = JudgeRun.objects.order_by().values("judge").annotate(last=Max("pk")).values("last")
    last = {run.judge_id: run for run in JudgeRun.objects.select_related("study").filter(pk__in=latest)}
    runs = Purse.objects.filter(scope=Purse.Scope.RUN).exclude(currency="")
    paid = runs.values_list("run__judge", "currency").annotate(sum=Sum("spent"))
    costs: dict[int, list[str]] = defaultdict(list)
    for judge, currency, spent in paid.order_by("currency"):
        costs[judge].append(in_words(spent, currency))
    return [
        {
            "judge": judge,
            "run": last.get(judge.pk),
            "cost": ", ".join(costs[judge.pk]),
            "missing_key": missing_key(judge.endpoint),
        }
        for judge in Judge.objects.whole()
    ]


@require_POST
@staff_only
def try_judge(request: HttpRequest, slug: str | None = None) -> HttpResponse:
    """Test the judge that the form describes, stored or not; the form stays as it was filled in."""
    form = JudgeForm(request.POST, request.FILES, instance=get_judge(slug) if slug else None)
    form.fields["name"].required = False
    context = _tried(form, request.user) if form.is_valid() else {"errors": form.errors.items()}
    if request.headers.get("HX-Request"):
        return render(request, "judging/_trial.html", {**context, "form": form})
    return show_form(request, form, **context)


def _tried(form: JudgeForm, by: Visitor) -> dict[str, object]:
    try:
        trial = tested(form.wanted(), form.prices, by)
    except JudgeError as error:
        return {"problem": str(error)}
    return {"trial": trial, "currency": form.cleaned_data["currency"] or "USD"}


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
            refuse(form, error.field, str(error))
        else:
            return redirect("judge_run", run.pk)
    context = {
        "form": form,
        "has_judges": bool(judges),
        "inactive": Judge.objects.filter(active=False).count(),
        "study": form["study"].value(),
    }
    return render(request, "judging/run_form.html", context, status=422 if form.errors else 200)


@require_safe
@staff_only
def preview_run(request: HttpRequest) -> HttpResponse:
    form = RunForm(request.GET)
    context: dict[str, Any] = {"form": form}
    if form.is_valid():
        try:
            context |= _estimated(form.cleaned_data, request.user)
        except JudgeError as error:
            context["error"] = str(error)
    return render(request, "judging/_preview.html", context)


def _estimated(chosen: dict[str, Any], by: Visitor) -> dict[str, Any]:
    """Raises JudgeError."""
    study, judge, budget = chosen["study"], chosen["judge"], chosen["budget"]
    budgets.check_start(judge, study, budget)
    asked = JudgeRunIn(**{**chosen, "study": study.slug, "judge": judge.slug})
    found = estimate(study, judge, asked.wanted(judge), remote=chosen["remote"])
    if not found.assignments and not found.identical:
        return {"nothing": lifecycle.nothing_to_do(study, judge, chosen["kind"])}
    said = EstimateOut.of(asked, judge, found).model_dump()
    amount = None if budget is None else str(budget)
    return {
        "judge": judge,
        "may_start": judge.is_simulated or may_ask_models(by),
        "rows": summary.estimated(said, amount),
        "notes": summary.notes(said),
        "unpriced": judge.model in said["unpriced"] and not judge.is_simulated,
    }


@require_safe
@staff_only
def run_page(request: HttpRequest, run_id: int) -> HttpResponse:
    run = _run(run_id)
    return _run_page(request, run, ChangeBudgetForm(initial={"budget": run.purse.budget}))


def _run_page(request: HttpRequest, run: JudgeRun, budget_form: ChangeBudgetForm) -> HttpResponse:
    context = _watched(run) | {
        "calls": _last_calls(run),
        "cost_heading": ", ".join(filter(None, ("Cost", run.purse.currency))),
        "may_start": run.judge.is_simulated or may_ask_models(request.user),
        "budget_form": budget_form,
        "is_unread": READ_ANOTHER_WAY in run.error and not run.judge.is_simulated,
        "said": () if run.is_active else _said(run),
        "controls": _controls(run),
        "waiting": "" if run.is_active else publication.waiting(run.study, run.judge.rater),
        "counts": not run.is_active and _counts(run),
        "is_priced": price_of(run.judge.model, run.judge.base_url) is not None,
    }
    return render(request, "judging/run.html", context, status=422 if budget_form.errors else 200)


def _counts(run: JudgeRun) -> bool:
    """Tell whether the numbers of the study may count something that the judge has said in it."""
    own = Q(assignment__study=run.study, assignment__rater=run.judge.rater, status="scored")
    counted = own & publication.may_count(run.study)
    return TASKS[run.judge.task].model._default_manager.filter(counted, is_current=True).exists()


def _controls(run: JudgeRun) -> str:
    """How many identical pairs a run that asks about them has."""
    if not run.controls:
        return ""
    if run.started_at is None:
        return ", with identical answers as a test, if there are any"
    same = Q(assignment__pair__first__digest=F("assignment__pair__second__digest"))
    asked = run.run_assignments.filter(same).count()
    if not asked:
        return ". It was to ask about identical answers as a test, and there were none to ask about"
    return f", and asks {asked:,} question{pluralize(asked)} about identical answers as a test"


def _last_calls(run: JudgeRun) -> list[tuple[JudgeCall, str, str]]:
    """The last calls, each with its question and what its reply was read as if it is about one answer."""
    texts = ("assignment__pair__prompt", "assignment__completion__prompt")
    calls = JudgeCall.objects.select_related(*texts).filter(run=run)[:LAST_CALLS]
    if run.judge.compares:
        return [(call, call.key, "") for call in calls]
    configured = run.judge.configured_protocol
    return [
        (call, _asked_in(call, configured), _read_as(call, configured) if call.has_replied else "")
        for call in calls
    ]


def _asked_in(call: JudgeCall, configured: ConfiguredProtocol) -> str:
    """The question's name; one about a single requirement has its number."""
    before, slash, slot = call.key.rpartition("/")
    name, _, number = slot.partition(".")
    by_number = any(step.name == name and step.each == QUESTIONS for step in configured.steps)
    return f"{before}{slash}requirement {number}" if by_number and number else call.key


def _read_as(call: JudgeCall, configured: ConfiguredProtocol) -> str:
    name = call.key.rpartition("/")[2].partition(".")[0]
    step = next((one for one in configured.steps if one.name == name and one.asks_verdict), None)
    if step is None or configured.place_of(step) is Place.LINES:
        return ""
    read = read_verdict(text_of(call), configured.scale_of(step), configured.place_of(step))
    if read.rating is None:
        return f"not rated: {summary.REASONS[read.reason]}"
    return str(read.rating) if step.score else ("met", "not met")[read.rating - 1]


def _said(run: JudgeRun) -> list[tuple[str, int | str]]:
    """How often the run said what: which side is better, or which requirements are met; or its mean score."""
    asked = run.run_assignments.values("assignment")
    if run.judge.task == Assignment.Kind.CHECK:
        answers = Answer.objects.current().filter(assignment__in=asked).order_by()
        by_value = Counter(dict(answers.values_list("value").annotate(count=Count("pk"))))
        words = [(each.label.lower(), by_value[each.value]) for each in Answer.Value]
        return [(word, count) for word, count in [*words, ("not rated", by_value[None])] if count]
    if run.judge.task == Assignment.Kind.SCORE:
        mean = Score.objects.current().filter(assignment__in=asked).aggregate(mean=Avg("value"))["mean"]
        return [] if mean is None else [("mean", f"{mean:.2f}")]
    rated = JudgeCall.objects.filter(run=run, status="scored").order_by().values_list("rating")
    found: Counter[str] = Counter()
    for rating, count in rated.annotate(count=Count("pk")):
        if rating is not None:
            preference = scales.preference(rating, run.judge.points)
            found["A better" if preference < 0 else "B better" if preference > 0 else "tie"] += count
    return [(side, found[side]) for side in ("A better", "tie", "B better") if found[side]]


def _watched(run: JudgeRun) -> dict[str, Any]:
    outage = outage_of_run(run)
    progress = JudgeCall.objects.progress(run)
    return {
        "run": run,
        "why": budgets.why_paused(run),
        "progress": progress,
        "priced": budgets.is_priced(run) if progress.lacks_price else True,
        "trouble": limiting.told(outage) if outage else "",
    }


def _run(run_id: int) -> JudgeRun:
    return get_object_or_404(JudgeRun.objects.whole().select_related("purse"), pk=run_id)


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
    outlook = planning.outlook(run.study, run.judge.rater, both_orders=run.both_orders, kind=run.judge.task)
    choices = [
        {"words": words, "plan": outlook[plans.Which(kind)], "address": _following(run, kind)}
        for kind, words in ENDED.items()
        if outlook[plans.Which(kind)].assignments
    ]
    return render(request, "judging/_ask_more.html", {"run": run, "other": other, "choices": choices})


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


CHANGES: Final[dict[str, tuple[Callable[..., bool], str, str]]] = {
    "pause": (
        lifecycle.pause_run,
        "Run paused. Calls in flight still count.",
        "The run is already paused or has ended.",
    ),
    "resume": (lifecycle.resume_run, "Run resumed.", "The run was not paused."),
    "cancel": (
        lifecycle.cancel_run,
        "Run cancelled. Calls in flight still count.",
        "The run had already ended.",
    ),
}
"""Ways to change the state of a run, and the messages when it has changed, and when it has not."""


@require_POST
@staff_only
def change_run(request: HttpRequest, run_id: int, change: str) -> HttpResponse:
    run = _run(run_id)
    make, done, nothing = CHANGES[change]
    try:
        if make(run, by=request.user):
            messages.success(request, done)
        else:
            messages.info(request, nothing)
    except JudgeError as error:
        messages.error(request, str(error))
    return redirect("judge_run", run.pk)


@require_POST
@staff_only
def change_budget(request: HttpRequest, run_id: int) -> HttpResponse:
    run, form = _run(run_id), ChangeBudgetForm(request.POST)
    try:
        if form.is_valid():
            budgets.change_budget(run, budget=form.cleaned_data["budget"], by=request.user)
            messages.success(request, "Budget changed.")
            return redirect("judge_run", run.pk)
    except JudgeError as error:
        refuse(form, "budget", str(error))
    return _run_page(request, run, form)
