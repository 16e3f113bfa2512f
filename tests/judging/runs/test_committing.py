"""Writes that wait for a database that is away."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, InterfaceError, OperationalError
from django.utils import timezone

from arena.models import Comparison
from judging.models import JudgeCall
from judging.runs import committing
from judging.runs.lifecycle import plan_run, start_run
from judging.worker import worker
from tests.factories import make_judge, make_small_study
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.working import judge_assignment

pytestmark = pytest.mark.both_databases


class Away:
    """Stands before a function: it fails so often, as if the database were being restarted."""

    def __init__(self, times: int, behind: Any = lambda: "written", error: Any = OperationalError) -> None:
        self.left, self.behind, self.error, self.tries = times, behind, error, 0

    def __call__(self, *args: Any) -> Any:
        self.tries += 1
        if self.left:
            self.left -= 1
            raise self.error("server closed the connection unexpectedly")
        return self.behind(*args)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(committing, "PAUSE", 0)


@pytest.mark.django_db
@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_write_is_repeated_until_done(error: type[Exception], caplog: pytest.LogCaptureFixture) -> None:
    write = Away(3, error=error)
    assert committing.retry_until(write, timezone.now() + timedelta(minutes=1)) == "written"
    assert write.tries == 4
    assert "The database is away, a write waits for it: server closed the connection" in caplog.text


@pytest.mark.parametrize(("error", "seconds"), [(OperationalError, -1), (IntegrityError, 60)])
def test_not_for_ever_and_not_where_the_write_is_wrong(error: type[Exception], seconds: int) -> None:
    write = Away(1, error=error)
    with pytest.raises(error):
        committing.retry_until(write, timezone.now() + timedelta(seconds=seconds))
    assert write.tries == 1


@pytest.mark.parametrize(
    ("answer", "state"), [(Answer("6\nBetter."), "replied"), (Answer(status=500), "failed")]
)
def test_what_came_of_a_call_is_kept_while_the_database_restarts(
    arena: Any, model: ChatServer, monkeypatch: pytest.MonkeyPatch, answer: Answer, state: str
) -> None:
    model.script = lambda body: answer
    run = start_run(make_small_study(prompts=1, contestants=2), make_judge(base_url=model.url))
    plan_run(run.pk)
    monkeypatch.setattr(committing, "commit", Away(2, behind=committing.commit))
    monkeypatch.setattr(worker, "IDLE", 0.01)
    judge_assignment(run.run_assignments.get().assignment_id)
    assert JudgeCall.objects.get().state == state
    assert Comparison.objects.count() == (state == "replied")
    assert len(model.requests) == 1
