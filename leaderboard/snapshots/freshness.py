"""Whether a snapshot is behind its data, and asking a worker for the next one."""

from datetime import timedelta
from typing import Final

from django.utils import timezone

from arena.models import Comparison, Study
from arena.process.nudging import nudge
from arena.rating.publication import held_back
from leaderboard.models import Refresh, Snapshot

COUNTDOWN: Final = timedelta(seconds=3)
"""Delay after a rating, so that a burst of ratings costs one computation."""

RETRY_FAILED_AFTER: Final = timedelta(minutes=10)

LOST_AFTER: Final = timedelta(seconds=12)
"""What has not begun by then is asked for again: its message was lost."""


def request_refresh(study_id: int) -> bool:
    """Ask for a refresh; False where one is on its way."""
    now = timezone.now()
    # Asked after every rating, when it is wanted already as a rule: that takes one look.
    if Refresh.objects.filter(study_id=study_id, wanted_at__gt=now - LOST_AFTER).exists():
        return False
    if not Study.objects.filter(pk=study_id).exists():
        return False
    Refresh.of(study_id)
    if not Refresh.objects.want(study_id, now, now - LOST_AFTER):
        return False
    nudge("leaderboard.refresh_study", [study_id], COUNTDOWN.total_seconds())
    return True


def behind(study: Study, snapshot: Snapshot) -> int:
    """Comparisons added since the snapshot that need not wait; -1 if something else changed."""
    added = Comparison.objects.filter(study=study, pk__gt=snapshot.last_comparison)
    if snapshot.holds_back:
        added = added.exclude(held_back())
    number = added.count()
    return number or -(study.revision != snapshot.revision)
