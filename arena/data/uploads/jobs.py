"""The life of an import job: what operators ask for, and how it ends.

Every change of state names the states it may come from, so that of two requests only one does anything.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from celery import current_app
from django.db import OperationalError, transaction
from django.utils import timezone

from arena.data.uploads import progress, storage
from arena.models import ImportFile, ImportJob, Study

# Nudges to the workers. Tasks are named as strings: arena.tasks imports what they run.


TASKS: Final = {
    ImportJob.State.CHECKING: "arena.tasks.check_import",
    ImportJob.State.APPLYING: "arena.tasks.apply_import",
}


def nudge(job: int, state: str) -> None:
    """Ask a worker to do what the job's state says. A lost or doubled message does no harm."""
    current_app.send_task(TASKS[ImportJob.State(state)], args=[job])


State = ImportJob.State


def start(study: Study, user: Any, uploads: Iterable[storage.Upload]) -> ImportJob:
    """Store the files as a new job and ask for their check."""
    job = ImportJob.objects.create(study=study, user=user)
    storage.store(job, uploads)
    request_check(job)
    return job


def request_check(job: ImportJob, files: Iterable[ImportFile] = ()) -> bool:
    """Ask for a check of files as they are now to be read; False where the job is past that."""

    def save() -> None:
        for file in files:
            file.save(update_fields=["format_name", "mapping"])

    return _request(job, [State.UPLOADING, State.CHECKED], State.CHECKING, save)


def request_apply(job: ImportJob) -> bool:
    """Ask for the import of files whose check found no error; False where that was asked already.

    ``job`` is as the operator saw it: after a newer check nothing is asked for.
    """
    if (job.report or {}).get("error_count") != 0:
        return False
    return _request(job, [State.CHECKED], State.APPLYING)


def _request(job: ImportJob, before: list[str], state: str, also: Callable[[], None] | None = None) -> bool:
    with transaction.atomic():
        rows = ImportJob.objects.filter(pk=job.pk, state__in=before, touched_at=job.touched_at)
        changed = rows.update(state=state, attempts=0, error="", touched_at=timezone.now())
        if not changed:
            return False
        if also:
            also()
        progress.begin(job.pk)
        transaction.on_commit(lambda: nudge(job.pk, state))
    return True


def cancel(job: ImportJob) -> None:
    """End the job without an import; a worker in the middle of one takes back what it did.

    What is applied stays applied. While a worker has the row, it is that worker who ends the job.
    """
    progress.ask_to_stop(job.pk)
    try:
        with transaction.atomic():
            rows = ImportJob.objects.filter(pk=job.pk).select_for_update(no_key=True, skip_locked=True)
            free = rows.first()
            if free is None or free.has_ended:
                return
            end(job.pk, State.CANCELLED, "Nothing was imported.")
    except OperationalError:
        # SQLite, and the worker did not come to its next look at the wish in time. It will.
        return
    storage.discard(job.pk)


def end(job: int, state: str, error: str = "") -> bool:
    """Write down how a job ended; False where it had ended before."""
    rows = ImportJob.objects.unended().filter(pk=job)
    return bool(rows.update(state=state, error=error, ended_at=timezone.now()))
