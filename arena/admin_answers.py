"""Assignments and comparisons: history, looked at and never edited."""

from django.contrib import admin

from arena.admin_bases import ReadOnlyAdmin
from arena.models import CriterionRating


class CriterionInline(admin.TabularInline):  # type: ignore[type-arg]
    model = CriterionRating
    extra = 0


class AssignmentAdmin(ReadOnlyAdmin):
    list_display = ["public_id", "study", "rater", "pair", "swapped", "repeat", "state", "leased_until"]
    list_filter = ["state", "study", "rater__kind"]
    list_select_related = ["study", "rater", "pair"]
    search_fields = ["public_id", "rater__name", "rater__slug"]
    date_hierarchy = "created_at"


class ComparisonAdmin(ReadOnlyAdmin):
    list_display = [
        "pk",
        "study",
        "rater",
        "pair",
        "swapped",
        "status",
        "rating",
        "points",
        "reason",
        "source",
        "is_current",
        "created_at",
    ]
    list_filter = ["study", "rater__kind", "status", "reason", "source", "points", "is_current"]
    list_select_related = ["study", "rater", "pair"]
    search_fields = ["external_id", "rater__name", "rater__slug", "pair__prompt__external_id"]
    date_hierarchy = "created_at"
    inlines = [CriterionInline]
    show_full_result_count = False
