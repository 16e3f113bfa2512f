"""The worker: queues with slots of their own, and what its command refuses."""

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from celery import current_app
from django.conf import settings
from django.core.management import CommandError, call_command

from arena.process.nudging import nudge
from arena.process.worker import Worker
from judging import tasks as judging_tasks
from leaderboard.models import Snapshot
from tests.factories import make_comparison
from tests.waiting import eventually

SECONDS = 20


@pytest.fixture
def worker(settings: Any) -> Iterator[Worker]:
    """A worker in this process, without sweeps, so that all work comes from messages."""
    settings.SWEEPS = []
    started = Worker(settings.QUEUES)
    started.start()
    yield started
    started.stop(timeout=5)
    assert socket.getdefaulttimeout() is None


@pytest.mark.django_db(transaction=True)
def test_a_run_that_holds_all_slots_stops_no_refresh(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    held, let_go = threading.Semaphore(0), threading.Event()

    def hang(*_: Any) -> None:
        held.release()
        let_go.wait(2 * SECONDS)

    monkeypatch.setattr(judging_tasks, "services_plan_run", hang)
    slots = settings.QUEUES["judging"]
    for pk in range(2 * slots):
        current_app.send_task("judging.tasks.plan_run", args=[pk])
    assert all(held.acquire(timeout=SECONDS) for _ in range(slots))
    study = make_comparison().study
    nudge("leaderboard.refresh_study", [study.pk])
    try:
        eventually(Snapshot.objects.filter(study=study).exists, SECONDS)
        assert not let_go.is_set()
    finally:
        let_go.set()


def test_every_task_has_a_queue() -> None:
    current_app.loader.import_default_modules()
    ours = [name for name in current_app.tasks if not name.startswith("celery.")]
    route = current_app.amqp.router.route
    queues = {route({}, name)["queue"].name for name in ours}
    assert queues | settings.DOORS.keys() == set(settings.QUEUES)


def test_an_unknown_queue_is_named(settings: Any) -> None:
    settings.EMBEDDED_WORKER = False
    with pytest.raises(CommandError, match='--queues names "judgin"; the queues are judging, '):
        call_command("worker", "--queues", "judgin,statistics")


def test_a_broker_in_memory_has_no_other_workers(settings: Any) -> None:
    settings.EMBEDDED_WORKER = True
    with pytest.raises(CommandError, match=r"manage\.py serve does this work"):
        call_command("worker")
