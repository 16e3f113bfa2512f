"""A real worker in a process of its own, over Redis and PostgreSQL."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from celery import Celery, current_app
from django.db import connection
from django.utils import timezone

from arena.data.uploads import jobs
from arena.models import Assignment, ImportChunk, ImportJob, Prompt
from arena.monitoring import health
from leaderboard.models import ComputedView, Snapshot
from leaderboard.snapshots import freshness, on_demand
from leaderboard.snapshots.settings import Setting
from tests.arena.process.processes import ROOT
from tests.factories import make_assignment, make_comparison, make_import_job
from tests.services.servers import start_redis
from tests.waiting import eventually

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


@contextmanager
def running(**overrides: str) -> Iterator[subprocess.Popen[bytes]]:
    """`manage.py worker` on the test database, stopped as an operator would."""
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "worker"],
        cwd=ROOT,
        env={
            **os.environ,
            "DATABASE_URL": url,
            "SWEEP_SECONDS": "0.2",
            "WORKER_CONCURRENCY": "2",
            **overrides,
        },
        start_new_session=True,
    )
    try:
        yield process
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        process.kill()


def test_messages_sweeps_and_pings_reach_it() -> None:
    with running() as process:
        eventually(lambda: all(health._ask_workers().queues.values()))
        lease_ends_by_a_sweep()
        import_is_checked_by_a_message_and_applied_by_a_sweep()
        leaderboard_is_computed_by_messages()
        assert process.poll() is None


def lease_ends_by_a_sweep() -> None:
    lapsed = make_assignment(leased_until=timezone.now() - timedelta(minutes=1))
    eventually(lambda: Assignment.objects.get(pk=lapsed.pk).state == Assignment.State.EXPIRED)


def import_is_checked_by_a_message_and_applied_by_a_sweep() -> None:
    job = make_import_job(("prompts.jsonl", '{"id": "p1", "instruction": "One"}\n'))
    prompts = Prompt.objects.filter(study=job.study)
    current_app.send_task(jobs.TASKS[ImportJob.State.CHECKING], args=[job.pk])
    rows = ImportJob.objects.filter(pk=job.pk)
    eventually(rows.filter(state=ImportJob.State.CHECKED).exists)
    assert not prompts.exists()
    rows.update(state=ImportJob.State.APPLYING)
    eventually(rows.filter(state=ImportJob.State.APPLIED).exists)
    assert prompts.count() == 1
    eventually(lambda: not ImportChunk.objects.exists())


def leaderboard_is_computed_by_messages() -> None:
    study = make_comparison().study
    freshness.request_refresh(study.pk)
    eventually(Snapshot.objects.filter(study=study).exists)

    snapshot = Snapshot.objects.get(study=study)
    on_demand.contents(snapshot, Setting(snapshot.counts["raters"][0]["selector"], level="61"))
    eventually(ComputedView.objects.filter(state="ready").exists)


def test_it_comes_back_by_itself_when_redis_was_killed(tmp_path: Path) -> None:
    """Without sweeps, so that all work comes from messages; each time with tasks in the queue."""
    socket = tmp_path / "redis.sock"
    broker = f"redis+socket://{socket}"
    sender = Celery("sender", broker=broker, set_as_current=False)
    redis = start_redis(socket)
    try:
        with running(BROKER_URL=broker, SWEEP_SECONDS="3600") as process:
            for _ in range(KILLS):
                study = make_comparison().study
                sent = ("leaderboard.refresh_study", (study.pk,))
                eventually(lambda sent=sent: _is_done(sender, sent))
                redis.kill()
                redis.wait()
                time.sleep(0.5)
                redis = start_redis(socket)
            study = make_comparison().study
            eventually(lambda: _is_done(sender, ("leaderboard.refresh_study", (study.pk,))))
            assert process.poll() is None
    finally:
        redis.kill()
        redis.wait()


KILLS = 2


def _is_done(sender: Celery, sent: tuple[str, tuple[int]]) -> bool:
    """Send a message once a second until its study has a snapshot."""
    sender.send_task(sent[0], sent[1], queue="statistics", retry=False)
    time.sleep(1)
    return Snapshot.objects.filter(study=sent[1][0]).exists()
