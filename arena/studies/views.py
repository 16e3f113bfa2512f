"""The studies somebody may operate, a new one, and the way through setting one up."""

from typing import Final, NamedTuple

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from arena.models import StudyEvent
from arena.people.permissions import OperatorRequest, is_staff, operable, operator
from arena.studies import lifecycle, pages
from arena.studies.forms import GuidelinesForm, NewStudyForm, PublishForm, RatingForm, SettingForm
from arena.studies.pages import next_of, paged, show
from arena.texts import markdown

INVALID = 422
"""Status of a form that was filled in wrongly; htmx is told to show it."""


@require_safe
@never_cache
@login_required
def studies(request: HttpRequest) -> HttpResponse:
    """The studies this person may operate."""
    found = operable(request.user).order_by("closed_at", "name")
    return render(request, "operating/studies.html", {"studies": found, "may_make": is_staff(request.user)})


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def new(request: HttpRequest) -> HttpResponse:
    """Make a study; staff accounts only. It is private until it is published."""
    if not is_staff(request.user):
        raise PermissionDenied
    form = NewStudyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            study = form.save()
        messages.success(request, "The study is made. It is private until you publish it.")
        return redirect("operate-study", slug=study.slug)
    status = INVALID if form.errors else 200
    return render(request, "operating/new.html", {"form": form}, status=status)


@require_safe
@operator
def study(request: OperatorRequest) -> HttpResponse:
    """Every step of the set-up with its state, and what to do next."""
    found = pages.steps(request.study)
    return show(request, "study.html", {"steps": found, "next": pages.next_step(found)})


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def guidelines(request: OperatorRequest) -> HttpResponse:
    """What raters are told, with a preview of what they will see."""
    if request.method == "POST" and "preview" in request.POST:
        text = request.POST.get("guidelines", "")
        form = GuidelinesForm(instance=request.study, initial={"guidelines": text})
        return show(request, "guidelines.html", {"form": form, "preview": _html(text), "unsaved": True})
    return _setting(request, GuidelinesForm, "guidelines.html", preview=_html(request.study.guidelines))


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def rating(request: OperatorRequest) -> HttpResponse:
    """Scale, criteria, reasons, how much is wanted and which pairs people get."""
    return _setting(request, RatingForm, "rating.html")


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def publish(request: OperatorRequest) -> HttpResponse:
    """Who may see the results, and who may rate."""
    return _setting(request, PublishForm, "publish.html")


def _setting(
    request: OperatorRequest, form_class: type[SettingForm], template: str, **context: object
) -> HttpResponse:
    """Show a form of settings, or store it and go on where the button says."""
    if request.method != "POST":
        return show(request, template, {"form": form_class(instance=request.study), **context})
    with transaction.atomic():
        form = form_class(request.POST, instance=request.study)
        if form.is_valid():
            messages.success(request, "Saved." if form.store(request.user) else "Nothing was changed.")
            following = next_of(request)
            return redirect(following if "next" in request.POST and following else request.path)
    request.study.refresh_from_db()  # the heading shows what is stored, the form what was typed
    return show(request, template, {"form": form, **context}, status=INVALID)


def _html(text: str) -> SafeString:
    return mark_safe(markdown.render(text)) if text.strip() else SafeString("")  # noqa: S308 - sanitised


# Pausing, resuming, closing and reopening a study, and what was decided before.


Kind = StudyEvent.Kind


class Decision(NamedTuple):
    """Something that can be decided: its button, what it means, and what is said once it is done."""

    kind: StudyEvent.Kind
    button: str
    meaning: tuple[str, ...]
    done: str
    grave: bool = False


DECISIONS: Final = {
    decision.kind: decision
    for decision in (
        Decision(
            Kind.PAUSED,
            "Pause",
            (
                "People are offered no new pairs. What they have on screen can still be answered.",
                "The board stays as it is, and judges go on. Nothing is lost; resume at any time.",
            ),
            "The study is paused.",
        ),
        Decision(
            Kind.RESUMED,
            "Resume",
            ("People are offered pairs again, where they left off.",),
            "The study goes on.",
        ),
        Decision(
            Kind.CLOSED,
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
    """The state of a study, what can be decided about it, and the history."""
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
            changed = lifecycle.decide(request.study, decision.kind, request.user, note)
            messages.success(request, decision.done if changed else f"It was so already. {decision.done}")
            return redirect("operate-state", slug=request.study.slug)
    context = {
        "decisions": [DECISIONS[kind] for kind in lifecycle.possible(request.study)],
        "problem": problem,
        "events": paged(request, request.study.events.select_related("by", "rater")),
    }
    return show(request, "state.html", context, status=422 if problem else 200)
