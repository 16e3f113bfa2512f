"""What several admin pages share: rows that are only read, and changes that reach the published figures."""

from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import JSONField, Model, QuerySet
from django.http import HttpRequest

from arena.announcing import announce
from arena.json_input import JSONInput
from arena.models import Study

JSON_FIELDS: Any = {JSONField: {"form_class": JSONInput}}
"""``formfield_overrides`` of every page on which JSON is typed."""


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows that are history: written by services and imports, looked at here."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class AnnouncingAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows on which a study's figures rest: every change is announced."""

    formfield_overrides = JSON_FIELDS

    def studies_of(self, rows: QuerySet[Any]) -> QuerySet[Study]:
        """The studies whose figures rest on these rows."""
        return Study.objects.filter(pk__in=rows.values("study"))

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        announce(self.studies_of(self.model._default_manager.filter(pk=obj.pk)))

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        studies = list(self.studies_of(self.model._default_manager.filter(pk=obj.pk)))
        super().delete_model(request, obj)
        announce(studies)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        studies = list(self.studies_of(queryset))
        super().delete_queryset(request, queryset)
        announce(studies)
