"""A real worker in a process of its own, over Redis and PostgreSQL."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from celery import Celery
from django.db import connection
from django.utils import timezone

from arena.models import Assignment
from arena.monitoring import health
from leaderboard.models import ComputedView, Snapshot
from leaderboard.snapshots import freshness, on_demand
from leaderboard.snapshots.settings import Setting
from tests.arena.process.processes import ROOT
from tests.factories import make_assignment, make_comparison
from tests.services.servers import start_redis

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


@pytest.fixture
def worker() -> Iterator[subprocess.Popen[bytes]]:
    with running() as process:
        yield process


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds; fail after three minutes."""
    deadline = time.monotonic() + 180
    while not holds():
        assert time.monotonic() < deadline, "did not come to hold in time"
        time.sleep(0.1)


def test_messages_sweeps_and_pings_reach_it(worker: subprocess.Popen[bytes]) -> None:
    eventually(lambda: all(health._ask_workers().queues.values()))

    lapsed = make_assignment(leased_until=timezone.now() - timedelta(minutes=1))
    eventually(lambda: Assignment.objects.get(pk=lapsed.pk).state == Assignment.State.EXPIRED)

    study = make_comparison().study
    freshness.request_refresh(study.pk)
    eventually(Snapshot.objects.filter(study=study).exists)

    snapshot = Snapshot.objects.get(study=study)
    on_demand.contents(snapshot, Setting(snapshot.counts["raters"][0]["selector"], level="61"))
    eventually(ComputedView.objects.filter(state="ready").exists)
    assert worker.poll() is None


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


KILLS = 3


def _is_done(sender: Celery, sent: tuple[str, tuple[int]]) -> bool:
    """Send a message once a second until its study has a snapshot."""
    sender.send_task(sent[0], sent[1], queue="statistics", retry=False)
    time.sleep(1)
    return Snapshot.objects.filter(study=sent[1][0]).exists()
