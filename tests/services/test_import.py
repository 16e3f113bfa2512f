"""An import by a real Celery worker, over Redis and PostgreSQL."""

import subprocess

import pytest
from celery import current_app
from django.db import connection

from arena.data.importing import imports
from arena.data.uploads import jobs
from arena.models import ImportChunk, ImportJob, Prompt
from tests.arena.data.importing.records import stock
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


def test_postgresql_knows_its_tables_at_once_after_a_large_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MANY", 3)
    imports.import_records("large", stock(Heron="An answer.", Swift="Another."))
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'arena_completion'")
        assert cursor.fetchone() == (2,)
