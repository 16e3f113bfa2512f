"""Runs whose endpoint breaks down, for a while or over certain texts, or whose database is away."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import IntegrityError, InterfaceError, OperationalError
from django.utils import timezone

from arena.models import Comparison
from judging.endpoints.client import Reply
from judging.models import JudgeCall, JudgeRun
from judging.runs import committing, limiting, work
from judging.runs.committing import Result
from judging.runs.lifecycle import start_run
from judging.runs.recovery import sweep
from judging.worker import worker
from tests.factories import make_call, make_judge, make_small_study
from tests.judging.elsewhere import planned
from tests.judging.endpoints.server import Answer, ChatServer, Script, text_of
from tests.judging.working import judge_assignment

FEW = 3
"""So many failures in outages use up no attempts here."""


@pytest.fixture
def pass_time(drain: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Do what the workers would do while the longest pause passes so many times, or until no run goes on."""
    monkeypatch.setattr(work, "MOST_OUTAGES", FEW)
    return partial(drain, to_the_end=False)


def poisoned(bad: Answer) -> Script:
    """Breaks down over the first two texts, and answers all others."""
    first: list[str] = []

    def script(body: dict[str, Any]) -> Answer:
        text = text_of(body)
        if text not in first and len(first) < 2:
            first.append(text)
        return bad if text in first else Answer("5\nBoth are fine.")

    return script


def test_texts_that_break_the_endpoint_fail_at_last(
    arena: Any, model: ChatServer, pass_time: Callable[[int], None]
) -> None:
    model.script = poisoned(Answer(status=500))
    study = make_small_study(prompts=1, contestants=3)
    run = start_run(study, make_judge(base_url=model.url))
    pass_time(3 * FEW + 15)
    run.refresh_from_db()
    progress = JudgeCall.objects.progress(run)
    assert (run.state, progress.scored, progress.failed) == ("finished", 1, 2)
    assert JudgeCall.objects.filter(in_outage=True).count() <= 2 * FEW


def test_an_endpoint_that_cannot_be_reached_fails_no_question(
    arena: Any, model: ChatServer, pass_time: Callable[[int], None]
) -> None:
    nobody = make_judge(base_url="http://127.0.0.1:9/v1")
    run = start_run(make_small_study(prompts=1, contestants=2), nobody)
    pass_time(2 * FEW + 5)
    run.refresh_from_db()
    assert run.state == "running"
    assert JudgeCall.objects.filter(in_outage=True).count() > FEW
    assert not JudgeCall.objects.filter(given_up=True).exists()


def test_a_run_that_has_all_answers_is_finished_although_nobody_may_ask(
    arena: Any, model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = planned(make_judge(base_url=model.url), make_small_study(prompts=1, contestants=2))
    judge_assignment(run.run_assignments.get().assignment_id)
    monkeypatch.setattr(limiting, "room", lambda judge: (600.0, 0))
    sweep()
    run.refresh_from_db()
    assert run.state == "finished"


def test_a_reply_that_cannot_be_stored_costs_no_other(arena: Any, model: ChatServer) -> None:
    run = planned(make_judge(base_url=model.url), make_small_study(prompts=1))
    in_flight = [make_call(run, number) for number in range(3)]
    replies = [Reply("5", "stop", "loopback", prompt_tokens=count) for count in (10, 2**70, 10)]
    batch = [Result(call.pk, reply, 0.1) for call, reply in zip(in_flight, replies, strict=True)]
    committed = committing.commit_each(batch)
    assert [bool(each) for each in committed] == [False, True, False]
    assert JudgeRun.objects.get().calls.filter(state="replied").count() == 2


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


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_write_is_repeated_until_done(
    error: type[Exception], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, db: None
) -> None:
    monkeypatch.setattr(committing, "PAUSE", 0)
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


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("answer", "state"), [(Answer("6\nBetter."), "replied"), (Answer(status=500), "failed")]
)
def test_what_came_of_a_call_is_kept_while_the_database_restarts(
    arena: Any, model: ChatServer, monkeypatch: pytest.MonkeyPatch, answer: Answer, state: str
) -> None:
    model.script = lambda body: answer
    run = planned(make_judge(base_url=model.url), make_small_study(prompts=1, contestants=2))
    monkeypatch.setattr(committing, "commit", Away(2, behind=committing.commit))
    monkeypatch.setattr(worker, "IDLE", 0.01)
    judge_assignment(run.run_assignments.get().assignment_id)
    assert JudgeCall.objects.get().state == state
    assert Comparison.objects.count() == (state == "replied")
    assert len(model.requests) == 1
