"""Doors for the workers."""

from celery import shared_task

from arena.data.uploads import jobs


@shared_task  # type: ignore[untyped-decorator]
def check_import(job_id: int) -> None:
    """Check the files of an import job."""
    jobs.check(job_id)


@shared_task  # type: ignore[untyped-decorator]
def apply_import(job_id: int) -> None:
    """Import the files of a job."""
    jobs.apply(job_id)
