"""Importing data: upload, check, apply. Workers do the work, the pages show where it stands."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import RequestDataTooBig, TooManyFilesSent
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django_htmx.http import HttpResponseClientRefresh

from arena.data import writing
from arena.data.formats.records import Problem
from arena.data.importing.import_report import ImportReport
from arena.data.uploads import jobs
from arena.data.uploads import jobs as uploads_jobs
from arena.data.uploads.forms import MIB, FileForm, QuotaHandler, UploadForm, max_bytes, too_much
from arena.data.writing import Table, Type
from arena.models import ImportJob, Study
from arena.people.permissions import OperatorRequest, operator


@dataclass(frozen=True)
class Preview:
    """The first records of one kind: only columns in which something stands."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def previews(report: ImportReport) -> list[Preview]:
    """One table per kind of record."""
    return [_preview(kind, rows) for kind, rows in report.preview.items()]


def _caption(name: str) -> str:
    """A field's name as a heading: what stands under "turns" is nearly always one text."""
    return "text" if name == "turns" else name.replace("_", " ")


def _preview(kind: str, rows: list[dict[str, str]]) -> Preview:
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[row.get(name, "") for name in names] for row in rows]
    return Preview(kind.capitalize(), [_caption(name) for name in names], cells)


_TABLE: Final = Table(
    "errors", {"file": Type.TEXT, "line": Type.INTEGER, "field": Type.TEXT, "reason": Type.TEXT}
)


def error_list(problems: Iterable[Problem]) -> Iterator[bytes]:
    """File, line, field and reason of each problem."""
    rows = (
        {
            "file": problem.place.file,
            "line": problem.place.line or None,
            "field": problem.field,
            "reason": problem.reason,
        }
        for problem in problems
    )
    return writing.csv_pieces(_TABLE, rows)


SHOWN_ERRORS: Final = 100
SHOWN_JOBS: Final = 10

WORTH_A_WARNING: Final = 5
"""Seconds of waiting for raters that are worth being told of."""


class ImportPages(ABC):
    """The pages of a study's imports. Who may see them is checked before; a subclass gives their frame."""

    @abstractmethod
    def address(self, study: Study) -> str:
        """Where files are uploaded; the pages of a job are below it, by the job's id."""

    @abstractmethod
    def frame(self, request: HttpRequest, study: Study) -> dict[str, Any]:
        """What the templates need beside the import itself; ``import_base``: the template around them, and
        ``study_url``: where the study is looked after."""

    def upload(self, request: HttpRequest, study: Study) -> HttpResponse:
        """Take files and go on to their check. Exempt from the CSRF middleware, and checked here instead:
        the limit must be in place before anything reads the request."""
        if request.method != "POST":
            return self._upload_page(request, study, UploadForm())
        quota = QuotaHandler()
        request.upload_handlers = [quota, *request.upload_handlers]
        try:
            return csrf_protect(self._take)(request, study, quota)
        except (RequestDataTooBig, TooManyFilesSent) as error:
            while request.read(MIB):
                pass  # a browser that is still sending does not listen
            form = UploadForm({})
            form.errors.clear()
            reason = "too many files" if isinstance(error, TooManyFilesSent) else "too much text"
            form.add_error(None, f"This is {reason} for one form; please put it into one file.")
            return self._upload_page(request, study, form)

    def job(self, request: HttpRequest, study: Study, job: int) -> HttpResponse:
        """Show where a job stands; take the wish to check again, apply or cancel."""
        found = self._job(study, job)
        if request.method == "POST":
            if "cancel" in request.POST:
                jobs.cancel(found)
            elif "apply" in request.POST:
                self._apply(request, found)
            elif "check" in request.POST and found.state == ImportJob.State.CHECKED:
                forms = self._file_forms(found, request.POST)
                if any(form.errors for form in forms):
                    return self._page(request, "import_job.html", study, self._about(found, forms))
                jobs.request_check(found, [form.chosen() for form in forms])
            return redirect(self._job_address(found))
        return self._page(request, "import_job.html", study, self._about(found, self._file_forms(found)))

    def progress(self, request: HttpRequest, study: Study, job: int) -> HttpResponse:
        """How far a job is, for the page to ask again and again; the whole page anew once it is through."""
        found = self._job(study, job)
        if not found.is_running:
            return HttpResponseClientRefresh()
        context = {"study": study, "upload_url": self.address(study), **self._running(found)}
        return TemplateResponse(request, "admin/arena/study/_import_progress.html", context)

    def errors(self, request: HttpRequest, study: Study, job: int) -> HttpResponse:
        """The errors of a job's report as a CSV file."""
        found = self._job(study, job)
        report = ImportReport.from_dict(found.report) if found.report else None
        name = f"{study.slug}-import-{found.pk}-errors.csv"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        content = b"".join(error_list(report.errors if report else []))
        return HttpResponse(content, content_type="text/csv", headers=headers)

    def _apply(self, request: HttpRequest, job: ImportJob) -> None:
        """Ask for the import, if the page that was clicked on shows the last check."""
        if job.state == ImportJob.State.CHECKED and request.POST.get("seen") != job.touched_at.isoformat():
            messages.warning(request, "The files were checked again meanwhile. Look at the new report first.")
        else:
            jobs.request_apply(job)

    def _take(self, request: HttpRequest, study: Study, quota: QuotaHandler) -> HttpResponse:
        form = UploadForm(request.POST, request.FILES)
        if quota.exceeded:
            form.errors.clear()
            form.add_error(None, too_much())
        if not form.is_valid():
            return self._upload_page(request, study, form)
        job = jobs.start(study, request.user, form.cleaned_data["uploads"])
        return redirect(self._job_address(job))

    def _upload_page(self, request: HttpRequest, study: Study, form: UploadForm) -> TemplateResponse:
        recent = study.import_jobs.select_related("user").prefetch_related("files").defer("report")
        context = {
            "form": form,
            "step": 1,
            "recent": recent[:SHOWN_JOBS],
            "max_bytes": max_bytes(),
            "max_mb": settings.IMPORT_MAX_MB,
        }
        return self._page(request, "import.html", study, context)

    def _file_forms(self, job: ImportJob, data: Any = None) -> list[FileForm]:
        return [FileForm(row, data) for row in job.files.all()]

    def _about(self, job: ImportJob, forms: list[FileForm]) -> dict[str, Any]:
        """What the page of a job shows, by its state."""
        report = ImportReport.from_dict(job.report) if job.report else None
        applied = job.state in (ImportJob.State.APPLYING, ImportJob.State.APPLIED)
        shared = {
            "job": job,
            "report": report,
            "step": 3 if applied else 2,
            "forms": forms,
            "guessed": any(form.is_guess for form in forms),
            "faulty": any(form.errors for form in forms),
            **self._running(job),
        }
        if report is None:
            return shared
        return {
            **shared,
            "errors": report.errors[:SHOWN_ERRORS],
            "more_errors": max(report.error_count - SHOWN_ERRORS, 0),
            "previews": previews(report),
            "wait": _wait(job),
        }

    def _running(self, job: ImportJob) -> dict[str, Any]:
        return {
            "job": job,
            "progress": uploads_jobs.progress_of(job.pk),
            "waiting": not uploads_jobs.has_runner(job.pk),
            "stopping": uploads_jobs.is_to_stop(job.pk),
            "alone": connection.vendor == "sqlite",
        }

    def _job_address(self, job: ImportJob) -> str:
        return f"{self.address(job.study)}{job.pk}/"

    def _job(self, study: Study, pk: int) -> ImportJob:
        return get_object_or_404(ImportJob.objects.select_related("user"), pk=pk, study=study)

    def _page(
        self, request: HttpRequest, template: str, study: Study, context: dict[str, Any]
    ) -> TemplateResponse:
        shared = {**self.frame(request, study), "study": study, "upload_url": self.address(study)}
        return TemplateResponse(request, f"admin/arena/study/{template}", {**shared, **context})


def _wait(job: ImportJob) -> int | None:
    """Seconds for which raters wait while the job is applied, judged by its check; None where none do."""
    if connection.vendor != "sqlite" or (job.check_seconds or 0) < WORTH_A_WARNING:
        return None
    return round(job.check_seconds or 0)


class OperatorImportPages(ImportPages):
    """The pages below /operate/STUDY/import/."""

    def address(self, study: Study) -> str:
        return reverse("operate-import", args=[study.slug])

    def frame(self, request: HttpRequest, study: Study) -> dict[str, Any]:
        return {
            "import_base": "operating/_import_base.html",
            "study_url": reverse("operate-study", args=[study.slug]),
        }


_pages = OperatorImportPages()


@operator
def _upload(request: OperatorRequest) -> HttpResponseBase:
    return _pages.upload(request, request.study)


upload = csrf_exempt(_upload)
"""Checked by the page itself, once the limit of how much is sent is in place."""


@operator
def job(request: OperatorRequest, job: int) -> HttpResponse:
    """Where an import stands, and what is to become of it."""
    return _pages.job(request, request.study, job)


@operator
def job_progress(request: OperatorRequest, job: int) -> HttpResponse:
    """How far it is, for its page."""
    return _pages.progress(request, request.study, job)


@operator
def job_errors(request: OperatorRequest, job: int) -> HttpResponse:
    """The errors of its report as CSV."""
    return _pages.errors(request, request.study, job)
