"""Uploading data in the admin: files, a dry run to look at, then the import."""

from typing import Any, Final

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse

from arena.models import Study
from arena.transfer import ImportReport, import_files
from arena.uploads import staging
from arena.uploads.forms import UploadForm
from arena.uploads.tables import previews

SHOWN_ERRORS: Final = 100


def _report(study: Study, staged: staging.Staged, *, apply: bool) -> ImportReport | None:
    """What the import did or would do; None where another request took the files away meanwhile."""
    try:
        report = import_files(study.slug, staged.files(), format_name=staged.format_name, dry_run=not apply)
    except FileNotFoundError:
        return None
    return report if report.applied or staged.folder.exists() else None


class ImportPages:
    """The two pages behind a study's "Import data" button, for those who may change the study."""

    def __init__(self, model_admin: "ModelAdmin[Study]") -> None:
        self.model_admin = model_admin

    def upload(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Take files and go on to their preview."""
        study = self._study(request, pk)
        form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
        if form.is_valid():
            data = form.cleaned_data
            staged = staging.stage(study.pk, request.user.pk or 0, data["format_name"], data["uploads"])
            return redirect("admin:arena_study_import_preview", study.pk, staged.token)
        return self._page(request, "import.html", study, {"form": form})

    def preview(self, request: HttpRequest, pk: int, token: str) -> HttpResponse:
        """Show what an import would do; apply or cancel it."""
        study = self._study(request, pk)
        staged = staging.find(token, study.pk, request.user.pk or 0)
        if staged is None and request.method != "POST":
            raise Http404("These files were imported or thrown away already.")
        if staged and request.method == "POST" and "cancel" in request.POST:
            staged.discard()
            messages.info(request, "Nothing was imported; the uploaded files are thrown away.")
            return redirect("admin:arena_study_import", study.pk)
        apply = request.method == "POST" and "apply" in request.POST
        report = _report(study, staged, apply=apply) if staged else None
        if staged is None or report is None:
            # A second click while the first one was at work: that one has told what became of the files.
            messages.info(request, "These files were imported or thrown away already.")
            return redirect("admin:arena_study_change", study.pk)
        if report.applied:
            staged.discard()
            self._log(request, study, report)
            return redirect("admin:arena_study_change", study.pk)
        context = {
            "report": report,
            "errors": report.errors[:SHOWN_ERRORS],
            "more_errors": max(report.error_count - SHOWN_ERRORS, 0),
            "previews": previews(report),
            "names": staged.names,
        }
        return self._page(request, "import_preview.html", study, context)

    def _study(self, request: HttpRequest, pk: int) -> Study:
        study = get_object_or_404(Study, pk=pk)
        if not self.model_admin.has_change_permission(request, study):
            raise PermissionDenied
        return study

    def _log(self, request: HttpRequest, study: Study, report: ImportReport) -> None:
        parts = [f"{counts.added} {kind}" for kind, counts in report.counts.items() if counts.added]
        done = "Imported: " + ", ".join(parts) if parts else "Imported: nothing was new"
        self.model_admin.log_change(request, study, f"{done}.")
        messages.success(request, f"{done}.")

    def _page(
        self, request: HttpRequest, template: str, study: Study, context: dict[str, Any]
    ) -> TemplateResponse:
        shared = {
            **self.model_admin.admin_site.each_context(request),
            "title": "Import data",
            "subtitle": str(study),
            "study": study,
            "opts": Study._meta,
        }
        return TemplateResponse(request, f"admin/arena/study/{template}", {**shared, **context})
