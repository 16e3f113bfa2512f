"""The log of what operators do: a page and files for staff accounts."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, time
from operator import attrgetter
from typing import Any, Final

from django import forms
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from arena.audit.recording import Kind, record
from arena.files.writing import Row, Table, Type
from arena.models import Study, StudyEvent
from arena.pages.operating import paged, sent
from arena.pages.permissions import staff_only

FORMATS: Final = {"csv": "CSV", "jsonl": "JSON Lines"}

COLUMNS: Final[dict[str, tuple[Type, Callable[[StudyEvent], Any]]]] = {
    "number": (Type.INTEGER, attrgetter("pk")),
    "at": (Type.MOMENT, attrgetter("at")),
    "kind": (Type.TEXT, attrgetter("kind")),
    "what": (Type.TEXT, StudyEvent.get_kind_display),
    "by": (Type.TEXT, attrgetter("who")),
    "account": (Type.TEXT, lambda event: event.account and event.account.get_username()),
    "rater": (Type.TEXT, lambda event: event.rater and event.rater.slug),
    "study": (Type.TEXT, lambda event: (event.study.slug if event.study else event.study_slug) or None),
    "note": (Type.TEXT, lambda event: event.note or None),
    "request": (Type.TEXT, lambda event: event.request or None),
}
TABLE: Final = Table("audit", {name: kind for name, (kind, _) in COLUMNS.items()}, complete=True)

CHUNK: Final = 1000
_DAY: Final = ["%Y-%m-%d", "%d %b %Y", "%d %B %Y"]
_BAD_DAY: Final = {"invalid": "Enter a day such as 31 Dec 2030."}


def _day(label: str) -> forms.DateField:
    widget = forms.DateInput({"type": "date"}, format="%Y-%m-%d")
    return forms.DateField(
        label=label, required=False, input_formats=_DAY, error_messages=_BAD_DAY, widget=widget
    )


class FilterForm(forms.Form):
    by = forms.CharField(label="Account", required=False, max_length=150)
    study = forms.CharField(label="Address of the study", required=False, max_length=80)
    kind = forms.ChoiceField(
        label="What",
        required=False,
        choices=[("", "Everything"), *sorted(Kind.choices, key=lambda one: one[1])],
    )
    since = _day("From")
    until = _day("To")

    def clean_by(self) -> str:
        name = str(self.cleaned_data["by"])
        if name and not User.objects.filter(username=name).exists():
            raise forms.ValidationError(f"No account has the name “{name}”.")
        return name

    def clean_study(self) -> str:
        slug = str(self.cleaned_data["study"])
        known = (
            Study.objects.filter(slug=slug).exists() or StudyEvent.objects.filter(study_slug=slug).exists()
        )
        if slug and not known:
            raise forms.ValidationError(f"No study has had the address “{slug}”.")
        return slug

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and until < since:
            self.add_error("until", "The last day is before the first.")
        return cleaned

    def chosen(self) -> "QuerySet[StudyEvent]":
        """The lines asked for; none while a field is wrong."""
        found = StudyEvent.objects.select_related("by", "account", "rater", "study")
        if not self.is_valid():
            return found.none()
        by, study, kind, since, until = (self.cleaned_data[name] for name in self.fields)
        for asked, lines in (
            (by, Q(by__username=by) | Q(account__username=by)),
            (study, Q(study__slug=study) | Q(study=None, study_slug=study)),
            (kind, Q(kind=kind)),
            (since, since and Q(at__gte=datetime.combine(since, time.min, UTC))),
            (until, until and Q(at__lte=datetime.combine(until, time.max, UTC))),
        ):
            found = found.filter(lines) if asked else found
        return found


@require_safe
@staff_only
def audit(request: HttpRequest) -> HttpResponse:
    form = FilterForm(request.GET)
    page = paged(request, form.chosen())
    asked = request.GET.copy()
    asked.pop("page", None)
    said = asked.urlencode()
    context = {"form": form, "page": page, "asked": said, "query": f"&{said}" if said else ""}
    return render(request, "operating/audit.html", context, status=200 if form.is_valid() else 422)


@require_safe
@staff_only
def audit_file(request: HttpRequest, form: str) -> HttpResponseBase:
    """The lines that the page shows, as a file."""
    filters = FilterForm(request.GET)
    if not filters.is_valid():
        return audit(request)
    rows = filters.chosen()
    if request.method == "GET":
        own = record(Kind.DOWNLOADED, request.user, f"The audit log as {FORMATS[form]}.")
        rows = rows.filter(pk__lt=own.pk)
    return sent(f"audit-{timezone.now():%Y-%m-%d}", TABLE, _rows(rows), form)


def _rows(events: "QuerySet[StudyEvent]") -> Iterator[Row]:
    for event in events.iterator(CHUNK):
        yield {name: value(event) for name, (_, value) in COLUMNS.items()}
