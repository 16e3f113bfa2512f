"""A hold on a study, so that only one process computes it; it ends when that process dies."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from django.db import DatabaseError, connections
from django.utils import timezone

from arena.models import Study
from leaderboard.models import Refresh

logger = logging.getLogger(__name__)

HELD_FOR: Final = timedelta(seconds=60)
"""How long a study stays held after its process died."""

RENEWED_EVERY: Final = timedelta(seconds=15)


class BusyError(Exception):
    """Another process computes this study."""


class DeletedError(Exception):
    """The study was deleted while it was computed."""


@contextmanager
def still_there(study_id: int, name: str) -> Iterator[None]:
    """Raise DeletedError in place of whatever a study raises that was deleted meanwhile."""
    try:
        yield
    except Exception as error:
        if Study.objects.filter(pk=study_id).exists():
            raise
        raise DeletedError(f"{name} is of a study that was deleted meanwhile") from error


@contextmanager
def held(study_id: int, slug: str) -> Iterator[None]:
    """Hold a study while the body runs. Raises BusyError where another process has it."""
    now = timezone.now()
    until = now + HELD_FOR
    if not Refresh.objects.claim(study_id, now, until):
        raise BusyError(f'"{slug}" is being computed by another process; try again in a moment')
    hold = Hold(f"study {study_id}", until, partial(Refresh.objects.renew, study_id))
    try:
        with hold:
            yield
    finally:
        Refresh.objects.release(study_id, hold.until)


class Hold(threading.Thread):
    """Renews a hold ending at ``until`` while the body of a with statement runs.

    ``renew`` gets the old and the new end and returns whether the hold was still there.
    """

    def __init__(self, name: str, until: datetime, renew: Callable[[datetime, datetime], bool]) -> None:
        super().__init__(name=f"hold of {name}", daemon=True)
        self.until = until
        self._held, self._renewal = name, renew
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(RENEWED_EVERY.total_seconds()):
            self._renew()
            connections.close_all()  # of this thread, so that none is kept from the others in between

    def __enter__(self) -> "Hold":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()

    def _renew(self) -> None:
        until = timezone.now() + HELD_FOR
        try:
            if self._renewal(self.until, until):
                self.until = until
        except DatabaseError as error:
            logger.warning("The hold on %s could not be renewed: %s", self._held, error)
