"""Showing pages of operators, and files to download."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.core.paginator import Page, Paginator
from django.db import IntegrityError, transaction
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone

from arena.files.writing import MEDIA_TYPES, WRITERS, Row, Table
from arena.models import Study
from arena.pages.permissions import OperatorRequest

PER_PAGE: Final = 50
INVALID: Final = 422  # HTTP status of a form with errors, which htmx shows


def show(
    request: OperatorRequest, template: str, context: dict[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    return render(
        request, f"operating/{template}", {"study": request.study, **(context or {})}, status=status
    )


def refuse(form: BaseForm, field: str, why: str) -> bool:
    """Put a service's refusal beside its field; above the form, and False, if it shows no such field."""
    shown = field in form.fields and not form.fields[field].widget.is_hidden
    form.add_error(field if shown else None, why)
    return shown


@contextmanager
def refused_if_taken(form: BaseForm, field: str, why: str) -> Iterator[None]:
    """A transaction in which ``form`` is saved; the field is wrong if somebody took its value meanwhile."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        form.add_error(field, why)


def paged(request: HttpRequest, rows: Any, per_page: int = PER_PAGE, name: str = "page") -> "Page[Any]":
    """The page of rows that the address asks for, or the nearest."""
    return Paginator(rows, per_page).get_page(request.GET.get(name))


def download(study: Study, table: Table, rows: Iterable[Row], form: str) -> StreamingHttpResponse:
    return sent(f"{study.slug}-{table.name}-{timezone.now():%Y-%m-%d}", table, rows, form)


def sent(name: str, table: Table, rows: Iterable[Row], form: str) -> StreamingHttpResponse:
    """The table as a file to save under this name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form}"'}
    pieces = WRITERS[form](table, rows)
    return StreamingHttpResponse(pieces, content_type=MEDIA_TYPES[form], headers=headers)
