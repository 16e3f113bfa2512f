"""A loopback model, a live arena, and a queue that tests drain by hand."""

from collections import deque
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from judging import tasks
from judging.models import JudgeRun, RateLimit, RunAssignment
from judging.runs import queue
from judging.runs.recovery import sweep
from tests.factories import make_judge, make_small_study, make_user
from tests.judging.elsewhere import planned
from tests.judging.endpoints.server import ChatServer
from tests.judging.working import work_off


@pytest.fixture
def model() -> Iterator[ChatServer]:
    """A loopback Chat Completions server; set ``model.script`` to make it answer differently."""
    with ChatServer() as server:
        yield server


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> deque[tuple[str, int]]:
    """The messages the workers would get."""
    sent: deque[tuple[str, int]] = deque()
    monkeypatch.setattr(queue, "nudge_plan", lambda pk: sent.append(("plan", pk)))
    return sent


@pytest.fixture
def staff(client: Client) -> Client:
    """An operator's browser."""
    client.force_login(make_user(is_staff=True))
    return client


@pytest.fixture
def run(messages: deque[Any]) -> JudgeRun:
    """A running run over two pairs."""
    return planned(make_judge(), make_small_study(prompts=2, contestants=2))


@pytest.fixture
def arena(transactional_db: None, live_server: Any, settings: Any, messages: deque[tuple[str, int]]) -> Any:
    """A running arena, to which judges elsewhere submit."""
    settings.ARENA_URL = live_server.url
    settings.JUDGE_RETRY_SECONDS = 0.01
    return live_server


@pytest.fixture
def drain(messages: deque[tuple[str, int]]) -> Callable[[], None]:
    """Do what the workers would do, retries and sweeps included, to the end."""

    def run_all(sweeps: int = 20, *, to_the_end: bool = True) -> None:
        for _ in range(sweeps):
            while messages:
                tasks.plan_run(messages.popleft()[1])
            work_off()
            if not JudgeRun.objects.going_on().exists():
                return
            due = timezone.now() - timedelta(seconds=1)  # as if time had passed
            RunAssignment.objects.update(due_at=due)
            RateLimit.objects.update(probe_at=0, closed_until=0)
            sweep()
        assert not to_the_end, "the run did not end"

    return run_all
