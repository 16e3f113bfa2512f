"""Background work of the leaderboard."""

import logging
from typing import Final

from celery import shared_task

from arena.models import Study
from leaderboard.refreshing import computing, services
from leaderboard.snapshots.study_lock import BusyError, DeletedError

logger = logging.getLogger(__name__)

BUSY_COUNTDOWN: Final = 5


@shared_task(name="leaderboard.refresh_study")  # type: ignore[untyped-decorator]
def refresh_study(study_id: int) -> None:
    """Compute a study's snapshot if its data changed; a repeated message costs nothing."""
    study = Study.objects.filter(pk=study_id).first()
    if study is None:
        return
    try:
        services.refresh_if_stale(study)
    except DeletedError as error:
        logger.info("No snapshot is made: %s", error)
    except BusyError:
        refresh_study.apply_async((study_id,), countdown=BUSY_COUNTDOWN)


@shared_task(name="leaderboard.compute_view")  # type: ignore[untyped-decorator]
def compute_view(study_id: int) -> None:
    """Compute what was asked for and no snapshot holds; a repeated message costs nothing."""
    computing.compute_next(study_id)
