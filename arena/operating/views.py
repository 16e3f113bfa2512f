"""The studies somebody may operate, a new one, and the way through setting one up."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from arena import markdown
from arena.operating import steps
from arena.operating.pages import next_of, show
from arena.operating.setting_forms import GuidelinesForm, NewStudyForm, PublishForm, RatingForm, SettingForm
from arena.permissions import OperatorRequest, is_staff, operable, operator

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
    found = steps.steps(request.study)
    return show(request, "study.html", {"steps": found, "next": steps.next_step(found)})


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
