"""Django's admin with each change of a row on record; it keeps its own history of rows as well."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.text import capfirst

from arena.audit.recording import Kind, record


class Recorded:
    """A part of a ModelAdmin. Accounts are named by reference, other rows by their number."""

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        _record(request, obj, f"added.{_rights(obj)}")
        return super().log_addition(request, obj, message)  # type: ignore[misc]

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        entry = super().log_change(request, obj, message)  # type: ignore[misc]
        _record(request, obj, f"{entry.get_change_message()}{_rights(obj)}")
        return entry

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Model]) -> Any:
        for row in queryset:
            _record(request, row, "deleted.")
        return super().log_deletions(request, queryset)  # type: ignore[misc]


def _record(request: HttpRequest, row: Model, what: str) -> None:
    note = f"{capfirst(row._meta.verbose_name)} {row.pk}: {what}"
    record(Kind.ADMIN, request.user, note, account=row if isinstance(row, User) else None)


def _rights(row: Model) -> str:
    if not isinstance(row, User):
        return ""
    held = [word for word in ("active", "staff", "superuser") if getattr(row, f"is_{word}")]
    return f" It is {', '.join(held) or 'closed'} now."


class RecordedSite(admin.AdminSite):
    def register(self, model_or_iterable: Any, admin_class: type[Any] | None = None, **options: Any) -> None:
        shown = admin_class or admin.ModelAdmin
        recorded = type(shown.__name__, (Recorded, shown), {"__module__": shown.__module__})
        super().register(model_or_iterable, recorded, **options)
