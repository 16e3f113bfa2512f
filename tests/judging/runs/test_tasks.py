"""What a task does with its thread once its assignment is done."""

from collections import deque
from typing import Any

import pytest
from celery.worker import state

from judging import tasks
from judging.models import JudgeRun
from judging.runs.lifecycle import pause_run, plan_run, start_run
from tests.factories import make_judge, make_small_study
from tests.judging.endpoints.server import Answer, ChatServer

pytestmark = pytest.mark.django_db(transaction=True)

AHEAD = 2
PAIRS = 6


@pytest.fixture
def run(arena: Any, settings: Any, model: ChatServer, messages: deque[Any]) -> JudgeRun:
    """A run over six pairs, of which messages tell of two at a time."""
    settings.JUDGE_QUEUE_AHEAD = AHEAD
    started = start_run(make_small_study(prompts=2, contestants=3), make_judge(base_url=model.url))
    messages.clear()
    plan_run(started.pk)
    return started


def test_a_task_goes_on_without_a_message(run: JudgeRun, model: ChatServer, messages: deque[Any]) -> None:
    assert len(messages) == AHEAD
    tasks.judge_assignment(messages.popleft()[1])
    asked = len(model.requests)
    assert asked == PAIRS - len(messages)
    while messages:
        tasks.judge_assignment(messages.popleft()[1])
    run.refresh_from_db()
    assert (len(model.requests), run.state) == (PAIRS, "finished")


@pytest.mark.parametrize("why", ["its time is over", "its worker stops", "its call failed"])
def test_a_task_gives_its_thread_back(
    run: JudgeRun, model: ChatServer, messages: deque[Any], monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "its time is over":
        monkeypatch.setattr(tasks, "IN_A_ROW", 0.0)
    elif why == "its worker stops":
        monkeypatch.setattr(state, "should_stop", 0)
    else:
        model.script = lambda body: Answer(status=503)
    tasks.judge_assignment(messages.popleft()[1])
    assert len(model.requests) == 1
    assert messages


def test_a_task_goes_on_with_no_paused_run(run: JudgeRun, model: ChatServer, messages: deque[Any]) -> None:
    def answered_late(body: dict[str, Any]) -> Answer:
        pause_run(run)
        return Answer("3")

    model.script = answered_late
    tasks.judge_assignment(messages.popleft()[1])
    assert len(model.requests) == 1
