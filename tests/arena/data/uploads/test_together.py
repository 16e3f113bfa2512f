"""Workers and operators at the same job at the same moment, each with a connection of its own."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connections, transaction

from arena.data.importing import scratch
from arena.data.importing.imports import import_records
from arena.data.uploads import jobs
from arena.models import ImportJob, Prompt
from arena.process import busy
from tests import factories

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

PROMPTS = ("prompts.jsonl", '{"id": "p1", "instruction": "One"}\n')
SECONDS = 30


class Worker:
    """Applies a job in a thread, and stops in the middle of it until told to go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.in_the_middle, self.go_on = Event(), Event()

        def slow_import(slug: str, items: Any, **more: Any) -> Any:
            report = import_records(slug, items, **more)
            self.in_the_middle.set()
            assert self.go_on.wait(SECONDS)
            return report

        monkeypatch.setattr(jobs, "import_records", slow_import)
        self._pool = ThreadPoolExecutor()

    def start(self, work: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        def run() -> Any:
            try:
                return work(*arguments)
            finally:
                connections.close_all()

        return self._pool.submit(run)


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Worker:
    return Worker(monkeypatch)


@pytest.fixture
def job(transactional_db: None) -> ImportJob:
    found = factories.make_import_job(PROMPTS)
    ImportJob.objects.update(state=ImportJob.State.APPLYING)
    return found


def state_of(job: ImportJob) -> str:
    job.refresh_from_db()
    return job.state


def test_two_workers_apply_it_once(worker: Worker, job: ImportJob, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def everybody_may(_: int) -> Any:
        yield True

    monkeypatch.setattr(jobs, "runner", everybody_may)
    first = worker.start(jobs.apply, job.pk)
    assert worker.in_the_middle.wait(SECONDS)
    second = worker.start(jobs.apply, job.pk)
    worker.go_on.set()
    first.result(SECONDS)
    second.result(SECONDS)
    assert state_of(job) == ImportJob.State.APPLIED
    assert Prompt.objects.count() == 1


def test_cancel_in_the_middle(worker: Worker, job: ImportJob) -> None:
    applied = worker.start(jobs.apply, job.pk)
    assert worker.in_the_middle.wait(SECONDS)
    cancelled = worker.start(jobs.cancel, job)
    while not jobs.is_to_stop(job.pk):
        pass
    worker.go_on.set()
    cancelled.result(SECONDS)
    applied.result(SECONDS)
    assert state_of(job) == ImportJob.State.CANCELLED
    assert not Prompt.objects.exists()


@pytest.mark.both_databases(False)
def test_people_write_while_an_import_is_checked(worker: Worker, job: ImportJob) -> None:
    ImportJob.objects.update(state=ImportJob.State.CHECKING)
    other = factories.make_study(slug="other")
    checked = worker.start(jobs.check, job.pk)
    try:
        assert worker.in_the_middle.wait(SECONDS)
        with transaction.atomic():
            other.name = "Written meanwhile"
            other.save()
    finally:
        worker.go_on.set()
    checked.result(SECONDS)
    assert state_of(job) == ImportJob.State.CHECKED
    assert not Prompt.objects.exists()


@pytest.mark.both_databases(False)
def test_a_copy_that_finds_the_disk_full_ends_the_check_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, job: ImportJob
) -> None:
    def full(path: Any) -> Any:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(scratch, "sqlite3", SimpleNamespace(connect=full))
    ImportJob.objects.update(state=ImportJob.State.CHECKING)
    jobs.check(job.pk)
    assert state_of(job) == ImportJob.State.FAILED
    assert job.error == f"{busy.FULL} Nothing was imported."
    assert list(scratch.working_folder().glob(f"{scratch.PREFIX}*")) == []
