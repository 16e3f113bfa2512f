"""Many askers and workers at once, on SQLite and PostgreSQL: one row, one computation, no limit broken."""

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

import pytest
from celery import current_app
from django.db import connections

from leaderboard.models import ComputedView
from leaderboard.refreshing import computing, services
from leaderboard.snapshots import on_demand
from leaderboard.snapshots.settings import Scope, Setting
from tests.leaderboard.rows import HandMade

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


@pytest.fixture
def messages(monkeypatch):
    sent = []
    monkeypatch.setattr(current_app, "send_task", lambda task, args, **options: sent.append(args[0]))
    return sent


@pytest.fixture
def snapshot(monkeypatch, messages):

    made = HandMade("alpha", "beta")
    for rating in (1, 2, 8):
        made.rate("alpha", "beta", rating)
    return services.refresh(made.study).snapshot


def at_once(*jobs):
    """What the jobs return, all started at the same moment, each with a connection of its own."""
    barrier = threading.Barrier(len(jobs))

    def run(job):
        barrier.wait()
        try:
            return job()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(run, jobs))


def test_askers_of_the_same_share_one_row(snapshot, messages):
    asked = Setting("people", level="61")
    answers = at_once(*[lambda: on_demand.contents(snapshot, asked)] * 6)
    assert {answer.state for answer in answers} == {"wanted"}
    assert ComputedView.objects.count() == 1
    assert messages == [snapshot.study_id]


def test_askers_of_different_settings_are_no_more_than_allowed(snapshot):
    settings = [Setting("people", level=f"{60 + number}") for number in range(on_demand.MOST_WAITING + 4)]
    jobs = [lambda each=each: on_demand.contents(snapshot, each).state for each in settings]
    assert sorted(at_once(*jobs)) == ["crowded"] * 4 + ["wanted"] * on_demand.MOST_WAITING
    assert ComputedView.objects.count() == on_demand.MOST_WAITING


def test_workers_take_one_at_a_time(snapshot):
    for number in range(4):
        on_demand.contents(snapshot, Setting("people", level=f"{60 + number}"))
    claimed = at_once(*[lambda: on_demand.claim(snapshot.study_id)] * 4)
    assert sum(view is not None for view in claimed) == 1
    assert ComputedView.objects.filter(state="running").count() == 1


def test_workers_together_compute_everything_once(snapshot, monkeypatch):
    settings = [Setting("people", level=f"{60 + number}") for number in range(4)]
    for each in settings:
        on_demand.contents(snapshot, each)
    computed, original = [], computing.tables_of

    def noting(view):
        computed.append(view.setting)
        return original(view)

    monkeypatch.setattr(computing, "tables_of", noting)

    def work():
        while ComputedView.objects.unfinished().exists():
            computing.compute_next(snapshot.study_id)

    at_once(work, work, work)
    assert sorted(computed) == sorted(map(on_demand.key_of, settings, repeat(Scope.BOARD)))
    assert not any(isinstance(on_demand.contents(snapshot, each), on_demand.Pending) for each in settings)
