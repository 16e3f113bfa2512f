"""Pausing, closing, reopening, moving and deleting a study."""

from datetime import datetime
from typing import Final, NamedTuple

from django.contrib import messages
from django.contrib.admin.models import DELETION, LogEntry
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from arena.models import Completion, Study, StudyEvent
from arena.models.signals import announce
from arena.people.permissions import OperatorRequest, Visitor, is_staff, operator
from arena.studies.pages import paged, show
from arena.studies.setting_up import AddressForm

Kind = StudyEvent.Kind


@transaction.atomic
def decide(study: Study, kind: StudyEvent.Kind, by: Visitor, note: str = "") -> bool:
    """Decide about a study, on record; False if it is so already. What raters hold can still be answered."""
    change = DECISIONS[kind]
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    then: datetime | None = getattr(locked, change.field)
    if (then is not None) == change.sets:
        return False
    setattr(locked, change.field, timezone.now() if change.sets else None)
    locked.save(update_fields=[change.field])
    StudyEvent.objects.create(study=locked, kind=kind, by=by if by and by.pk else None, note=note.strip())
    if change.grave:
        announce([locked])
    setattr(study, change.field, getattr(locked, change.field))
    return True


def possible(study: Study) -> list[StudyEvent.Kind]:
    if study.is_closed:
        return [Kind.REOPENED]
    return [Kind.RESUMED if study.paused_at else Kind.PAUSED, Kind.CLOSED]


class Decision(NamedTuple):
    """A decision: the column it sets or clears, its button, what it means, and what is said once it is done.

    grave: published figures rest on it, so it has to be confirmed.
    """

    kind: StudyEvent.Kind
    field: str
    sets: bool
    button: str
    meaning: tuple[str, ...]
    done: str
    grave: bool = False


DECISIONS: Final = {
    decision.kind: decision
    for decision in (
        Decision(
            Kind.PAUSED,
            "paused_at",
            True,
            "Pause",
            (
                "People are offered no new pairs. What they have on screen can still be answered.",
                "The board stays as it is, and judges go on. Nothing is lost; resume at any time.",
            ),
            "The study is paused.",
        ),
        Decision(
            Kind.RESUMED,
            "paused_at",
            False,
            "Resume",
            ("People are offered pairs again, where they left off.",),
            "The study goes on.",
        ),
        Decision(
            Kind.CLOSED,
            "closed_at",
            True,
            "Close",
            (
                "No more ratings are taken, from people or judges; nobody can join any more.",
                "Names may then stand beside texts: whoever sees the board can look up who wrote what, "
                "and single votes can be downloaded.",
                "It can be reopened, but what people have seen by then they have seen.",
            ),
            "The study is closed.",
            grave=True,
        ),
        Decision(
            Kind.REOPENED,
            "closed_at",
            False,
            "Reopen",
            (
                "Ratings are taken again.",
                "While the study was closed, names stood beside texts. Raters may have seen who wrote what; "
                "what they rate from now on may not be blind. Say so where you publish the numbers.",
            ),
            "The study is open again.",
            grave=True,
        ),
    )
}


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def state(request: OperatorRequest) -> HttpResponse:
    problem = ""
    if request.method == "POST":
        decision = DECISIONS.get(request.POST.get("kind", ""))  # type: ignore[call-overload]
        if decision is None:
            problem = "There is no such decision; choose one of the buttons."
        elif decision.grave and request.POST.get("sure") != "yes":
            problem = (
                f"Nothing was changed: tick the box to say that you want to {decision.button.lower()} it."
            )
        elif "\0" in (note := request.POST.get("note", "")[:1000]):
            problem = "Nothing was changed: the note holds a NUL character, which cannot be stored."
        else:
            changed = decide(request.study, decision.kind, request.user, note)
            messages.success(request, decision.done if changed else f"It was so already. {decision.done}")
            return redirect("operate-state", slug=request.study.slug)
    context = {
        "decisions": [DECISIONS[kind] for kind in possible(request.study)],
        "problem": problem,
        "address_form": AddressForm(instance=request.study) if is_staff(request.user) else None,
        "events": paged(request, request.study.events.select_related("by", "rater")),
    }
    return show(request, "state.html", context, status=422 if problem else 200)


@require_POST
@operator
def move(request: OperatorRequest) -> HttpResponse:
    _staff_only(request)
    form = AddressForm(request.POST, instance=request.study)
    if form.is_valid():
        changed = form.store(request.user)
        messages.success(request, "The study has moved." if changed else "Nothing was changed.")
    else:
        request.study.refresh_from_db()
        messages.error(request, f"Nothing was changed: {form.errors['slug'][0]}")
    return redirect("operate-state", slug=request.study.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def delete(request: OperatorRequest) -> HttpResponse:
    """Delete the study; its name has to be typed."""
    _staff_only(request)
    study = request.study
    context = {
        "prompts": study.prompts.count(),
        "contestants": study.contestants.count(),
        "answers": Completion.objects.filter(prompt__study=study).count(),
        "comparisons": study.comparisons.count(),
    }
    if request.method != "POST":
        return show(request, "delete.html", context)
    if request.POST.get("typed", "").strip() != study.name:
        problem = "Nothing was changed: what you typed is not the name above."
        return show(request, "delete.html", {**context, "problem": problem}, status=422)
    with transaction.atomic():
        LogEntry.objects.log_actions(request.user.pk, Study.objects.filter(pk=study.pk), DELETION)
        study.delete()
    messages.success(request, f"The study {study.name} is deleted.")
    return redirect("operate")


def _staff_only(request: OperatorRequest) -> None:
    if not is_staff(request.user):
        raise PermissionDenied
