"""Refreshes asked for by signals of arena."""

import logging
from typing import Any

from django.db import DatabaseError
from django.dispatch import receiver

from arena.models import Assignment
from arena.models.signals import answer_shown, opinion_recorded, study_changed
from leaderboard.models import Snapshot
from leaderboard.snapshots import freshness

logger = logging.getLogger(__name__)


@receiver(answer_shown, dispatch_uid="leaderboard.shown")
def is_shown(sender: Any, assignment: Assignment, **kwargs: Any) -> bool:
    """Whether the newest numbers count everything that was there, this answer too."""
    newest = Snapshot.objects.opened(assignment.study)
    given = assignment.finished_at
    return bool(newest and given and not newest.holds_back and given <= newest.created_at)


@receiver([opinion_recorded, study_changed], dispatch_uid="leaderboard.refresh")
def refresh_soon(sender: Any, study_id: int, **kwargs: Any) -> None:
    """Ask for a refresh of a study that changed.

    The change is committed: a busy database must not turn it into an error. The sweep asks again.
    """
    try:
        freshness.request_refresh(study_id)
    except DatabaseError:
        logger.exception("The refresh of study %s could not be asked for; the sweep will ask again", study_id)
