"""Snapshots in the admin: to look at, never to change."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from leaderboard.models import ComputedView, Refresh, Snapshot


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Lists rows; adding and changing is left to the services."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Snapshot)
class SnapshotAdmin(ReadOnlyAdmin):
    list_display = ["study", "created_at", "watermark", "methodology", "seed", "seconds"]
    list_filter = ["study"]
    list_select_related = ["study"]


@admin.register(Refresh)
class RefreshAdmin(ReadOnlyAdmin):
    list_display = ["study", "wanted_at", "running_until", "failed_at", "error"]
    list_select_related = ["study"]


@admin.register(ComputedView)
class ComputedViewAdmin(ReadOnlyAdmin):
    list_display = ["snapshot", "setting", "state", "wanted_at", "computed_at", "seconds", "error"]
    list_filter = ["state"]
    list_select_related = ["snapshot"]
    exclude = ["payload"]
