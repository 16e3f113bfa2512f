"""Snapshots in the admin, read-only."""

from arena.admin import look_up
from leaderboard.models import ComputedView, Refresh, Release, Snapshot

look_up(Snapshot, "study created_at watermark methodology seed seconds", "study")
look_up(Release, "study number version created_at doi sha256", "study")
look_up(Refresh, "study wanted_at running_until failed_at error")
look_up(
    ComputedView,
    "snapshot setting state wanted_at computed_at seconds error",
    "state",
    exclude=["payload"],
)
