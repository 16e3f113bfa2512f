"""Every sweep from end to end: what got lost is found in the database, asked for again, and done by a worker.

The messages go to a worker that the test plays: it takes each one from the queue and runs the task it names.
"""

import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.utils import timezone

from arena.models import Assignment, Comparison
from arena.process.sweep import Sweeper, sweep_once
from judging import tasks as judging_tasks
from judging.models import JudgeCall, JudgeRun, RunAssignment
from judging.runs.lifecycle import plan_run, start_run
from leaderboard import tasks as board_tasks
from leaderboard.models import ComputedView, Refresh, Snapshot
from leaderboard.refreshing import services as boards
from leaderboard.snapshots import freshness, on_demand
from leaderboard.snapshots.settings import Setting
from tests.arena.process.processes import ROOT
from tests.arena.process.processes import environment as least
from tests.factories import make_assignment, make_call, make_comparison, make_judge, make_small_study
from tests.judging.endpoints.server import ChatServer
from tests.judging.working import work_off

pytestmark = pytest.mark.django_db(transaction=True)

TASKS = {
    task.name: task
    for task in (
        judging_tasks.plan_run,
        board_tasks.refresh_study,
        board_tasks.compute_view,
    )
}
Message = tuple[str, tuple[Any, ...]]


class Queue:
    """Takes the place of the broker; ``lose`` is what FLUSHALL does."""

    def __init__(self):
        self._messages: queue.Queue[Message] = queue.Queue()

    def send_task(self, name, args=(), kwargs=None, **options):
        self._messages.put((name, tuple(args)))

    def lose(self):
        while not self._messages.empty():
            self._messages.get()

    def work(self):
        while not self._messages.empty():
            name, args = self._messages.get()
            TASKS[name](*args)


@pytest.fixture
def messages(monkeypatch):
    sent = Queue()
    monkeypatch.setattr(current_app, "send_task", sent.send_task)
    monkeypatch.setattr(boards, "ROUNDS", 20)
    return sent


Sweep = Callable[[Callable[[], bool]], None]
"""Sweep until something holds."""


@pytest.fixture(params=["once", "thread"])
def sweep(request, settings, messages):
    """One sweep, or the sweeper as it runs beside every worker; then the worker's turn."""

    def once(holds):
        sweep_once()
        messages.work()
        work_off()
        assert holds()

    def thread(holds):
        settings.SWEEP_SECONDS = 0.05
        sweeper, pause = Sweeper(), threading.Event()
        sweeper.start()
        for _ in range(600):
            messages.work()
            work_off()
            if holds():
                break
            pause.wait(0.05)
        sweeper.stop(timeout=30)
        assert holds()

    return once if request.param == "once" else thread


@pytest.fixture
def model():
    with ChatServer() as server:
        yield server


@pytest.fixture
def run(live_server, settings, messages, model):
    """A planned run over one pair, whose messages were lost some minutes ago."""
    settings.ARENA_URL = live_server.url
    started = start_run(make_small_study(prompts=1, contestants=2), make_judge(base_url=model.url))
    plan_run(started.pk)
    messages.lose()
    return started


def in_flight(run, ended):
    """A call whose worker was killed; its deadline passed so long ago."""
    deadline = timezone.now() - ended
    Assignment.objects.update(state="claimed", leased_until=deadline)
    asked = {"worker": "host:1:dead", "messages": [{"role": "user", "content": "x"}]}
    return make_call(run, deadline=deadline, **asked)


def test_an_expired_lease_of_a_person_is_taken_back(sweep):
    lapsed = make_assignment(leased_until=timezone.now() - timedelta(minutes=1))
    held = make_assignment()
    sweep(lambda: Assignment.objects.get(pk=lapsed.pk).state == "expired")
    assert Assignment.objects.get(pk=held.pk).state == "claimed"


@pytest.mark.parametrize("planned", [True, False])
def test_the_lost_message_of_a_plan_is_sent_again(run, sweep, model, planned):
    if not planned:
        RunAssignment.objects.all().delete()
        JudgeRun.objects.update(state="queued")
    sweep(lambda: Comparison.objects.count() == 1)
    assert len(model.requests) == 1


def test_an_expired_lease_of_a_judge_is_asked_again(run, sweep, model):
    call = in_flight(run, ended=timedelta(seconds=1))
    sweep(lambda: Comparison.objects.count() == 1)
    call.refresh_from_db()
    assert (call.state, len(model.requests)) == ("abandoned", 1)


def test_a_reply_that_was_not_recorded_is_not_asked_again(run, sweep, model):
    call, now = in_flight(run, ended=timedelta(seconds=1)), timezone.now()
    JudgeCall.objects.filter(pk=call.pk).update(state="replied", raw_reply="8\nB", finished_at=now)
    sweep(lambda: Comparison.objects.filter(rating=8).count() == 1)
    call.refresh_from_db()
    assert call.submitted_at is not None
    assert model.requests == []


def test_a_run_whose_last_message_was_lost_is_finished(run, sweep):
    Assignment.objects.update(state="failed", finished_at=timezone.now(), leased_until=None)
    sweep(JudgeRun.objects.filter(state="finished").exists)


@pytest.mark.parametrize("lost", ["never asked for", "message lost", "computation killed"])
def test_a_stale_snapshot_is_computed(sweep, messages, lost):
    study = make_comparison().study
    if lost == "message lost":
        freshness.request_refresh(study.pk)
        messages.lose()
        Refresh.objects.update(wanted_at=timezone.now() - freshness.LOST_AFTER)
    elif lost == "computation killed":
        Refresh.of(study.pk)
        Refresh.objects.update(running_until=timezone.now() - timedelta(seconds=1))
    sweep(Snapshot.objects.filter(study=study, comparisons=1).exists)


@pytest.mark.parametrize("killed", [False, True])
def test_numbers_on_demand_whose_message_was_lost_or_worker_killed_are_computed(sweep, messages, killed):
    snapshot = boards.refresh(make_comparison().study).snapshot
    on_demand.contents(snapshot, Setting(snapshot.counts["raters"][0]["selector"], level="61"))
    messages.lose()
    ComputedView.objects.update(wanted_at=timezone.now() - on_demand.LOST_AFTER)
    if killed:
        assert on_demand.claim(snapshot.study_id)
        ComputedView.objects.update(running_until=timezone.now() - timedelta(seconds=1))
    sweep(ComputedView.objects.filter(state="ready").exists)


PRODUCTION = {
    "ARENA_ENV": "production",
    "SECRET_KEY": "long-and-secret-0123456789-abcdefghijklmnopqrstuvwxyz",
    "ALLOWED_HOSTS": "arena.example.org",
    "DATABASE_URL": "postgresql://u:p@127.0.0.1:1/n",
    "BROKER_URL": "redis://127.0.0.1:1/0",
}


@pytest.mark.parametrize(("environment", "seconds"), [({}, "5.0"), (PRODUCTION, "30.0")])
def test_the_interval_between_sweeps(tmp_path, environment, seconds):
    shown = "from django.conf import settings; print(settings.SWEEP_SECONDS)"
    variables = least(DJANGO_SETTINGS_MODULE="arena.settings", VAR_DIR=str(tmp_path), **environment)
    command = [sys.executable, "-c", shown]
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    assert done.stdout.strip() == seconds, done.stderr
