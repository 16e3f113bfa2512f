"""What is left behind by lost messages and dead processes, and how it is set right."""

from collections import deque
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone

from arena.models import Assignment, Comparison
from judging.judges.services import JudgeError, configure_judge
from judging.models import Judge, JudgeCall, JudgeRun
from judging.runs import recovery
from judging.runs.committing import reopen
from judging.runs.heartbeat import this_worker
from judging.runs.lifecycle import cancel_run, resume_run, start_run
from judging.runs.recovery import abandon_orphans, sweep
from tests.factories import judge_with, make_call, make_judge, make_small_study
from tests.judging.elsewhere import planned
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.runs.releasing import releasing
from tests.judging.working import judge_assignment, work_off

pytestmark = pytest.mark.both_databases


@pytest.fixture
def run(arena: Any, model: ChatServer, messages: deque[Any]) -> JudgeRun:
    """A planned run of three pairs whose messages were lost."""
    run = planned(make_judge(base_url=model.url), make_small_study(prompts=3, contestants=2))
    messages.clear()
    return run


def in_flight(run: JudgeRun, worker: str, minutes: float = 5) -> JudgeCall:
    """A call that some process has begun."""
    deadline = timezone.now() + timedelta(minutes=minutes)
    call = make_call(run, worker=worker, messages=[{"role": "user", "content": "x"}], deadline=deadline)
    Assignment.objects.filter(pk=call.assignment_id).update(state="claimed", leased_until=deadline)
    return call


def test_lost_plans_are_sent_soon(run: JudgeRun, messages: deque[Any]) -> None:
    JudgeRun.objects.update(state="queued")
    assert sweep()["planning"] == 1
    assert messages[0] == ("plan", run.pk)


def test_overdue_calls_become_abandoned_and_are_asked_again(
    run: JudgeRun, messages: deque[Any], drain: Callable[[], None], model: ChatServer
) -> None:
    call = in_flight(run, this_worker(), minutes=-1)
    assert sweep()["abandoned"] == 1
    call.refresh_from_db()
    assert call.state == "abandoned"
    drain()
    progress = JudgeCall.objects.progress(run)
    assert (progress.scored, progress.abandoned, len(model.requests)) == (3, 1, 3)


def test_a_committed_reply_is_recorded(run: JudgeRun, drain: Callable[[], None], model: ChatServer) -> None:
    call = in_flight(run, "host:1:dead")
    JudgeCall.objects.filter(pk=call.pk).update(state="replied", raw_reply="8\nB", finished_at=timezone.now())
    assert abandon_orphans() == 0
    drain()
    assert len(model.requests) == 2
    assert sorted(Comparison.objects.values_list("rating", flat=True)) == [5, 5, 8]


def test_a_late_reply_counts_if_it_is_the_first(run: JudgeRun, model: ChatServer) -> None:
    assignment = run.run_assignments.order_by("pk")[0].assignment_id

    def slow(body: object) -> Answer:
        sweep(timezone.now() + timedelta(minutes=5))
        return Answer("2\nLate.")

    model.script = releasing(slow)
    judge_assignment(assignment, slots=1)
    call = JudgeCall.objects.get()
    assert (call.state, call.raw_reply, call.status) == ("replied", "2\nLate.", "scored")
    assert Comparison.objects.get().rating == 2
    assert Assignment.objects.get(pk=assignment).state == "submitted"


def test_two_live_calls_of_one_assignment_cannot_exist(run: JudgeRun) -> None:
    first = in_flight(run, "a")
    with pytest.raises(IntegrityError):
        make_call(run, assignment=first.assignment, attempt=2, worker="b")


def test_a_cancelled_run_asks_nothing_more_and_the_next_takes_up_the_rest(
    run: JudgeRun, messages: deque[Any], model: ChatServer, drain: Callable[[], None]
) -> None:
    assignment = run.run_assignments.order_by("pk")[0].assignment_id
    judge_assignment(assignment)
    assert cancel_run(run)
    assert not cancel_run(run)
    for row in run.run_assignments.all():
        judge_assignment(row.assignment_id)
    assert len(model.requests) == 1
    again = start_run(run.study, run.judge)
    drain()
    assert JudgeCall.objects.progress(again).scored == 2
    assert Comparison.objects.count() == Assignment.objects.count() == 3


def test_paused_judges_wait_and_closing_ends_runs(
    run: JudgeRun, messages: deque[Any], model: ChatServer
) -> None:
    rater = run.judge.rater
    rater.paused_at = timezone.now()
    rater.save()
    assert work_off() == 0
    assert model.requests == []
    rater.paused_at = None
    rater.save()
    run.study.closed_at = timezone.now()
    run.study.save()
    assert work_off() == 0
    run.refresh_from_db()
    assert (run.state, run.error) == ("cancelled", "The study was closed.")


def test_a_call_renewed_during_a_sweep_is_left_alone(run: JudgeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    first = in_flight(run, "elsewhere", minutes=-1)
    make_call(run, 1, key="", worker="elsewhere", deadline=first.deadline)

    def reopen_and_renew(*args: Any) -> None:
        reopen(*args)
        JudgeCall.objects.filter(state="in_flight").update(deadline=timezone.now() + timedelta(minutes=5))

    monkeypatch.setattr(recovery, "reopen", reopen_and_renew)
    assert sweep()["abandoned"] == 1
    assert sorted(JudgeCall.objects.values_list("state", flat=True)) == ["abandoned", "in_flight"]


def test_a_run_whose_wording_was_changed_by_an_update_is_paused(run: JudgeRun, model: ChatServer) -> None:
    run.judge.prompt_hash = "0" * 64
    run.judge.save()
    judge_assignment(run.run_assignments.order_by("pk")[0].assignment_id)
    sweep()
    run.refresh_from_db()
    assert (run.state, model.requests) == ("paused", [])
    assert "The wording of protocol likert has changed" in run.error
    with pytest.raises(JudgeError, match="Add a new judge"):
        resume_run(run)


def test_a_run_whose_protocol_is_gone_is_paused_and_holds_up_no_other(run: JudgeRun) -> None:
    gone = planned(make_judge(), run.study)
    Judge.objects.filter(pk=gone.judge_id).update(protocol="gone")
    sweep()
    states = dict(JudgeRun.objects.values_list("pk", "state"))
    assert states == {run.pk: "running", gone.pk: "paused"}
    gone.refresh_from_db()
    assert "protocol gone, which no longer exists" in gone.error


def test_a_judge_without_a_reply_may_still_be_worded_differently(run: JudgeRun) -> None:
    judge = run.judge
    config = judge_with(base_url=judge.base_url, protocol="vanilla")
    configure_judge(judge, judge.name, config)
    sweep()
    run.refresh_from_db()
    assert (run.state, judge.prompt_hash) == ("running", judge.current_prompt_hash())


def test_judges_being_asked_stay_the_same_and_calls_in_time_are_left_alone(run: JudgeRun) -> None:
    in_flight(run, this_worker())
    config = judge_with(base_url=run.judge.base_url, protocol="vanilla")
    with pytest.raises(JudgeError, match="you cannot change its protocol"):
        configure_judge(run.judge, run.judge.name, config)
    assert sweep()["abandoned"] == 0
    assert abandon_orphans() == 0
    assert JudgeCall.objects.get().state == "in_flight"
