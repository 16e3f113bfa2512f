"""Prices, and read-only views of runs and calls; judges are configured under /judging/."""

from django.contrib import admin

from arena.admin_bases import ReadOnlyAdmin
from judging.models import Judge, JudgeCall, JudgeRun, Price
from judging.price_form import PriceForm


@admin.register(Judge)
class JudgeAdmin(ReadOnlyAdmin):
    list_display = ["rater", "provider", "model", "protocol", "points", "active"]
    list_select_related = ["rater"]


@admin.register(JudgeRun)
class JudgeRunAdmin(ReadOnlyAdmin):
    list_display = ["pk", "study", "judge", "state", "created_at", "finished_at"]
    list_select_related = ["study", "judge__rater"]
    list_filter = ["state"]


@admin.register(JudgeCall)
class JudgeCallAdmin(ReadOnlyAdmin):
    list_display = ["pk", "run", "attempt", "state", "status", "reason", "rating", "error_kind", "latency"]
    list_filter = ["state", "status", "reason", "error_kind"]
    list_select_related = ["run"]


@admin.register(Price)
class PriceAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    form = PriceForm
    list_display = ["model", "base_url", "prompt", "completion", "currency", "updated_at"]
    search_fields = ["model", "base_url"]
    list_filter = ["currency"]
