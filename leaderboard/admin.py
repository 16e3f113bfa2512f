"""Snapshots in the admin, read-only."""

from django.contrib import admin

from arena.admin import ReadOnlyAdmin
from leaderboard.models import ComputedView, Refresh, Release, Snapshot


@admin.register(Snapshot)
class SnapshotAdmin(ReadOnlyAdmin):
    list_display = ["study", "created_at", "watermark", "methodology", "seed", "seconds"]
    list_filter = ["study"]
    list_select_related = ["study"]


@admin.register(Release)
class ReleaseAdmin(ReadOnlyAdmin):
    list_display = ["study", "number", "version", "created_at", "doi", "sha256"]
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
