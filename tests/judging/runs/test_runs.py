"""Starting, pausing and resuming runs, and what the kinds of runs ask."""

from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import pytest

from arena.models import Assignment, Comparison, Study
from judging import tasks
from judging.judges.services import JudgeError
from judging.models import Judge, JudgeCall, JudgeRun, RunAssignment
from judging.runs.lifecycle import cancel_run, pause_run, resume_run, start_run
from tests.factories import make_completion, make_judge, make_prompt, make_small_study
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.working import judge_assignment

Drain = Callable[[], None]


def progress_of(run: JudgeRun) -> Any:
    run.refresh_from_db()
    return JudgeCall.objects.progress(run)


@pytest.fixture
def study(arena: Any) -> Study:
    """Three pairs of one prompt."""
    return make_small_study(prompts=1, contestants=3)


@pytest.fixture
def judge(study: Study, model: ChatServer) -> Judge:
    judge: Judge = make_judge(base_url=model.url, name="Loop")
    return judge


def make_identical(study: Study) -> None:
    prompt = make_prompt(study=study)
    for _ in range(2):
        make_completion(prompt=prompt, turns=["the same"], digest="f" * 64)


def test_a_paused_run_asks_nothing_and_goes_on_where_it_stopped(
    study: Study, judge: Judge, model: ChatServer, messages: deque[Any], drain: Drain
) -> None:
    run = start_run(study, judge)
    tasks.plan_run(messages.popleft()[1])
    judge_assignment(run.run_assignments.all()[0].assignment_id)
    assert pause_run(run)
    assert not pause_run(run)
    drain()
    assert len(model.requests) == 1
    assert (progress_of(run).scored, run.state) == (1, "paused")
    with pytest.raises(JudgeError, match="is already rating"):
        start_run(study, judge)
    assert resume_run(run)
    assert not resume_run(run)
    drain()
    assert (progress_of(run).scored, run.state) == (3, "finished")
    assert len(model.requests) == 3


def test_a_call_in_flight_counts_although_its_run_is_paused_or_cancelled_meanwhile(
    study: Study, judge: Judge, model: ChatServer, messages: deque[Any], drain: Drain
) -> None:
    run = start_run(study, judge)
    tasks.plan_run(messages.popleft()[1])

    def answered_late(body: dict[str, Any]) -> Answer:
        pause_run(run, "Somebody paused it.")
        return Answer("3")

    model.script = answered_late
    drain()
    assert (progress_of(run).scored, run.state, run.error) == (1, "paused", "Somebody paused it.")
    assert cancel_run(run)
    assert progress_of(run).scored == 1


def test_a_run_paused_before_it_was_planned_is_planned_when_it_is_resumed(
    study: Study, judge: Judge, messages: deque[Any], drain: Drain
) -> None:
    run = start_run(study, judge)
    pause_run(run)
    drain()
    assert not RunAssignment.objects.exists()
    Judge.objects.update(active=False)
    with pytest.raises(JudgeError, match="Loop is inactive"):
        resume_run(JudgeRun.objects.select_related("judge__rater", "study").get())
    Judge.objects.update(active=True)
    resume_run(JudgeRun.objects.select_related("judge__rater", "study").get())
    drain()
    assert (progress_of(run).scored, run.state) == (3, "finished")


def test_a_run_with_nothing_to_do_is_not_started(study: Study, judge: Judge, drain: Drain) -> None:
    start_run(study, judge)
    drain()
    for kind, sentence in (
        ("all", "Loop has replied about every pair"),
        ("extend", "Loop was asked about every pair"),
        ("failures", "failed with"),
        ("unscored", "No reply of Loop in .* lacks a rating"),
    ):
        with pytest.raises(JudgeError, match=sentence):
            start_run(study, judge, kind=kind)
    assert JudgeRun.objects.count() == 1


@pytest.mark.parametrize(("kind", "asked"), [("failures", 2), ("extend", 1)])
def test_retrying_asks_only_what_failed_and_extending_only_new_pairs(
    study: Study, judge: Judge, model: ChatServer, drain: Drain, kind: str, asked: int
) -> None:
    model.script = lambda body: Answer("2") if len(model.requests) > 2 else Answer(status=400)
    first = start_run(study, judge, limit=2)
    drain()
    assert progress_of(first).failed == 2
    again = start_run(study, judge, kind=kind)
    drain()
    done = progress_of(again)
    assert (done.assigned, done.scored, done.retried) == (asked, asked, 2 * (kind == "failures"))
    assert len(model.requests) == 2 + asked
    assert Assignment.objects.filter(state="failed").count() == 2 * (kind == "extend")


def test_the_unscored_are_revised(study: Study, judge: Judge, model: ChatServer, drain: Drain) -> None:
    model.script = lambda body: Answer("7" if len(model.requests) != 1 else "I cannot say.")
    start_run(study, judge)
    drain()
    (lacking,) = Comparison.objects.filter(status="unscored")
    again = start_run(study, judge, kind="unscored")
    drain()
    assert progress_of(again).scored == 1
    lacking.refresh_from_db()
    assert not lacking.is_current
    revision = Comparison.objects.get(revises=lacking)
    assert (revision.rating, revision.is_current, revision.assignment) == (7, True, lacking.assignment)
    assert Comparison.objects.current().count() == 3
    rounds = JudgeCall.objects.filter(assignment=lacking.assignment).order_by("pk")
    assert list(rounds.values_list("round", "run")) == [(0, again.pk - 1), (1, again.pk)]
    assert len(model.requests) == 4


def test_an_unscored_answer_stands_until_there_is_another(
    study: Study, judge: Judge, model: ChatServer, messages: deque[Any], drain: Drain
) -> None:
    model.script = lambda body: Answer("I cannot say.")
    start_run(study, judge, limit=1)
    drain()
    again = start_run(study, judge, kind="unscored")
    tasks.plan_run(again.pk)
    assert Comparison.objects.current().get().status == "unscored"
    cancel_run(again)
    assert Comparison.objects.current().get().status == "unscored"
    model.script = lambda body: Answer("4")
    start_run(study, judge, kind="unscored")
    drain()
    assert [one.rating for one in Comparison.objects.order_by("pk")] == [None, 4]
    assert set(JudgeCall.objects.values_list("round", flat=True)) == {0, 1}


def test_identical_pairs_are_counted_and_asked_as_controls_alone(
    study: Study, judge: Judge, model: ChatServer, drain: Drain
) -> None:
    make_identical(study)
    run = start_run(study, judge)
    drain()
    done = progress_of(run)
    assert (done.assigned, done.scored, done.identical, run.state) == (4, 3, 1, "finished")
    assert len(model.requests) == 3
    assert Counter(Comparison.objects.values_list("status", flat=True)) == {"scored": 3, "identical": 1}
    # A control keeps its rating and is no game.
    run = start_run(study, judge, controls=True)
    drain()
    done = progress_of(run)
    assert (done.assigned, done.identical, done.scored) == (1, 1, 0)
    control = Comparison.objects.current().get(status="identical")
    assert (control.rating, control.source) == (5, "api")
    assert control.revises is not None
    assert JudgeCall.objects.get(run=run).status == "identical"


def test_whoever_writes_for_a_judge_must_be_there_before_anything_is_asked(
    study: Study, model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_judge(slug="strong", model="strong-1", base_url=model.url, api_key_env="STRONG_API_KEY")
    one, lonely = (
        make_judge(base_url=model.url, protocol="strong-reference", parameters={"author": author})
        for author in ("judge:strong", "judge:nobody")
    )
    with pytest.raises(JudgeError, match=r"STRONG_API_KEY, .* to ask strong-1, is not set"):
        start_run(study, one)
    with pytest.raises(JudgeError, match="which does not exist"):
        start_run(study, lonely)
    monkeypatch.setenv("STRONG_API_KEY", "secret")
    assert start_run(study, one).state == "queued"
