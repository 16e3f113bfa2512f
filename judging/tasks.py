"""Doors for the workers."""

from collections.abc import Sequence

from celery import shared_task

from judging import services
from judging.combining import Combiner
from judging.services import panels


@shared_task  # type: ignore[untyped-decorator]
def judge_assignment(assignment_id: int) -> None:
    """Do what is next for one assignment, then see that its run has more to do."""
    run = services.judge_assignment(assignment_id)
    if run is not None:
        _feeding.do(run)


@shared_task  # type: ignore[untyped-decorator]
def feed_run(run_id: int) -> None:
    """Go on with a run whose judge was at its limits."""
    _feeding.do(run_id)


def _feed(runs: Sequence[int]) -> list[int]:
    fed = {run: services.feed(run) for run in runs}
    return [fed[run] for run in runs]


_feeding = Combiner[int, int](_feed, most=64)
"""Threads that end an assignment at the same moment look once for what is next."""


@shared_task  # type: ignore[untyped-decorator]
def plan_run(run_id: int) -> None:
    """Plan a queued run."""
    services.plan_run(run_id)


@shared_task  # type: ignore[untyped-decorator]
def convene_panel(panel_id: int) -> None:
    """Let a panel give the verdicts that follow by now."""
    panels.convene(panel_id)
