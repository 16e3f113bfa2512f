"""Nudges to the workers when there is no broker."""

from typing import Any

import pytest
from celery import current_app
from kombu.exceptions import OperationalError

from judging.models import JudgeRun
from judging.runs import queue
from judging.runs.lifecycle import start_run
from tests.factories import make_judge, make_small_study


@pytest.fixture
def unreachable(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A broker that refuses connections; the tasks it was asked to send."""
    tried: list[str] = []

    def fail(task: str, **_: Any) -> None:
        tried.append(task)
        raise OperationalError("connection refused")

    monkeypatch.setattr(current_app, "send_task", fail)
    return tried


def test_an_unreachable_queue_is_logged(unreachable: list[str], caplog: pytest.LogCaptureFixture) -> None:
    queue.nudge_panels([1, 2, 3])
    assert unreachable == [queue.CONVENE]
    assert "The task queue cannot be reached, the sweep will ask again: connection refused" in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_run_starts_without_a_queue(unreachable: list[str]) -> None:
    start_run(make_small_study(), make_judge())
    assert JudgeRun.objects.get().state == "queued"
    assert unreachable == [queue.PLAN]
