"""Whether a snapshot is behind its data, and asking a worker for the next one."""

import logging
from datetime import timedelta
from typing import Final

from celery import current_app
from django.utils import timezone
from kombu.exceptions import OperationalError

from arena.models import Comparison, Study
from leaderboard.models import Refresh, Snapshot

logger = logging.getLogger(__name__)

COUNTDOWN: Final = timedelta(seconds=3)
"""Delay after a rating, so that a burst of ratings costs one computation."""

LOST_AFTER: Final = timedelta(seconds=12)
"""A refresh not started by then is asked for again."""


def request_refresh(study_id: int) -> bool:
    """Ask for a refresh; False where one is on its way.

    A queue that cannot be reached is logged; the sweep asks again.
    """
    now = timezone.now()
    # Asked after every rating, when it is wanted already as a rule: that takes one look.
    if Refresh.objects.is_wanted(study_id, now - LOST_AFTER):
        return False
    if not Study.objects.filter(pk=study_id).exists():
        return False
    Refresh.of(study_id)
    if not Refresh.objects.want(study_id, now, now - LOST_AFTER):
        return False
    try:
        # By name: tasks are modules of the worker, which loads NumPy and SciPy.
        current_app.send_task(
            "leaderboard.refresh_study", (study_id,), countdown=COUNTDOWN.total_seconds(), retry=False
        )
    except OperationalError as error:
        logger.warning("The task queue cannot be reached, the sweep will ask again: %s", error)
    return True


def behind(study: Study, snapshot: Snapshot) -> int:
    """Comparisons added since the snapshot; -1 if something else changed."""
    added = Comparison.objects.filter(study=study, pk__gt=snapshot.last_comparison).count()
    return added or -(study.revision != snapshot.revision)
