"""Nudges to the workers. Tasks are named as strings: arena.tasks imports what they run."""

from typing import Final

from celery import current_app

from arena.models import ImportJob

TASKS: Final = {
    ImportJob.State.CHECKING: "arena.tasks.check_import",
    ImportJob.State.APPLYING: "arena.tasks.apply_import",
}


def nudge(job: int, state: str) -> None:
    """Ask a worker to do what the job's state says. A lost or doubled message does no harm."""
    current_app.send_task(TASKS[ImportJob.State(state)], args=[job])
