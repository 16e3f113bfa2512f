"""Staff pages: the overview; runs, their progress and their calls."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arena import planning
from judging import services
from judging.forms import RunForm
from judging.models import Judge, JudgeCall, JudgeRun, Panel
from judging.services.judges import check_usable
from judging.staff import staff_only

LAST_CALLS = 30
LAST_RUNS = 50


@require_safe
@staff_only
def overview(request: HttpRequest) -> HttpResponse:
    """All judges and the last runs."""
    return render(
        request,
        "judging/overview.html",
        {
            "judges": Judge.objects.select_related("rater"),
            "panels": Panel.objects.select_related("rater").prefetch_related("members__rater"),
            "runs": JudgeRun.objects.for_list()[:LAST_RUNS],
        },
    )


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def start_run(request: HttpRequest) -> HttpResponse:
    """Choose study and judge, see how many pairs will be asked, start."""
    judges = list(Judge.objects.filter(active=True).values_list("pk", flat=True)[:2])
    only = {"judge": judges[0]} if len(judges) == 1 else {}
    form = RunForm(request.POST or None, initial=only | request.GET.dict())
    if request.method == "POST" and form.is_valid():
        try:
            run = services.start_run(**form.cleaned_data, created_by=request.user)
        except services.JudgeError as error:
            form.add_error(None, str(error))
        else:
            return redirect("judge_run", run.pk)
    status = 422 if form.errors else 200
    return render(request, "judging/run_form.html", {"form": form}, status=status)


@require_safe
@staff_only
def preview_run(request: HttpRequest) -> HttpResponse:
    """How many pairs the run described by the form would ask about, as a part of the page."""
    form = RunForm(request.GET)
    context: dict[str, Any] = {}
    if form.is_valid():
        chosen = form.cleaned_data
        try:
            check_usable(chosen["judge"], chosen["study"], remote=chosen["remote"])
        except services.JudgeError as error:
            context["error"] = str(error)
        else:
            context["plan"] = planning.preview(
                chosen["study"],
                chosen["judge"].rater,
                planning.Wanted(limit=chosen["limit"], both_orders=chosen["both_orders"]),
            )
            context["judge"] = chosen["judge"]
    return render(request, "judging/_preview.html", context)


@require_safe
@staff_only
def run_page(request: HttpRequest, run_id: int) -> HttpResponse:
    """One run: its progress, and its last calls with what the model replied."""
    run = get_object_or_404(JudgeRun.objects.select_related("study", "judge__rater"), pk=run_id)
    calls = JudgeCall.objects.for_page().filter(run=run)[:LAST_CALLS]
    return render(
        request,
        "judging/run.html",
        {"run": run, "progress": JudgeCall.objects.progress(run), "calls": calls},
    )


@require_safe
@staff_only
def run_progress(request: HttpRequest, run_id: int) -> HttpResponse:
    """The progress alone, asked for again and again while the run is active; then the whole page is."""
    run = get_object_or_404(JudgeRun.objects.select_related("study", "judge__rater"), pk=run_id)
    context = {"run": run, "progress": JudgeCall.objects.progress(run)}
    response = render(request, "judging/_progress.html", context)
    if not run.is_active:
        response["HX-Refresh"] = "true"
    return response


@require_POST
@staff_only
def cancel_run(request: HttpRequest, run_id: int) -> HttpResponse:
    """Stop asking."""
    run = get_object_or_404(JudgeRun, pk=run_id)
    if services.cancel_run(run):
        messages.success(request, "The run is cancelled. Calls in flight still come in.")
    else:
        messages.info(request, "The run had ended already.")
    return redirect("judge_run", run.pk)
