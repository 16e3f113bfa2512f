"""Setting a study up: the list of studies, a new one, its steps and settings."""

from pathlib import Path
from typing import Final

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from arena.models import Study
from arena.pages.addresses import OTHER_STUDY
from arena.pages.operating import INVALID, refused_if_taken, show
from arena.pages.permissions import OperatorRequest, is_staff, operable, operator, staff_only
from arena.rating.progress import why_nothing
from arena.rating.tasks import TASKS
from arena.studies import services, steps
from arena.studies.forms import GuidelinesForm, NewStudyForm, PublishForm, RatingForm, SettingForm
from arena.texts import markdown

USUAL_GUIDELINES: Final = {
    kind: Path(__file__).with_name(f"usual_guidelines_{kind}.md").read_text(encoding="utf-8")
    for kind in TASKS
}
"""By task."""


@require_safe
@never_cache
@login_required
def studies(request: HttpRequest) -> HttpResponse:
    found = operable(request.user).order_by("closed_at", "name")
    return render(request, "operating/studies.html", {"studies": found, "may_make": is_staff(request.user)})


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def new(request: HttpRequest) -> HttpResponse:
    form = NewStudyForm(request.POST or None)
    with refused_if_taken(form, "slug", OTHER_STUDY):
        if form.is_valid():
            study = services.create(form.save(commit=False), request.user)
    if form.is_valid():
        messages.success(request, "Study created. It is a draft until you publish it.")
        return redirect("operate-guidelines", slug=study.slug)
    status = INVALID if form.errors else 200
    return render(request, "operating/new.html", {"form": form}, status=status)


@require_safe
@operator
def study(request: OperatorRequest) -> HttpResponse:
    found = steps.steps(request.study)
    return show(request, "study.html", {"steps": found, "next": steps.next_step(found)})


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def guidelines(request: OperatorRequest) -> HttpResponse:
    """The guidelines; POST saves them, or shows the usual ones or a preview of what was typed."""
    if request.method == "POST" and {"usual", "preview"} & request.POST.keys():
        typed = {name: request.POST.get(name, "") for name in GuidelinesForm.Meta.fields}
        if "usual" in request.POST:
            chosen = request.POST["usual"]
            typed["guidelines"] = USUAL_GUIDELINES[
                chosen if chosen in USUAL_GUIDELINES else request.study.tasks[0]
            ]
        template = "_guidelines_preview.html" if request.htmx else "guidelines.html"
        form = GuidelinesForm(instance=request.study, initial=typed)
        context = {"form": form, "preview": _html(typed["guidelines"]), "unsaved": True}
        return show(request, template, context)
    return settings_page(request, GuidelinesForm, "guidelines.html", preview=_html(request.study.guidelines))


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def rating(request: OperatorRequest) -> HttpResponse:
    return settings_page(request, RatingForm, "rating.html")


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def publish(request: OperatorRequest) -> HttpResponse:
    address = request.build_absolute_uri(request.study.get_absolute_url())
    missing = [step for step in steps.steps(request.study)[:-1] if step.state == "open"]
    context = {"address": address, "open_steps": missing, "misfit": _is_misfit(request.study)}
    context["nothing"] = why_nothing(request.study)
    return settings_page(request, PublishForm, "publish.html", **context)


def _is_misfit(study: Study) -> bool:
    """Return True if the guidelines are the unchanged text for a task that the study does not have."""
    text = study.guidelines.split()
    return any(text == usual.split() for kind, usual in USUAL_GUIDELINES.items() if kind not in study.tasks)


def settings_page(
    request: OperatorRequest, form_class: type[SettingForm], template: str, **context: object
) -> HttpResponse:
    """Show a form of settings, or store it; a step of a set-up then leads to the next."""
    if request.method != "POST":
        return show(request, template, {"form": form_class(instance=request.study), **context})
    with transaction.atomic():
        # Two who save at once take turns, so that the second hears of what the first has changed.
        request.study = Study.objects.select_for_update(no_key=True).get(pk=request.study.pk)
        form = form_class(request.POST, instance=request.study)
        if form.is_valid():
            changed = form.store(request.user)
            place = steps.place_of(request.study, request) if "next" in request.POST else None
            if changed or not place:
                messages.success(request, form.done if changed else "Nothing was changed.")
            return redirect(place.next_address if place else request.path)
    request.study.refresh_from_db()  # the heading shows what is stored, the form what was typed
    return show(request, template, {"form": form, **context}, status=INVALID)


def _html(text: str) -> SafeString:
    return mark_safe(markdown.render(text)) if text.strip() else SafeString("")  # noqa: S308 - sanitised
