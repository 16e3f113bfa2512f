"""Messages to the workers, by the names of tasks: judging.tasks imports the services that send them."""

import logging
from collections.abc import Iterable

from celery import current_app
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)

JUDGE = "judging.tasks.judge_assignment"
FEED = "judging.tasks.feed_run"
PLAN = "judging.tasks.plan_run"
CONVENE = "judging.tasks.convene_panel"
PROPOSE = "judging.tasks.propose"


ONE_MORE_TRY = {"max_retries": 1, "interval_start": 0, "interval_step": 0}
"""A connection that a restarted Redis closed is noticed only when it is used."""


def nudge_assignments(assignments: Iterable[int]) -> None:
    _send(JUDGE, assignments)


def nudge_plan(run: int) -> None:
    _send(PLAN, [run])


def nudge_panels(panels: Iterable[int]) -> None:
    _send(CONVENE, panels)


def nudge_feed(run: int, seconds: float) -> None:
    _send(FEED, [run], seconds)


def nudge_proposals() -> None:
    _send(PROPOSE, [0])


def _send(task: str, ids: Iterable[int], seconds: float | None = None) -> None:
    """Send one message for each id; if the queue cannot be reached, the sweep asks again."""
    try:
        with current_app.producer_or_acquire() as producer:  # one connection for all of them
            for pk in ids:
                current_app.send_task(
                    task, args=[pk], countdown=seconds, producer=producer, retry_policy=ONE_MORE_TRY
                )
    except OperationalError as error:
        logger.warning("The task queue cannot be reached, the sweep will ask again: %s", error)
