"""Doors for the workers."""

from celery import shared_task

from judging import services
from judging.services import panels


@shared_task  # type: ignore[untyped-decorator]
def judge_assignment(assignment_id: int) -> None:
    """Do what is next for one assignment, then see that its run has more to do."""
    run = services.judge_assignment(assignment_id)
    if run is not None:
        services.feed(run)


@shared_task  # type: ignore[untyped-decorator]
def plan_run(run_id: int) -> None:
    """Plan a queued run."""
    services.plan_run(run_id)


@shared_task  # type: ignore[untyped-decorator]
def convene_panel(panel_id: int) -> None:
    """Let a panel give the verdicts that follow by now."""
    panels.convene(panel_id)
