"""Nudges to the workers. Tasks are named as strings: judging.tasks imports the services that send these."""

from collections.abc import Iterable

from celery import current_app

JUDGE = "judging.tasks.judge_assignment"
PLAN = "judging.tasks.plan_run"


def nudge_assignments(assignments: Iterable[int]) -> None:
    """Ask a worker to do what is next for each assignment. A lost or doubled message does no harm."""
    for assignment in assignments:
        current_app.send_task(JUDGE, args=[assignment])


def nudge_plan(run: int) -> None:
    """Ask a worker to plan a queued run."""
    current_app.send_task(PLAN, args=[run])
