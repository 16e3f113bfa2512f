"""What the pages of one study share: the frame, numbered lists in pages, and where to go on."""

from collections.abc import Iterable
from typing import Any, Final

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone

from arena.formats.writing import MEDIA_TYPES, WRITERS
from arena.formats.writing.schema import Row, Table
from arena.models import Study
from arena.operating import steps
from arena.permissions import OperatorRequest

PER_PAGE: Final = 50
"""Rows on one page of a long table."""


def show(
    request: OperatorRequest, template: str, context: dict[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    """A page of the study that the request names."""
    shared = {"study": request.study, "place": _place(request)}
    return render(request, f"operating/{template}", shared | (context or {}), status=status)


def paged(request: HttpRequest, rows: Any, per_page: int = PER_PAGE, name: str = "page") -> "Page[Any]":
    """The page of rows that the address asks for; the nearest one where it asks for none there is."""
    return Paginator(rows, per_page).get_page(request.GET.get(name))


def download(study: Study, table: Table, rows: Iterable[Row], form: str) -> StreamingHttpResponse:
    """A table as a file, written while it is sent."""
    name = f"{study.slug}-{table.name}-{timezone.now():%Y-%m-%d}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    pieces = WRITERS[form](table, rows)
    return StreamingHttpResponse(pieces, content_type=MEDIA_TYPES[form], headers=headers)


def next_of(request: OperatorRequest) -> str:
    """The address of the step after the one shown; empty where the page is no step."""
    place = _place(request)
    return place.next_address if place else ""


def _place(request: OperatorRequest) -> steps.Place | None:
    match = request.resolver_match
    return steps.place(request.study, match.url_name or "") if match else None
