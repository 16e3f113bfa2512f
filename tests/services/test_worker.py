"""A real Celery worker in a process of its own, over Redis and PostgreSQL."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.utils import timezone

from arena.models import Assignment
from arena.process import health
from leaderboard.models import ComputedView, Snapshot
from leaderboard.snapshots import freshness, on_demand
from leaderboard.snapshots.settings import Setting
from tests.arena.process.processes import ROOT
from tests.factories import make_assignment, make_comparison

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def worker() -> Iterator[subprocess.Popen[bytes]]:
    """`celery -A arena worker` on the test database, stopped as an operator would."""
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    process = subprocess.Popen(
        [sys.executable, "-m", "celery", "-A", "arena", "worker", "--loglevel=WARNING"],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": url, "SWEEP_SECONDS": "0.2", "WORKER_CONCURRENCY": "2"},
        start_new_session=True,
    )
    yield process
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(30)
    finally:
        process.kill()


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds; fail after three minutes."""
    deadline = time.monotonic() + 180
    while not holds():
        assert time.monotonic() < deadline, "did not come to hold in time"
        time.sleep(0.1)


def test_messages_sweeps_and_pings_reach_it(worker: subprocess.Popen[bytes]) -> None:
    eventually(health._worker_answers)

    lapsed = make_assignment(leased_until=timezone.now() - timedelta(minutes=1))
    eventually(lambda: Assignment.objects.get(pk=lapsed.pk).state == Assignment.State.EXPIRED)

    study = make_comparison().study
    freshness.request_refresh(study.pk)
    eventually(Snapshot.objects.filter(study=study).exists)

    snapshot = Snapshot.objects.get(study=study)
    on_demand.contents(snapshot, Setting(snapshot.counts["raters"][0]["selector"], level="61"))
    eventually(ComputedView.objects.filter(state="ready").exists)
    assert worker.poll() is None
