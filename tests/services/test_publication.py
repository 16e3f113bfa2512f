"""A process that is killed, or loses PostgreSQL, in the middle of publishing a snapshot."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from leaderboard.models import ComparisonIndex, Refresh, Snapshot
from leaderboard.models.querysets import data_mark
from leaderboard.refreshing import services
from leaderboard.snapshots.study_lock import BusyError
from tests.arena.process.processes import ROOT
from tests.leaderboard.rows import HandMade, few_rounds
from tests.waiting import eventually

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]

STOPPED_AT = "leaderboard_comparisonindex"
"""The table that is written last: its snapshot and all tables of it are written by then."""

WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE %s"


@pytest.fixture
def url() -> str:
    """The address of the test database."""
    name = connection.settings_dict["NAME"]
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()


@pytest.fixture
def made() -> HandMade:
    """A study with a snapshot, and a rating since."""
    made = HandMade("alpha", "beta", slug="small")
    made.rate("alpha", "beta", 2)
    with few_rounds(10):
        services.refresh(made.study)
    made.rate("beta", "alpha", 3)
    return made


@dataclass(frozen=True)
class Publishing:
    """A process in the middle of publishing, its backend in PostgreSQL, and who holds it up."""

    process: "subprocess.Popen[bytes]"
    backend: int
    holder: "psycopg.Connection[Any]"


@pytest.fixture
def publishing(made: HandMade, url: str) -> Iterator[Publishing]:
    with psycopg.connect(url) as holder:
        holder.execute(f"LOCK TABLE {STOPPED_AT} IN EXCLUSIVE MODE")
        process = subprocess.Popen(
            [sys.executable, "manage.py", "refresh", made.study.slug],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": url},
            stderr=subprocess.DEVNULL,
        )
        try:
            yield Publishing(process, eventually(lambda: backends(WAITING, f"%{STOPPED_AT}%"))[0], holder)
        finally:
            process.kill()
            process.wait()


def backends(query: str, *given: Any) -> list[Any]:
    """The first column of a query about the processes of PostgreSQL."""
    with connection.cursor() as cursor:
        cursor.execute(query, given)
        return [pid for (pid,) in cursor.fetchall()]


@pytest.mark.parametrize("lost", ["process", "database"])
def test_nothing_is_half_published_and_none_lost(made: HandMade, publishing: Publishing, lost: str) -> None:
    former = Snapshot.objects.get()
    tables, index = former.slices.count(), ComparisonIndex.objects.get().version
    if lost == "process":
        publishing.process.kill()
    else:
        backends("SELECT pg_terminate_backend(%s)", publishing.backend)
    assert publishing.process.wait(60) != 0
    publishing.holder.rollback()
    alive = "SELECT pid FROM pg_stat_activity WHERE pid = %s"
    eventually(lambda: not backends(alive, publishing.backend))
    assert Snapshot.objects.get() == former
    assert (former.slices.count(), ComparisonIndex.objects.get().version) == (tables, index)
    assert services.stale() == [made.study.pk]

    if lost == "process":
        with pytest.raises(BusyError):
            services.refresh_if_stale(made.study)
        Refresh.objects.update(running_until=timezone.now() - timedelta(seconds=1))
    with few_rounds(10):
        services.refresh_if_stale(made.study)
    newest = Snapshot.objects.newest(made.study)
    assert newest is not None
    assert newest.data == data_mark(made.study)
    assert newest.slices.count() == tables
    assert Snapshot.objects.count() == 2
