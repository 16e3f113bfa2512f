"""Pausing, closing, reopening, moving and deleting a study."""

from datetime import datetime
from typing import Final, NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from arena.audit.recording import Kind, record
from arena.models import Completion, Question, Study, StudyEvent
from arena.models.signals import announce
from arena.pages.addresses import OTHER_STUDY
from arena.pages.operating import INVALID, paged, refused_if_taken, show
from arena.pages.permissions import OperatorRequest, Visitor, is_staff, operator
from arena.studies.forms import AddressForm


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
    record(kind, by, note.strip(), study=locked)
    if change.grave:
        announce([locked])
    setattr(study, change.field, getattr(locked, change.field))
    return True


def possible(study: Study) -> list[StudyEvent.Kind]:
    if study.is_draft:
        return []
    if study.is_closed:
        return [Kind.REOPENED]
    return [Kind.RESUMED if study.paused_at else Kind.PAUSED, Kind.CLOSED]


class Decision(NamedTuple):
    """A decision: the column it sets or clears, its button and what it means.

    grave: published figures rest on it, so it has to be confirmed.
    """

    kind: StudyEvent.Kind
    field: str
    sets: bool
    button: str
    meaning: tuple[str, ...]
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
                "People get nothing new to rate. They can still rate what is on their screen.",
                "Judges continue, and the leaderboard stays online. You can resume at any time.",
            ),
        ),
        Decision(
            Kind.RESUMED,
            "paused_at",
            False,
            "Resume",
            ("People can rate again and continue where they stopped.",),
        ),
        Decision(
            Kind.CLOSED,
            "closed_at",
            True,
            "Close",
            (
                "People and judges can no longer rate, and nobody can join.",
                "Everybody who sees the leaderboard can then see who wrote each answer, and download "
                "single ratings.",
                "You can reopen it, but raters may have seen the names.",
            ),
            grave=True,
        ),
        Decision(
            Kind.REOPENED,
            "closed_at",
            False,
            "Reopen",
            (
                "People and judges can rate again.",
                "While the study was closed, raters could see who wrote each answer. Their new ratings may "
                "not be blind. Say so where you publish the scores.",
            ),
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
            problem = "Please choose one of the buttons."
        elif decision.grave and request.POST.get("sure") != "yes":
            problem = f"Nothing was changed. Tick the box to {decision.button.lower()} the study."
        elif "\0" in (note := request.POST.get("note", "")[:1000]):
            problem = "Nothing was changed. The reason contains a NUL character, which cannot be stored."
        else:
            changed = decide(request.study, decision.kind, request.user, note)
            done = f"{decision.kind.label}."
            messages.success(request, done if changed else f"Already done. {done}")
            return redirect("operate-state", slug=request.study.slug)
    return _state_page(request, problem, AddressForm(instance=request.study))


def _state_page(request: OperatorRequest, problem: str, form: AddressForm) -> HttpResponse:
    kinds, sent = possible(request.study), request.POST.get("kind", "")
    context = {
        "decisions": [DECISIONS[kind] for kind in kinds],
        "problem": problem,
        "wrong": sent if sent in kinds else "",
        "address_form": form if is_staff(request.user) else None,
        "events": paged(request, request.study.events.select_related("by", "rater")),
    }
    return show(request, "state.html", context, status=INVALID if problem or form.errors else 200)


@require_POST
@operator
def move(request: OperatorRequest) -> HttpResponse:
    _staff_only(request)
    form = AddressForm(request.POST, instance=request.study)
    with refused_if_taken(form, "slug", OTHER_STUDY):
        changed = form.is_valid() and form.store(request.user)
    if not form.is_valid():
        request.study.refresh_from_db()
        return _state_page(request, "", form)
    messages.success(request, "Address changed." if changed else "Nothing was changed.")
    return redirect("operate-state", slug=request.study.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def delete(request: OperatorRequest) -> HttpResponse:
    """Delete the study; its name has to be typed."""
    _staff_only(request)
    study = request.study
    context = _content(study)
    if request.method != "POST":
        return show(request, "delete.html", context)
    if request.POST.get("typed", "").strip() != study.name:
        problem = "Nothing was changed. What you typed is not the name of the study."
        return show(request, "delete.html", {**context, "problem": problem}, status=422)
    with transaction.atomic():
        # Who is in the middle of rating or deciding ends first; of two who delete, the second finds nothing.
        locked = Study.objects.select_for_update().get(pk=study.pk)
        record(Kind.DELETED, request.user, _lost(_content(locked)), study=locked)
        locked.delete()
    messages.success(request, f"{study.name} deleted.")
    return redirect("operate")


def _content(study: Study) -> dict[str, int]:
    return {
        "prompts": study.prompts.count(),
        "contestants": study.contestants.count(),
        "answers": Completion.objects.filter(prompt__study=study).count(),
        "requirements": Question.objects.filter(prompt__study=study).count(),
        "comparisons": study.comparisons.count(),
        "scores": study.scores.count(),
        "checks": study.answers.count(),
    }


def _lost(counts: dict[str, int]) -> str:
    return "With " + ", ".join(f"{count:,} {what}" for what, count in counts.items()) + "."


def _staff_only(request: OperatorRequest) -> None:
    if not is_staff(request.user):
        raise PermissionDenied
