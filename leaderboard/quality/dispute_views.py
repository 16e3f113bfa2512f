"""Pages for operators: what raters disagree about, and settling it blind."""

from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_safe

from arena import adjudication, services
from arena.annotation import task
from arena.annotation.forms import RatingForm
from arena.answers import RatingError
from arena.models import Assignment, Comparison, Pair
from arena.permissions import OperatorRequest, operator
from arena.querysets import left_out_raters
from leaderboard.quality import queue
from leaderboard.quality.disagreements import KINDS, PEOPLE

INVALID: Final = 422
REFUSED: Final = 409
SETTLED: Final = "settled"

_LABELS: Final = {"people": "People differ", "judges": "People and judges differ", SETTLED: "Settled"}


@require_safe
@operator
def disagreements(request: OperatorRequest) -> HttpResponse:
    """The queue of one kind and category, or what was settled."""
    study = request.study
    show = request.GET.get("show", PEOPLE)
    show = show if show in _LABELS else PEOPLE
    categories = study.prompts.exclude(category="").order_by("category").values_list("category", flat=True)
    known = list(categories.distinct())
    category = request.GET.get("category", "")
    category = category if category in known and show in KINDS else ""
    number = request.GET.get("page")
    page: Any = queue.settled(study, number)
    if show in KINDS:
        page = queue.disputed(study, show, category, number)
    context = {
        "study": study,
        "show": show,
        "choices": [(name, label, name == show) for name, label in _LABELS.items()],
        "categories": known,
        "category": category,
        "page": page,
        "query": "&" + urlencode({"show": show, "category": category}),
        "decisions": [_decision(row) for row in page] if show == SETTLED else [],
    }
    return render(request, "leaderboard/quality/disagreements.html", context)


def _decision(row: Comparison) -> dict[str, Any]:
    """Without a word on which text: only on its page they are to be seen."""
    words = task.scale_points(row.points)[(row.rating or 1) - 1].caption
    return {"row": row, "words": words}


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def settle(request: OperatorRequest, pair: int) -> HttpResponse:
    """One pair: to be settled by this person, or what everybody said once that is done."""
    found = get_object_or_404(
        Pair.objects.filter(prompt__study=request.study).select_related("prompt", "first", "second"), pk=pair
    )
    decided = adjudication.adjudications(request.study).filter(pair=found).select_related("rater").first()
    if decided is not None:
        if "assignment" in request.POST and decided.rater.user_id != request.user.pk:
            messages.warning(request, "Somebody else settled this pair first. Your answer was not stored.")
        return _answers(request, found, decided)
    if request.method == "POST" and "assignment" in request.POST:
        return _answer(request, found)
    if request.method == "POST":
        return _offer(request, found)
    held = Assignment.objects.live().filter(
        pair=found, rater__user=request.user, purpose="adjudication", study=request.study
    )
    assignment = held.for_page().order_by("-pk").first()
    if assignment is None:
        context = {"study": request.study, "pair": found}
        return render(request, "leaderboard/quality/start.html", context)
    return _task(request, assignment)


def _offer(request: OperatorRequest, pair: Pair) -> HttpResponse:
    try:
        assignment = adjudication.offer(request.study, request.user, pair)
    except RatingError as error:
        messages.error(request, str(error))
        return redirect("operate-disagreements", slug=request.study.slug)
    services.mark_shown(assignment)
    return redirect("operate-dispute", slug=request.study.slug, pair=pair.pk)


def _answer(request: OperatorRequest, pair: Pair) -> HttpResponse:
    form = RatingForm(request.study, request.POST)
    named = Assignment.objects.named(request.POST["assignment"]).for_page().select_related("rater")
    assignment = get_object_or_404(named, pair=pair, rater__user=request.user, purpose="adjudication")
    if not form.is_valid():
        return _task(request, assignment, form, INVALID)
    try:
        services.record_comparison(assignment.rater, assignment.public_id, form.answer(assignment))
    except RatingError as error:
        messages.error(request, str(error))
        return _task(request, assignment, form, REFUSED)
    return redirect("operate-dispute", slug=request.study.slug, pair=pair.pk)


def _task(
    request: OperatorRequest, assignment: Assignment, form: RatingForm | None = None, status: int = 200
) -> HttpResponse:
    context = {"study": request.study, "task": task.build(assignment, form)}
    return render(request, "leaderboard/quality/settle.html", context, status=status)


def _answers(request: OperatorRequest, pair: Pair, decided: Comparison) -> HttpResponse:
    """Both texts as they were shown to whoever decided, the decision, and what everybody else said."""
    assignment = Assignment.objects.for_page().filter(comparisons=decided).first()
    out = left_out_raters(request.study)
    said = queue.everybody(request.study, pair, swapped=decided.swapped, left_out=out)
    context = {
        "study": request.study,
        "task": task.build(assignment, None) if assignment else None,
        "decided": decided,
        "words": task.scale_points(decided.points)[(decided.rating or 1) - 1].caption,
        "side": queue.side(decided.rating or 1, decided.points),
        "said": said,
    }
    return render(request, "leaderboard/quality/answers.html", context)
