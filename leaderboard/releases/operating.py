"""Operators' pages of releases: making one, and correcting what can be corrected."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from arena.pages.operating import INVALID
from arena.pages.permissions import OperatorRequest, operator
from leaderboard.models import Snapshot
from leaderboard.releases import services
from leaderboard.releases.fields import Fields, FieldsError
from leaderboard.snapshots.freshness import behind

REFUSED = 409
DOI_HELP = "Optional, such as 10.5281/zenodo.1234567."


def _text(label: str, help_text: str = "", rows: int = 0, **more: Any) -> forms.CharField:
    widget = forms.Textarea({"rows": rows}) if rows else forms.TextInput()
    return forms.CharField(label=label, help_text=help_text, widget=widget, **{"required": False, **more})


class CorrectionForm(forms.Form):
    """Texts as typed; leaderboard.releases.fields says what is wrong with them."""

    doi = _text("DOI", DOI_HELP)
    changelog = _text("Changelog", "What is new for readers, in plain text.", rows=6)

    def add_problems(self, error: FieldsError) -> None:
        for name, problem in error.problems.items():
            self.add_error(name, problem)


class ReleaseForm(CorrectionForm):
    version = _text(
        "Version", "Such as 1.0 or 2026-05. No two releases of a study have the same.", required=True
    )
    authors = _text(
        "Authors",
        "One person per line: Name <ORCID or affiliation>. Put the family name last, or first with a comma. "
        "These names are public and cannot be changed later.",
        rows=4,
        required=True,
    )
    licence = _text("Licence", "Of ratings and scores, such as CC-BY-4.0.")
    field_order = ("version", "authors", "licence", "doi", "changelog")


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def releases(request: OperatorRequest) -> HttpResponse:
    """The releases of the study; POST makes another."""
    study = request.study
    form = ReleaseForm(request.POST or None, initial={"licence": study.licence})
    status, problem = 200, ""
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            fields = Fields.read(**{**given, "authors": given["authors"].splitlines()})
            outcome = services.release(study, fields, request.user)
        except FieldsError as error:
            form.add_problems(error)
        except services.ReleaseError as error:
            status, problem = REFUSED, str(error)
        else:
            done = "created" if outcome.made else "exists already"
            messages.success(request, f"Release {outcome.release.version} {done}.")
            return redirect(outcome.release)
    newest = Snapshot.objects.newest(study)
    context = {
        "study": study,
        "form": form,
        "problem": problem,
        "newest": newest,
        "behind": behind(study, newest) if newest else 0,
        "releases": study.releases.listed(),
    }
    return render(
        request, "leaderboard/operate_releases.html", context, status=INVALID if form.errors else status
    )


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def correct(request: OperatorRequest, number: int) -> HttpResponse:
    found = get_object_or_404(request.study.releases.listed(), number=number)
    form = CorrectionForm(request.POST or None, initial={"doi": found.doi, "changelog": found.changelog})
    if request.method == "POST" and form.is_valid():
        try:
            changed = services.correct(number, request.study, **form.cleaned_data, by=request.user)
        except FieldsError as error:
            form.add_problems(error)
        else:
            messages.success(request, "Saved." if changed else "Nothing changed.")
            return redirect("operate-releases", slug=request.study.slug)
    context = {"study": request.study, "form": form, "release": found}
    status = INVALID if form.errors else 200
    return render(request, "leaderboard/operate_release.html", context, status=status)
