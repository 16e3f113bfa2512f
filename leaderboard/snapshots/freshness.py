"""Whether a snapshot is behind its data, and asking a worker for the next one."""

import logging
from datetime import timedelta
from typing import Any, Final

from celery import current_app
from django.utils import timezone
from kombu.exceptions import OperationalError

from arena.models import Comparison, Study
from arena.rating.publication import held_back
from leaderboard.models import Refresh, Snapshot

logger = logging.getLogger(__name__)

COUNTDOWN: Final = timedelta(seconds=3)
"""Delay after a rating, so that a burst of ratings costs one computation."""

LOST_AFTER: Final = timedelta(seconds=12)
"""What has not begun by then is asked for again: its message was lost."""


def request_refresh(study_id: int) -> bool:
    """Ask for a refresh; False where one is on its way."""
    now = timezone.now()
    # Asked after every rating, when it is wanted already as a rule: that takes one look.
    if Refresh.objects.is_wanted(study_id, now - LOST_AFTER):
        return False
    if not Study.objects.filter(pk=study_id).exists():
        return False
    Refresh.of(study_id)
    if not Refresh.objects.want(study_id, now, now - LOST_AFTER):
        return False
    send("leaderboard.refresh_study", study_id, countdown=COUNTDOWN.total_seconds())
    return True


def send(task: str, study_id: int, **options: Any) -> None:
    """Nudge a worker; a queue that cannot be reached is logged, and the sweep asks again."""
    try:
        # By name: tasks are modules of the worker, which loads NumPy and SciPy.
        current_app.send_task(task, (study_id,), retry=False, **options)
    except OperationalError as error:
        logger.warning("The task queue cannot be reached, the sweep will ask again: %s", error)


def behind(study: Study, snapshot: Snapshot) -> int:
    """Comparisons added since the snapshot that need not wait; -1 if something else changed."""
    added = Comparison.objects.filter(study=study, pk__gt=snapshot.last_comparison)
    if snapshot.holds_back:
        added = added.exclude(held_back())
    number = added.count()
    return number or -(study.revision != snapshot.revision)
