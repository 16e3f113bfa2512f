"""Nudges to the workers when there is no broker."""

from typing import Any

import pytest
from celery import current_app
from kombu.exceptions import OperationalError

from judging.runs import queue


def test_an_unreachable_queue_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tried: list[str] = []

    def fail(task: str, **_: Any) -> None:
        tried.append(task)
        raise OperationalError("connection refused")

    monkeypatch.setattr(current_app, "send_task", fail)
    queue.nudge_plan(1)
    queue.nudge_panels([1, 2, 3])
    assert tried == [queue.PLAN, queue.CONVENE]
    assert "The task queue cannot be reached, the sweep will ask again: connection refused" in caplog.text
