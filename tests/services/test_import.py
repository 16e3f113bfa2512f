"""An import by a real Celery worker, over Redis and PostgreSQL."""

import subprocess

import pytest
from celery import current_app

from arena.data.uploads import jobs
from arena.models import ImportChunk, ImportJob, Prompt
from tests.factories import make_import_job
from tests.services.test_worker import eventually, worker  # noqa: F401 - a fixture

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

PROMPTS = ("prompts.jsonl", '{"id": "p1", "instruction": "One"}\n')


def test_checked_by_a_message_applied_by_the_sweep(worker: subprocess.Popen[bytes]) -> None:  # noqa: F811
    job = make_import_job(PROMPTS)
    current_app.send_task(jobs.TASKS[ImportJob.State.CHECKING], args=[job.pk])
    rows = ImportJob.objects.filter(pk=job.pk)
    eventually(rows.filter(state=ImportJob.State.CHECKED).exists)
    assert not Prompt.objects.exists()
    rows.update(state=ImportJob.State.APPLYING)
    eventually(rows.filter(state=ImportJob.State.APPLIED).exists)
    assert Prompt.objects.count() == 1
    eventually(lambda: not ImportChunk.objects.exists())
