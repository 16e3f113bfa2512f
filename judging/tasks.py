"""Doors for the workers."""

import random
import time
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from celery import shared_task
from django.conf import settings
from django.db import close_old_connections

from judging.panels import services as panels_services
from judging.runs.calls import judge_assignment as services_judge_assignment
from judging.runs.combining import Combiner
from judging.runs.lifecycle import go_on
from judging.runs.lifecycle import plan_run as services_plan_run

IN_A_ROW: Final = max(10.0, settings.CELERY_WORKER_CONCURRENCY / 4)
"""So many seconds, up to twice as many, a task goes on with its run before others get its thread.

With many threads it is longer: one of them gets free about three times a second all the same.
"""

BRIEFLY: Final = 0.1
"""Seconds to wait for others whose answers were stored at once. Nothing that is in flight waits for it."""


class _Thread(NamedTuple):
    """A thread that has done something for a run; is_free: to do more."""

    run: int
    is_free: bool


@shared_task  # type: ignore[untyped-decorator]
def judge_assignment(assignment_id: int) -> None:
    """Do what is next for one assignment, then see that its run has more to do.

    For a while the task goes on with the next assignment itself: over Redis a message costs as much
    processor time as all the rest of a call.
    """
    until = time.monotonic() + IN_A_ROW * random.uniform(1, 2)  # noqa: S311 - not all threads at once
    following: int | None = assignment_id
    while following is not None:
        done = services_judge_assignment(following)
        if done is None:
            return
        is_free = done.has_ended and time.monotonic() < until and not _is_stopping()
        following = _feeding.do(_Thread(done.run, is_free))
        close_old_connections()  # what waits at the door holds none


def _is_stopping() -> bool:
    """Whether the worker was told to take no more tasks."""
    from celery.worker import state  # with all of Celery's worker, which is not needed to send tasks

    return state.should_stop is not None and state.should_stop is not False


@shared_task  # type: ignore[untyped-decorator]
def feed_run(run_id: int) -> None:
    """Go on with a run whose judge was at its limits."""
    _feeding.do(_Thread(run_id, is_free=False))


def _feed(threads: Sequence[_Thread]) -> list[int | None]:
    """The next assignment for each free hand, None where there is none."""
    free = Counter(thread.run for thread in threads if thread.is_free)
    chosen = {run: iter(go_on(run, free[run])[: free[run]]) for run in {thread.run for thread in threads}}
    return [next(chosen[thread.run], None) if thread.is_free else None for thread in threads]


_feeding = Combiner[_Thread, int | None](_feed, most=64, linger=lambda: BRIEFLY)
"""Threads that end an assignment at about the same moment look once for what is next."""


@shared_task  # type: ignore[untyped-decorator]
def plan_run(run_id: int) -> None:
    """Plan a queued run."""
    services_plan_run(run_id)


@shared_task  # type: ignore[untyped-decorator]
def convene_panel(panel_id: int) -> None:
    """Let a panel give the verdicts that follow by now."""
    panels_services.convene(panel_id)
