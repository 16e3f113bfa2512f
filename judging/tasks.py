"""Celery tasks."""

import random
import time
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from celery import shared_task
from django.conf import settings

from judging.panels import services as panels_services
from judging.proposing import services as proposing_services
from judging.runs.batching import Combiner
from judging.runs.calls import judge_assignment as services_judge_assignment
from judging.runs.lifecycle import go_on
from judging.runs.lifecycle import plan_run as services_plan_run
from judging.writing import services as writing_services

# With many threads it is longer: one of them becomes free about three times a second all the same.
IN_A_ROW: Final = max(10.0, settings.CELERY_WORKER_CONCURRENCY / 4)
"""Seconds, up to twice as many, that a task works on one run before others get its thread."""

BRIEFLY: Final = 0.1
"""Seconds to wait for other threads that end at the same moment; nothing in flight waits for it."""


class _Thread(NamedTuple):
    run: int
    is_free: bool  # it can do more


@shared_task  # type: ignore[untyped-decorator]
def judge_assignment(assignment_id: int) -> None:
    """Do what is next for one assignment, then for others of its run for a while."""
    # Over Redis a message costs as much processor time as all the rest of a call.
    until = time.monotonic() + IN_A_ROW * random.uniform(1, 2)  # noqa: S311 - not all threads at once
    following: int | None = assignment_id
    asker = None
    while following is not None:
        done = services_judge_assignment(following, asker)
        if done is None:
            return
        asker = done.asker
        is_free = done.has_ended and time.monotonic() < until and not _is_stopping()
        following = _feeding.do(_Thread(asker.run, is_free))


def _is_stopping() -> bool:
    from celery.worker import state  # with all of Celery's worker, which is not needed to send tasks

    return state.should_stop is not None and state.should_stop is not False


@shared_task  # type: ignore[untyped-decorator]
def feed_run(run_id: int) -> None:
    _feeding.do(_Thread(run_id, is_free=False))


def _feed(threads: Sequence[_Thread]) -> list[int | None]:
    """The next assignment for each free thread; None where there is none."""
    free = Counter(thread.run for thread in threads if thread.is_free)
    chosen = {run: iter(go_on(run, free[run])[: free[run]]) for run in {thread.run for thread in threads}}
    return [next(chosen[thread.run], None) if thread.is_free else None for thread in threads]


_feeding = Combiner[_Thread, int | None](_feed, most=64, linger=lambda: BRIEFLY)


@shared_task  # type: ignore[untyped-decorator]
def plan_run(run_id: int) -> None:
    services_plan_run(run_id)


@shared_task  # type: ignore[untyped-decorator]
def convene_panel(panel_id: int) -> None:
    panels_services.convene(panel_id)


@shared_task  # type: ignore[untyped-decorator]
def propose(_: int) -> None:
    proposing_services.work_off(_is_stopping)


@shared_task  # type: ignore[untyped-decorator]
def write(_: int) -> None:
    writing_services.work_off(_is_stopping)
