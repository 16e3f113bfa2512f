"""The rater's pages: studies, guidelines, and one task at a time, as forms and as JSON for the script."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arena.models import Assignment, Comparison, Flag, Membership, Rater, Role, Study
from arena.pages.operating import refuse
from arena.pages.permissions import (
    MemberRequest,
    RaterRequest,
    is_staff,
    member,
    signed_in,
    signed_out,
    wants_json,
)
from arena.rating import (
    assignments,
    recording,
    screen,
    training,
    training_pages,
)
from arena.rating.offering_texts import asked_later
from arena.rating.opinions import NotAllowedError, RatingError
from arena.rating.pace import FLOOR
from arena.rating.progress import Progress, progress, progress_in
from arena.rating.recording import AlreadyAnsweredError, Stored
from arena.rating.screen import FORMS, AnswerForm, FlagForm, said_seconds
from arena.rating.tasks import TASKS, asked
from arena.rules import scales
from arena.texts.markdown import summary
from arena.texts.rendering_cache import rendered


@dataclass(frozen=True)
class Entry:
    membership: Membership
    progress: Progress
    training: training.Waiting | None

    @property
    def study(self) -> Study:
        return self.membership.study

    @property
    def paused(self) -> str:
        """Why nothing is offered now; empty if something is."""
        if self.study.is_draft:
            return "This study is not open yet"
        if self.study.paused_at:
            return "Paused: this study offers nothing now"
        if self.membership.paused_at:
            return "Paused for you: please ask the operator"
        return "Continue after 00:00 UTC" if self.progress.today == 0 else ""


@require_safe
@never_cache
def studies(request: RaterRequest) -> HttpResponse:
    """One's own studies and those one can join; for visitors only the latter."""
    rater = Rater.objects.filter(user=request.user).first() if request.user.is_authenticated else None
    mine = list(rater.memberships.select_related("study").order_by("study__name")) if rater else []
    rated = [each for each in mine if each.role != Role.VIEWER]
    rating = [each for each in rated if not each.study.is_closed]
    joinable = Study.objects.filter(closed_at__isnull=True, is_draft=False)
    others = joinable.exclude(pk__in=[each.study_id for each in mine])
    if not is_staff(request.user):
        others = others.filter(sign_up_open=True)
    done = progress(rater, [each.study for each in rated]) if rater else {}
    waiting = training.waiting(rating)
    entries = [Entry(each, done[each.study_id], waiting.get(each.pk)) for each in rated]
    context = {
        "rater": rater,
        "mine": [each for each in entries if not each.study.is_closed],
        "seen": [each.study for each in mine if each.role == Role.VIEWER],
        "closed": [each for each in entries if each.study.is_closed],
        "shows_a_pair": any(study.compares for study in others),
        "others": [(study, summary(study.description)) for study in others],
    }
    return render(request, "annotation/studies.html", context)


REFUSED = 409  # HTTP status of an answer that was not taken
INVALID = 422  # HTTP status of an incomplete or wrong form


def stored(request: MemberRequest, finished: Assignment, *, anew: bool, reveal: str = "") -> JsonResponse:
    """The reply that an answer is stored; ``anew`` is False if it was stored before."""
    can_undo = not assignments.why_swayed(request.study, finished)
    return JsonResponse(
        {
            "status": "stored" if anew else "same",
            "detail": "",
            "progress": _progress(request, can_undo=can_undo),
            "reveal": reveal or None,
        }
    )


def _progress(request: MemberRequest, *, can_undo: bool) -> dict[str, Any]:
    done = progress_in(request.study, request.rater)
    numbers = {"rated": done.rated, "skipped": done.skipped, "left": done.left, "total": done.total}
    return numbers | {"text": done.words, "can_undo": can_undo}


def refused(detail: str, *, status: int = REFUSED, **more: Any) -> JsonResponse:
    """The reply why an answer was not stored; with ``reopen``, the earlier one can be changed."""
    return JsonResponse({"status": "refused", "detail": detail, "reopen": False, **more}, status=status)


def shown(request: HttpRequest, name: str, context: dict[str, Any], status: int = 200) -> JsonResponse:
    """The reply with a part of the rating screen."""
    return JsonResponse({"status": "shown", "detail": "", **_part(request, name, context)}, status=status)


def _part(request: HttpRequest, name: str, context: dict[str, Any]) -> dict[str, str]:
    task = context.get("task")
    return {
        "assignment": task.assignment.public_id if task else "",
        "html": render_to_string(f"annotation/{name}.html", context, request),
    }


def guidance(membership: Membership) -> dict[str, object]:
    """The context of _guidelines.html."""
    study = membership.study
    text = study.guidelines.strip()
    return {
        "study": study,
        "guidelines": rendered([text])[text] if text else "",
        "scale": list(enumerate(scales.CAPTIONS[study.points], start=1)),
        "checks_follow": Assignment.Kind.CHECK in asked_later(study, Assignment.Kind.SCORE),
        "examples": training_pages.examples(membership),
    }


def reveal(study: Study, stored: Any) -> str:
    """Who wrote the two texts just rated; empty if the study does not tell."""
    if not study.reveal_names or not isinstance(stored, Comparison) or stored.rating is None:
        return ""
    both = stored.pair.shown(stored.swapped)
    first, second = (one.contestant.name if one.contestant else "an unknown author" for one in both)
    choice = {
        -1: "you chose A over B",
        0: "you called it a tie",
        1: "you chose B over A",
    }[scales.verdict(stored.rating, stored.points)]
    return f"Last pair: {choice}. {first} wrote A, {second} wrote B."


@require_http_methods(["GET", "HEAD", "POST"])
@member
def guidelines(request: MemberRequest) -> HttpResponse:
    if request.method == "POST":
        Membership.objects.filter(pk=request.membership.pk, guidelines_read_at__isnull=True).update(
            guidelines_read_at=timezone.now()
        )
        return redirect("rate-study", slug=request.study.slug)
    agreed = request.membership.consent
    context = guidance(request.membership) | {
        "training_needed": training.needed(request.membership),
        "agreed": rendered([agreed])[agreed] if agreed else "",
        "asked": asked(request.membership.study),
    }
    return render(request, "annotation/guidelines.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@member
def rate(request: MemberRequest) -> HttpResponse:
    """The pair to rate now; POST takes an answer and shows the next."""
    if request.method == "POST":
        return _submit(request)
    if request.membership.guidelines_read_at is None and not wants_json(request):
        return redirect("guidelines", slug=request.study.slug)
    if not wants_json(request) and training.needed(request.membership):
        return redirect("training", slug=request.study.slug)
    return _show(request)


def _submit(request: MemberRequest) -> HttpResponse:
    if _is_somebody_elses(request):
        return signed_out("Another account is signed in.")
    try:
        finished, answered, anew = _record(request)
    except _FormError as error:
        return _invalid(request, error.form)
    except AlreadyAnsweredError as error:
        return _answered(request, error)
    except RatingError as error:
        if wants_json(request):
            return refused(str(error))
        named = Assignment.objects.named(request.POST.get("assignment", ""))
        form = _form(request, named.filter(rater=request.rater, study=request.study).first())
        if not refuse(form, form.field_of(error), str(error)):
            messages.error(request, str(error))
        return _show(request, form, status=REFUSED)
    names = reveal(request.study, answered[0])
    if wants_json(request):
        return stored(request, finished, anew=anew, reveal=names)
    if names:
        messages.info(request, names)
    return _next(request)


class _FormError(Exception):
    def __init__(self, form: AnswerForm) -> None:
        super().__init__()
        self.form = form


@transaction.atomic
def _record(request: MemberRequest) -> tuple[Assignment, Stored, bool]:
    """Return what is answered, what is stored now, and if it is new. Raises _FormError or RatingError."""
    study = assignments.lock_to_rate(request.study, request.rater)
    # Of this study alone: the form of another asks for other criteria.
    name = request.POST.get("assignment", "")
    assignment = recording.own_assignments(request.rater, [name], study).get(name)
    form = _form(request, assignment)
    if not form.is_valid():
        raise _FormError(form)
    said, assignment = form.answer(), recording.existing(assignment)
    anew = assignment.state != Assignment.State.SUBMITTED
    return assignment, recording.record_locked(assignment, said), anew


def _form(request: MemberRequest, assignment: Assignment | None) -> AnswerForm:
    kind = assignment.kind if assignment else Assignment.Kind.COMPARE
    return FORMS[kind](request.study, assignment, request.POST)


def _is_somebody_elses(request: MemberRequest) -> bool:
    """Return True if the script sends the answer of an account that is no longer the one signed in."""
    return wants_json(request) and request.POST.get("rater", "") != str(request.user.pk)


def _invalid(request: MemberRequest, form: AnswerForm) -> HttpResponse:
    if wants_json(request):
        return refused(_first_error(form), status=INVALID)
    if "asked" in form.errors:  # what was chosen says nothing about what is asked now
        messages.error(request, _first_error(form))
        return _show(request, status=INVALID)
    return _show(request, form, status=INVALID)


def _first_error(form: AnswerForm | FlagForm) -> str:
    return str(next(iter(form.errors.values()))[0])


def _answered(request: MemberRequest, error: AlreadyAnsweredError) -> HttpResponse:
    assignment = error.assignment
    earlier = TASKS[assignment.kind].given.format(error.stored[0].in_words)
    reopen = not assignments.why_swayed(request.study, assignment)
    if wants_json(request):
        detail = f"{earlier}, perhaps in another tab. That is kept; the new one was not stored."
        return refused(detail, reopen=reopen, progress=_progress(request, can_undo=reopen))
    context = {"study": request.study, "earlier": earlier, "public_id": assignment.public_id}
    return _page(request, "_answered", context | {"reopen": reopen}, REFUSED)


@require_POST
@member
def skip(request: MemberRequest) -> HttpResponse:
    """Put the pair aside; a reopened answer is kept."""
    if _is_somebody_elses(request):
        return signed_out("Another account is signed in.")
    return _put_aside(request, lambda: assignments.skip(request.rater, request.POST.get("assignment", "")))


def _put_aside(request: MemberRequest, act: Callable[[], Assignment]) -> HttpResponse:
    try:
        finished = act()
    except RatingError as error:
        if wants_json(request):
            return refused(str(error))
        messages.error(request, str(error))
        return _next(request)
    if wants_json(request):
        return stored(request, finished, anew=True)
    return _next(request)


@require_http_methods(["GET", "HEAD", "POST"])
@member
def flag(request: MemberRequest) -> HttpResponse:
    if request.method != "POST":
        form = FlagForm(initial={"assignment": request.GET.get("assignment", "")})
        return _flag_page(request, form, 200)
    if _is_somebody_elses(request):
        return signed_out("Another account is signed in.")
    form = FlagForm(request.POST)
    if not form.is_valid():
        if wants_json(request):
            return refused(_first_error(form), status=INVALID)
        return _flag_page(request, form, INVALID)
    data = form.cleaned_data
    answer = (data["assignment"], data["reason"], data["comment"])
    return _put_aside(request, lambda: assignments.flag(request.rater, *answer).assignment)


def _flag_page(request: MemberRequest, form: FlagForm, status: int) -> HttpResponse:
    context = {"study": request.study, "form": form, "reasons": Flag.Reason.choices}
    return render(request, "annotation/flag.html", context, status=status)


@require_POST
@member
def undo(request: MemberRequest) -> HttpResponse:
    """Reopen the last pair, or the one named by ``reopen``."""
    why = ""
    try:
        if assignments.undo(request.study, request.rater, request.POST.get("reopen") or None) is None:
            why = "You have nothing to undo."
    except NotAllowedError as error:
        why = str(error)
    if why:
        if wants_json(request):
            return refused(why)
        messages.info(request, why)
    return _show(request) if wants_json(request) else _next(request)


@require_safe
@member
def ahead(request: MemberRequest) -> HttpResponse:
    """Lease the pair after ``after``, which has been on screen ``seen`` seconds; empty if there is none."""
    try:
        seen = said_seconds(request.GET.get("seen", "")) or 0
        claimed = assignments.claim(request.study, request.rater, request.GET.get("after", ""), seen)
    except NotAllowedError:
        claimed = None
    if claimed is None:
        return JsonResponse({"status": "shown", "detail": "", "assignment": "", "html": ""})
    return shown(request, "_task", _task(request, claimed) | {"can_undo": True})


@require_safe
@signed_in
def token(request: RaterRequest) -> HttpResponse:
    """Return what a script needs to send answers that waited while nobody was signed in."""
    return JsonResponse({"token": get_token(request), "rater": str(request.user.pk)})


def _next(request: MemberRequest) -> HttpResponse:
    return redirect("rate-study", slug=request.study.slug)


def _show(request: MemberRequest, form: AnswerForm | None = None, status: int = 200) -> HttpResponse:
    """The assignment this person holds, leased now if there was none, or why there is none."""
    try:
        found = assignments.claim_task(request.study, request.rater, membership=request.membership)
    except NotAllowedError as error:
        done = progress_in(request.study, request.rater)
        context = {"study": request.study, "progress": done, "why": str(error)}
        return _page(request, "_refused", context, REFUSED)
    study, claimed = found.study, found.assignment
    done = progress_in(study, request.rater, found)
    can_undo = done.rated + done.skipped > 0 and not assignments.is_last_swayed(study, request.rater)
    known: dict[str, object] = {"study": study, "progress": done, "can_undo": can_undo}
    if claimed is None:
        others = assignments.others_hold_some(study, request.rater)
        return _page(
            request, "_finished", known | {"why": done.ended(study, others_hold_some=others)}, status
        )
    assignments.mark_shown(claimed)
    if form and form.data.get("assignment") != claimed.public_id:
        if status == REFUSED and not form.non_field_errors():
            messages.error(request, _first_error(form))
        form = None  # an answer to another pair says nothing about this one
    return _page(request, "_task", known | _task(request, claimed, form), status)


def _task(request: MemberRequest, claimed: Assignment, form: AnswerForm | None = None) -> dict[str, object]:
    """The context of a task that was claimed with its texts."""
    claimed.study = request.study
    return {"study": request.study, "task": screen.build(claimed, form)}


def _page(request: MemberRequest, name: str, context: dict[str, object], status: int) -> HttpResponse:
    """A part of the rating screen, inside the whole page unless the script asks."""
    if wants_json(request):
        return shown(request, name, context, status)
    whole = context | guidance(request.membership) | {"part": f"annotation/{name}.html"}
    # A pair with several criteria, and several requirements, are submitted when all is answered.
    submitting = (request.study.compares and not request.study.criteria) or "score" in request.study.tasks
    whole |= {"flag_reasons": Flag.Reason.choices, "floor": FLOOR, "offers_submitting": submitting}
    return render(request, "annotation/rate.html", whole, status=status)
