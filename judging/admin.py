"""Read-only views of runs and calls; judges are configured under /judging/."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from judging.models import Judge, JudgeCall, JudgeRun


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows written by services alone."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Judge)
class JudgeAdmin(ReadOnly):
    list_display = ["rater", "provider", "model", "protocol", "points", "active"]
    list_select_related = ["rater"]


@admin.register(JudgeRun)
class JudgeRunAdmin(ReadOnly):
    list_display = ["pk", "study", "judge", "state", "created_at", "finished_at"]
    list_select_related = ["study", "judge__rater"]
    list_filter = ["state"]


@admin.register(JudgeCall)
class JudgeCallAdmin(ReadOnly):
    list_display = ["pk", "run", "attempt", "state", "status", "reason", "rating", "error_kind", "latency"]
    list_filter = ["state", "status", "reason", "error_kind"]
    list_select_related = ["run"]
