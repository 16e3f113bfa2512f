"""Rating: the studies to rate, the guidelines, and one pair at a time."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arena import services
from arena.annotation import task
from arena.annotation.access import MemberRequest, RaterRequest, member, signed_in
from arena.annotation.forms import RatingForm
from arena.answers import AlreadyAnsweredError, NotAllowedError, RatingError
from arena.models import Assignment, Membership, Rater, Study
from arena.progress import Progress, progress
from arena.rendering_cache import rendered

REFUSED = 409
"""Status of a page that says why an answer was not taken; htmx is told to show it."""
INVALID = 422


@require_safe
@signed_in
def studies(request: RaterRequest) -> HttpResponse:
    """The studies this person may rate, with progress, and those anybody may join."""
    rater = Rater.objects.filter(user=request.user).first()
    mine = list(Study.objects.for_rater(rater)) if rater else []
    done = progress(rater, mine) if rater else {}
    others = Study.objects.filter(closed_at__isnull=True).exclude(pk__in=[study.pk for study in mine])
    if not request.user.is_staff:
        others = others.filter(sign_up_open=True)
    return render(
        request,
        "annotation/studies.html",
        {"mine": [(study, done[study.pk]) for study in mine], "others": others, "rater": rater},
    )


@require_http_methods(["GET", "HEAD", "POST"])
@member
def guidelines(request: MemberRequest) -> HttpResponse:
    """What to look for; "Start rating" remembers that they were shown."""
    if request.method == "POST":
        Membership.objects.filter(pk=request.membership.pk, guidelines_read_at__isnull=True).update(
            guidelines_read_at=timezone.now()
        )
        return redirect("rate-study", slug=request.study.slug)
    return render(request, "annotation/guidelines.html", _guidelines(request.study))


def _guidelines(study: Study) -> dict[str, object]:
    text = study.guidelines.strip()
    return {
        "study": study,
        "guidelines": rendered([text])[text] if text else "",
        "scale": task.scale_in_words(study),
    }


@require_http_methods(["GET", "HEAD", "POST"])
@member
def rate(request: MemberRequest) -> HttpResponse:
    """The pair to rate now; POST takes the answer to one and shows the next."""
    if request.method == "POST":
        return _submit(request)
    if request.membership.guidelines_read_at is None and not request.htmx:
        return redirect("guidelines", slug=request.study.slug)
    return _show(request)


def _submit(request: MemberRequest) -> HttpResponse:
    form = RatingForm(request.study, request.POST)
    if not form.is_valid():
        return _show(request, form, status=INVALID)
    public_id = form.cleaned_data["assignment"]
    assignment = Assignment.objects.filter(rater=request.rater, public_id=public_id).first()
    try:
        services.record_comparison(request.rater, public_id, form.answer(assignment))
    except AlreadyAnsweredError as error:
        context = {"study": request.study, "earlier": error.comparison, "public_id": public_id}
        return _page(request, "_answered", context, REFUSED)
    except RatingError as error:
        messages.error(request, str(error))
        return _show(request, form, status=REFUSED)
    return _next(request)


@require_POST
@member
def skip(request: MemberRequest) -> HttpResponse:
    """Put the pair aside, or keep the answer that was reopened."""
    try:
        services.skip(request.rater, request.POST.get("assignment", ""))
    except RatingError as error:
        messages.error(request, str(error))
    return _next(request)


@require_POST
@member
def undo(request: MemberRequest) -> HttpResponse:
    """Bring back the last pair, or the one named by ``reopen``, to answer it anew."""
    if services.undo(request.study, request.rater, request.POST.get("reopen") or None) is None:
        messages.info(request, "There is nothing to undo.")
    return _next(request)


def _next(request: MemberRequest) -> HttpResponse:
    """The next pair: by htmx at once; otherwise by a redirect, so that a reload sends nothing twice."""
    return _show(request) if request.htmx else redirect("rate-study", slug=request.study.slug)


def _show(request: MemberRequest, form: RatingForm | None = None, status: int = 200) -> HttpResponse:
    """The assignment this person holds, leased now if there was none, or why there is none."""
    try:
        claimed = services.claim(request.study, request.rater)
    except NotAllowedError as error:
        return _page(request, "_refused", {"study": request.study, "why": str(error)}, REFUSED)
    done = progress(request.rater, [request.study])[request.study.pk]
    if claimed is None:
        return _page(request, "_finished", {"study": request.study, "progress": done}, status)
    return _page(request, "_task", _task(request, claimed, form, done), status)


def _task(
    request: MemberRequest, claimed: Assignment, form: RatingForm | None, done: Progress
) -> dict[str, object]:
    services.mark_shown(claimed)
    assignment = Assignment.objects.for_page().get(pk=claimed.pk)
    if form and form.data.get("assignment") != assignment.public_id:
        form = None  # an answer to another pair says nothing about this one
    return {
        "study": request.study,
        "progress": done,
        "task": task.build(assignment, form),
        "can_undo": done.rated + done.skipped > 0,
    }


def _page(request: MemberRequest, name: str, context: dict[str, object], status: int) -> HttpResponse:
    """A part of the rating screen: alone for htmx, otherwise inside the whole page."""
    if request.htmx:
        return render(request, f"annotation/{name}.html", context | {"alone": True}, status=status)
    whole = context | _guidelines(request.study) | {"part": f"annotation/{name}.html"}
    return render(request, "annotation/rate.html", whole, status=status)
