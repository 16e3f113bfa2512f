from celery import shared_task

from arena.data.uploads import jobs


@shared_task  # type: ignore[untyped-decorator]
def check_import(job_id: int) -> None:
    jobs.check(job_id)


@shared_task  # type: ignore[untyped-decorator]
def apply_import(job_id: int) -> None:
    jobs.apply(job_id)
