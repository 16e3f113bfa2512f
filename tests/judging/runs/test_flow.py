"""One judge over one study, from start to finish, through the real client and the real API."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from arena.models import Assignment, Comparison, Rater
from judging.models import Judge, JudgeCall, JudgeRun
from judging.models.calls import Progress
from judging.runs.lifecycle import resume_run, start_run
from tests.factories import make_judge, make_small_study
from tests.judging.elsewhere import planned
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.runs.releasing import releasing
from tests.judging.working import judge_assignment

Drain = Callable[[], None]


def run_judge(judge: Judge, drain: Drain, study: Any = None, **options: Any) -> tuple[JudgeRun, Progress]:
    study = study or make_small_study(prompts=1, contestants=2)
    run = start_run(study, judge, **options)
    drain()
    run.refresh_from_db()
    return run, JudgeCall.objects.progress(run)


@pytest.mark.both_databases
def test_one_pair_end_to_end(arena: Any, model: ChatServer, drain: Drain) -> None:
    model.script = lambda body: Answer("7\nAnswer B is more complete.")
    run, progress = run_judge(make_judge(base_url=model.url), drain)
    assert run.state == "finished"
    assert (progress.assigned, progress.scored, progress.waiting) == (1, 1, 0)
    comparison = Comparison.objects.get()
    assert (comparison.rating, comparison.status, comparison.source) == (7, "scored", "api")
    assert comparison.rationale == "Answer B is more complete."
    assert comparison.raw_reply == "7\nAnswer B is more complete."
    call = JudgeCall.objects.get()
    assert call.messages == model.requests[0]["messages"]
    assert (call.model_returned, call.prompt_tokens, call.completion_tokens) == ("loopback-1", 100, 10)
    assert call.submitted_at is not None
    assert Assignment.objects.get().state == "submitted"


def test_unscored_is_no_tie(arena: Any, model: ChatServer, drain: Drain) -> None:
    model.script = lambda body: Answer(None, refusal="I will not do this.")
    _, progress = run_judge(make_judge(base_url=model.url), drain)
    assert progress.unscored == {"refused": 1}
    assert (progress.scored, progress.failed) == (0, 0)
    comparison = Comparison.objects.get()
    assert (comparison.status, comparison.reason, comparison.rating) == ("unscored", "refused", None)
    assert comparison.raw_reply == "I will not do this."


def test_no_reply_is_tried_again_and_then_failed(
    arena: Any, model: ChatServer, drain: Drain, settings: Any
) -> None:
    settings.JUDGE_MAX_ATTEMPTS = 2
    model.script = lambda body: Answer(status=500, raw=b"oops")
    run, progress = run_judge(make_judge(base_url=model.url), drain)
    assert (progress.failed, progress.attempts_failed, progress.waiting) == (1, 2, 0)
    assert len(model.requests) == 2
    assert set(JudgeCall.objects.values_list("error_kind", flat=True)) == {"http_500"}
    assert list(JudgeCall.objects.order_by("attempt").values_list("given_up", flat=True)) == [False, True]
    assert Assignment.objects.get().state == "failed"
    assert run.state == "failed"
    assert not Comparison.objects.exists()


@pytest.mark.parametrize(("status", "words"), [(401, "needs a valid key"), (404, "does not know the model")])
def test_an_endpoint_that_refuses_the_judge_pauses_the_run_and_nothing_is_lost(
    status: int, words: str, arena: Any, model: ChatServer, drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPBACK_API_KEY", "sk-very-secret")
    good = Answer()
    bad = Answer(status=status, raw=b'{"error": {"message": "Bad key sk-very-secret, sk-very-se"}}')
    model.script = lambda body: good if len(model.requests) == 1 else bad
    study = make_small_study(prompts=4, contestants=2)
    run, progress = run_judge(make_judge(base_url=model.url, api_key_env="LOOPBACK_API_KEY"), drain, study)
    headers = {name.lower(): value for name, value in model.headers[0].items()}
    assert headers["authorization"] == "Bearer sk-very-secret"
    assert (run.state, progress.done, progress.failed, progress.waiting) == ("paused", 1, 0, 3)
    assert words in run.error
    assert run.error.endswith(f"({status}: Bad key [key], [key]). Nothing was lost.")
    asked = len(model.requests)
    resume_run(run)
    drain()
    assert JudgeRun.objects.get().state == "paused"
    assert len(model.requests) == asked + 1
    model.script = lambda body: good
    resume_run(run)
    drain()
    assert JudgeRun.objects.get().state == "finished"
    assert JudgeCall.objects.progress(run).scored == 4
    assert len(model.requests) == asked + 1 + 3, "what was answered is not asked again"


def test_a_pair_that_alone_is_refused_again_fails_alone(arena: Any, model: ChatServer, drain: Drain) -> None:
    bad = []

    def script(body: dict[str, Any]) -> Answer:
        bad[:] = bad or [body["messages"]]
        return Answer(status=403, raw=b"flagged") if body["messages"] in bad else Answer()

    model.script = script
    study = make_small_study(prompts=3, contestants=2)
    run, _ = run_judge(make_judge(base_url=model.url), drain, study)
    for _ in range(3):
        if JudgeRun.objects.get().state == "paused":
            resume_run(run)
            drain()
    progress = JudgeCall.objects.progress(run)
    assert (JudgeRun.objects.get().state, progress.scored, progress.failed) == ("finished", 2, 1)


def test_a_run_in_which_nothing_works_stops(arena: Any, model: ChatServer, drain: Drain) -> None:
    model.script = lambda body: Answer(status=400, raw=b'{"error": {"message": "Invalid model name."}}')
    study = make_small_study(prompts=22, contestants=2)
    run, progress = run_judge(make_judge(base_url=model.url), drain, study)
    assert run.state == "paused"
    said = "10 calls failed alike, without one reply between (HTTP 400: Invalid model name)."
    assert run.error.startswith(said)
    assert 10 <= len(model.requests) <= 20
    assert progress.waiting >= 12
    # Once it is put right, the rest is asked; and what failed by a run of its own.
    model.script = lambda body: Answer()
    resume_run(run)
    drain()
    progress = JudgeCall.objects.progress(run)
    assert (JudgeRun.objects.get().state, progress.scored + progress.failed) == ("finished", 22)


def test_some_calls_that_fail_alike_stop_no_run_that_works(
    arena: Any, model: ChatServer, drain: Drain
) -> None:
    model.script = lambda body: Answer(status=200 if len(model.requests) % 9 == 0 else 400)
    run, progress = run_judge(
        make_judge(base_url=model.url), drain, make_small_study(prompts=20, contestants=2)
    )
    assert (run.state, progress.scored, progress.failed) == ("finished", 2, 18)


def test_an_endpoint_that_asks_to_wait_fails_no_question(
    arena: Any, model: ChatServer, drain: Drain, settings: Any
) -> None:
    settings.JUDGE_MAX_ATTEMPTS = 2
    answers = [Answer(status=429)] * 6
    model.script = lambda body: answers.pop() if answers else Answer()
    run, progress = run_judge(make_judge(base_url=model.url), drain)
    assert (run.state, progress.scored, progress.attempts_failed) == ("finished", 1, 6)


def test_a_key_that_is_not_valid_pauses_all_runs_that_use_it_there(
    arena: Any, model: ChatServer, drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("A_API_KEY", "B_API_KEY"):
        monkeypatch.setenv(name, "sk-of-this-test")
    model.script = lambda body: Answer(status=401 if body["model"] == "first" else 200)
    study = make_small_study(prompts=1, contestants=2)
    runs = [
        planned(make_judge(base_url=model.url, model=name, api_key_env=key), study)
        for name, key in (("first", "A_API_KEY"), ("second", "A_API_KEY"), ("third", "B_API_KEY"))
    ]
    judge_assignment(runs[0].run_assignments.get().assignment_id)
    assert [run.state for run in JudgeRun.objects.order_by("pk")] == ["paused", "paused", "running"]


def test_a_run_whose_first_replies_cannot_be_read_pauses_once_and_does_not_end_well(
    arena: Any, model: ChatServer, drain: Drain
) -> None:
    model.script = lambda body: Answer("Both are\x1b[31m lovely!")
    study = make_small_study(prompts=12, contestants=2)
    run, progress = run_judge(make_judge(base_url=model.url), drain, study)
    assert (run.state, progress.unscored_total, len(model.requests)) == ("paused", 10, 10)
    assert 'None of the first 10 replies could be read. The first one: "Both are [31m lovely!"' in run.error
    resume_run(run)
    drain()
    run.refresh_from_db()
    assert (run.state, len(model.requests)) == ("finished", 12)
    assert 'No reply could be read. The first one: "Both are [31m lovely!"' in run.error


def test_one_reply_that_can_be_read_lets_the_run_go_on(arena: Any, model: ChatServer, drain: Drain) -> None:
    model.script = lambda body: Answer("6" if len(model.requests) == 5 else "Both.")
    run, _ = run_judge(make_judge(base_url=model.url), drain, make_small_study(prompts=12, contestants=2))
    assert (run.state, run.error) == ("finished", "")


@pytest.mark.both_databases
def test_a_reply_to_a_judge_that_was_paused_meanwhile_waits_for_it(
    arena: Any, model: ChatServer, drain: Drain
) -> None:
    study, judge = make_small_study(prompts=1, contestants=2), make_judge(base_url=model.url)
    start_run(study, judge)

    def pause(body: object) -> Answer:
        Rater.objects.filter(pk=judge.rater_id).update(paused_at=timezone.now())
        return Answer()

    model.script = releasing(pause)
    with pytest.raises(AssertionError, match="the run did not end"):
        drain()
    call = JudgeCall.objects.get()
    assert (call.state, call.submitted_at, Assignment.objects.get().state) == ("replied", None, "open")
    Rater.objects.filter(pk=judge.rater_id).update(paused_at=None)
    drain()
    assert (len(model.requests), Comparison.objects.get().rating) == (1, 5)
    call.refresh_from_db()
    assert call.submitted_at is not None
