"""Messages to the workers. The database says what is due: a message only has it done sooner."""

import logging
from collections.abc import Iterable
from typing import Final

from celery import current_app
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)

ONE_MORE_TRY: Final = {"max_retries": 1, "interval_start": 0, "interval_step": 0}
"""A connection that a restarted Redis closed is noticed only when it is used."""


def nudge(task: str, numbers: Iterable[int], seconds: float | None = None) -> None:
    """Ask for a task for each number; if the queue cannot be reached, the sweep asks again.

    seconds: not before they have passed. Tasks are named, as their modules load what web servers do without.
    """
    try:
        with current_app.producer_or_acquire() as producer:  # one connection for all of them
            for number in numbers:
                current_app.send_task(
                    task, args=[number], countdown=seconds, producer=producer, retry_policy=ONE_MORE_TRY
                )
    except OperationalError as error:
        logger.warning("The task queue cannot be reached, the sweep will ask again: %s", error)
