"""Pages to import data: upload, check, apply. Workers do the work."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import RequestDataTooBig, TooManyFilesSent
from django.db import connection
from django.db.models import F
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django_htmx.http import HttpResponseClientRefresh

from arena.data.formats.records import in_words
from arena.data.formats.table import KINDS
from arena.data.importing.import_report import ImportReport
from arena.data.uploads import jobs
from arena.data.uploads.forms import (
    MIB,
    FileForm,
    QuotaHandler,
    UploadForm,
    fields_by_kind,
    file_forms,
    max_bytes,
    too_much,
)
from arena.files import writing
from arena.files.writing import Table, Type
from arena.models import ImportJob, Question, Study
from arena.pages.permissions import OperatorRequest, operator

RequestT = TypeVar("RequestT", bound=HttpRequest)


def _preview(kind: str, rows: list[dict[str, str]]) -> tuple[str, list[str], list[list[str]]]:
    """Title, columns and cells of the first records of one kind, without empty columns."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    # What is under "turns" is nearly always one text.
    text = {"prompts": "prompt", "completions": "answer"}.get(kind, "turns")
    columns = [(text if name == "turns" else in_words(name)).capitalize() for name in names]
    return in_words(kind).capitalize(), columns, [[row.get(name, "") for name in names] for row in rows]


def within_quota(
    request: RequestT,
    take: Callable[[RequestT, QuotaHandler], HttpResponseBase],
    refuse: Callable[[RequestT, str], HttpResponseBase],
) -> HttpResponseBase:
    """The reply of ``take`` to a form with files, or of ``refuse`` to one that is too large to be read.

    For views without CSRF check: the limit must be in place before anything reads the request.
    """
    quota = QuotaHandler()
    request.upload_handlers = [quota, *request.upload_handlers]
    try:
        return csrf_protect(take)(request, quota)
    except (RequestDataTooBig, TooManyFilesSent) as error:
        while request.read(MIB):
            pass  # a browser reads no reply while it is sending
        reason = "too many files" if isinstance(error, TooManyFilesSent) else "too much text"
        return refuse(request, f"This is {reason} for one form. Put it into one file.")


_ERRORS: Final = Table(
    "errors", {"file": Type.TEXT, "line": Type.INTEGER, "field": Type.TEXT, "reason": Type.TEXT}
)


SHOWN_JOBS: Final = 10
WORTH_A_WARNING: Final = 5  # seconds that raters wait from which on the page warns


@operator
def _upload(request: OperatorRequest) -> HttpResponseBase:
    if request.method != "POST":
        return _upload_page(request, UploadForm())
    return within_quota(request, _take, _too_much)


upload = csrf_exempt(_upload)  # within_quota checks it instead


def _too_much(request: OperatorRequest, reason: str) -> HttpResponse:
    form = UploadForm({})
    form.errors.clear()
    form.add_error(None, reason)
    return _upload_page(request, form)


@operator
def job(request: OperatorRequest, job: int) -> HttpResponse:
    found = _job(request.study, job)
    if request.method != "POST":
        return _page(request, "job.html", _about(found, _forms(found)))
    if "cancel" in request.POST:
        jobs.cancel(found)
    elif "apply" in request.POST or "leave_out" in request.POST:
        _apply(request, found)
    elif "check" in request.POST and found.state == ImportJob.State.CHECKED:
        forms = _forms(found, request.POST)
        if any(form.errors for form in forms):
            return _page(request, "job.html", _about(found, forms))
        jobs.request_check(found, [form.chosen() for form in forms])
    return redirect(_job_address(found))


@operator
def job_progress(request: OperatorRequest, job: int) -> HttpResponse:
    """The progress, polled by the page; reloads the page when it is done."""
    found = _job(request.study, job)
    if not found.is_running:
        return HttpResponseClientRefresh()
    context = {"study": request.study, "upload_url": _address(request.study), **_running(found)}
    return TemplateResponse(request, "uploads/_progress.html", context)


@operator
def job_errors(request: OperatorRequest, job: int) -> HttpResponse:
    found = _job(request.study, job)
    report = _report(found)
    name = f"{request.study.slug}-import-{found.pk}-errors.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    rows = [
        {"file": one.place.file, "line": one.place.line or None, "field": one.field, "reason": one.reason}
        for one in (report.errors if report else ())
    ]
    content = b"".join(writing.csv_pieces(_ERRORS, rows))
    return HttpResponse(content, content_type="text/csv", headers=headers)


def _apply(request: HttpRequest, job: ImportJob) -> None:
    seen, leave_out = request.POST.get("seen", ""), "leave_out" in request.POST
    if why := jobs.request_seen(job, seen, leave_out=leave_out):
        messages.warning(request, why)


def _take(request: OperatorRequest, quota: QuotaHandler) -> HttpResponse:
    form = UploadForm(request.POST, request.FILES)
    if quota.exceeded:
        form.errors.clear()
        form.add_error(None, too_much())
    if not form.is_valid():
        return _upload_page(request, form)
    rows = request.GET.get(jobs.ROWS, "")
    files, kind = form.cleaned_data["uploads"], rows if rows in KINDS else ""
    return redirect(_job_address(jobs.start(request.study, request.user, files, kind)))


def _upload_page(request: OperatorRequest, form: UploadForm) -> TemplateResponse:
    recent = request.study.import_jobs.select_related("user").prefetch_related("files").defer("report")
    recent = recent.exclude(state=ImportJob.State.HELD).annotate(errors=F("report__error_count"))
    context = {
        "form": form,
        "step": 1,
        "recent": recent[:SHOWN_JOBS],
        "max_bytes": max_bytes(),
        "max_mb": settings.IMPORT_MAX_MB,
    }
    return _page(request, "upload.html", context)


def _forms(job: ImportJob, data: Any = None) -> list[FileForm]:
    return file_forms(job.files.all(), _report(job), data)


def _report(job: ImportJob) -> ImportReport | None:
    return ImportReport.from_dict(job.report) if job.report else None


def _about(job: ImportJob, forms: list[FileForm]) -> dict[str, Any]:
    report = _report(job)
    applied = job.state in (ImportJob.State.APPLYING, ImportJob.State.APPLIED)
    shared = {
        "job": job,
        "report": report,
        "step": 3 if applied else 2,
        "forms": forms,
        "guessed": any(form.is_guess for form in forms),
        "faulty": any(form.errors for form in forms),
        "fields_by_kind": fields_by_kind(),
        "lacks_requirements": "check" in job.study.tasks and not _has_requirements(job.study),
        **_running(job),
    }
    if report is None:
        return shared
    unknown = {form.row.name for form in forms if form.takes_mapping and not form.recognised}
    groups = [group for group in report.groups.values() if group.first.place.file not in unknown]
    return {
        **shared,
        "asks_no_checks": report.counts["hidden checks"].written and not job.study.gold_share,
        "previews": [_preview(kind, rows) for kind, rows in report.preview.items()],
        "groups": groups,
        "only_unknown": bool(unknown) and not groups,
        "wait": _wait(job),
    }


def _has_requirements(study: Study) -> bool:
    return Question.objects.filter(prompt__study=study, is_current=True, is_accepted=True).exists()


def _running(job: ImportJob) -> dict[str, Any]:
    return {
        "job": job,
        "progress": jobs.progress_of(job.pk),
        "waiting": not jobs.has_runner(job.pk),
        "stopping": jobs.is_to_stop(job.pk),
        "alone": connection.vendor == "sqlite",
    }


def _address(study: Study) -> str:
    return reverse("operate-import", args=[study.slug])


def _job_address(job: ImportJob) -> str:
    return reverse("operate-import-job", args=[job.study.slug, job.pk])


def _job(study: Study, pk: int) -> ImportJob:
    asked = ImportJob.objects.exclude(state=ImportJob.State.HELD).select_related("user")
    return get_object_or_404(asked, pk=pk, study=study)


def _page(request: OperatorRequest, template: str, context: dict[str, Any]) -> TemplateResponse:
    shared = {
        "study": request.study,
        "study_url": reverse("operate-study", args=[request.study.slug]),
        "upload_url": _address(request.study),
    }
    return TemplateResponse(request, f"uploads/{template}", {**shared, **context})


def _wait(job: ImportJob) -> int | None:
    """Seconds that raters wait during the import, judged by its check; None if they need not."""
    if connection.vendor != "sqlite" or (job.check_seconds or 0) < WORTH_A_WARNING:
        return None
    return round(job.check_seconds or 0)
