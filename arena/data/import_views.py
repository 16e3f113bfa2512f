"""Importing data on the operators' pages: the same steps as in the admin, in the frame of the study."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt

from arena.data.uploads.views import ImportPages
from arena.models import Study
from arena.people.permissions import OperatorRequest, operator


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
