"""One computation of a study at a time: a hold on its row that dies with the process that has it."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

from django.db import DatabaseError, connections
from django.utils import timezone

from leaderboard.models import Refresh

logger = logging.getLogger(__name__)

HELD_FOR: Final = timedelta(seconds=60)
"""A computation whose process died keeps its study for no longer than this."""

RENEWED_EVERY: Final = timedelta(seconds=15)


class BusyError(Exception):
    """Another process is computing this study's snapshot right now."""


@contextmanager
def held(study_id: int, slug: str) -> Iterator[None]:
    """Hold a study; a thread renews the hold while the body runs. Raises BusyError where another has it."""
    now = timezone.now()
    until = now + HELD_FOR
    if not Refresh.objects.claim(study_id, now, until):
        raise BusyError(f'"{slug}" is being computed by another process; try again in a moment')
    hold = _Hold(study_id, until)
    hold.start()
    try:
        yield
    finally:
        hold.end()


class _Hold(threading.Thread):
    """Renews one hold until it is ended or lost."""

    def __init__(self, study_id: int, until: datetime) -> None:
        super().__init__(name=f"hold of study {study_id}", daemon=True)
        self._study_id, self._until = study_id, until
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(RENEWED_EVERY.total_seconds()):
            self._renew()
            connections.close_all()  # of this thread, so that none is kept from the others in between

    def end(self) -> None:
        """Stop renewing and let the study go, unless another computation has taken it meanwhile."""
        self._ended.set()
        self.join()
        Refresh.objects.release(self._study_id, self._until)

    def _renew(self) -> None:
        until = timezone.now() + HELD_FOR
        try:
            if Refresh.objects.renew(self._study_id, self._until, until):
                self._until = until
        except DatabaseError as error:
            logger.warning("The hold on study %s could not be renewed: %s", self._study_id, error)
