"""Writes that must not be lost because the database was away for a moment."""

import logging
import time
from collections.abc import Callable
from datetime import datetime
from typing import Final, TypeVar

from django.db import InterfaceError, OperationalError, close_old_connections
from django.utils import timezone

logger = logging.getLogger(__name__)

PAUSE: Final = 0.5
"""Seconds between two tries."""

Result = TypeVar("Result")


def insist(write: Callable[[], Result], until: datetime) -> Result:
    """Do a write, again and again while the database cannot be reached or is locked, but not after ``until``.

    The write may have happened although its try failed, so it must be harmless when repeated.
    """
    while True:
        try:
            return write()
        except (OperationalError, InterfaceError) as error:
            if timezone.now() >= until:
                raise
            logger.warning("The database is away, a write waits for it: %s", error)
            close_old_connections()  # the broken one; the next try opens another
            time.sleep(PAUSE)
