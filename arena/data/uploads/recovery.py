"""What a lost message, a killed worker or a forgetful operator leaves behind, set right by the sweep."""

import shutil
import time
from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from arena.data.uploads import jobs, progress, storage
from arena.data.uploads import jobs as uploads_jobs
from arena.models import ImportJob

KEPT: Final = timedelta(hours=24)
"""How long files wait for somebody to apply or cancel."""


def sweep(now: datetime | None = None) -> int:
    """Ask again for jobs that no worker is at; throw away what is forgotten. Returns how many asked for."""
    asked = 0
    for pk, state in ImportJob.objects.running().values_list("pk", "state"):
        if not progress.has_runner(pk) and progress.first_nudge(pk):
            uploads_jobs.nudge(pk, state)
            asked += 1
    _end_forgotten((now or timezone.now()) - KEPT)
    return asked


def _end_forgotten(before: datetime) -> None:
    waiting = [ImportJob.State.UPLOADING, ImportJob.State.CHECKED]
    for pk in ImportJob.objects.filter(state__in=waiting, touched_at__lt=before).values_list("pk", flat=True):
        jobs.end(pk, ImportJob.State.CANCELLED, "Nobody came back for these files within a day.")
        storage.discard(pk)
    # A worker that was killed could not take its copies away.
    for folder in storage.working_folder().glob(f"{storage.FOLDER_PREFIX}*"):
        if folder.stat().st_mtime < time.time() - KEPT.total_seconds():
            shutil.rmtree(folder, ignore_errors=True)
