"""Answers of judge workers elsewhere settle the calls behind them, early, late and twice."""

from functools import partial
from typing import Any

import pytest
from django.test import Client

from arena.models import Assignment, Comparison
from judging.models import JudgeCall, JudgeRun
from judging.runs import lifecycle
from judging.runs.lifecycle import cancel_run
from judging.runs.recovery import sweep
from tests.factories import make_judge, make_small_study
from tests.judging.elsewhere import lose_leases, planned, request

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

RECORD = {
    "model": "far-1",
    "model_returned": "far-1-0613",
    "finish_reason": "stop",
    "prompt_tokens": 100,
    "completion_tokens": 7,
    "reasoning_tokens": 5,
    "seconds": 1.25,
}


class Elsewhere:
    """A judge worker on another machine, by hand."""

    def __init__(self, client: Client) -> None:
        self.judge = make_judge()
        self.post = partial(request, client, self.judge.rater)
        self.run = self.new_run(make_small_study(prompts=1, contestants=2))

    def new_run(self, study: Any, *, remote: bool = True) -> JudgeRun:
        return planned(self.judge, study, remote=remote)

    def claim(self) -> str:
        reply = self.post("/assignments/", {})
        assert reply.status_code == 201
        return str(reply.json()["assignment"])

    def answer(self, name: str, rating: int = 6, attempt: int | None = 1, **record: Any) -> Any:
        call = {**RECORD, "attempt": attempt, **record}
        body = {"assignment": name, "rating": rating, "raw_reply": f"{rating}\nB.", "call": call}
        return self.post("/comparisons/", body)

    def states(self) -> list[str]:
        return list(JudgeCall.objects.order_by("attempt").values_list("state", flat=True))

    def assert_one_answer(self, rating: int) -> None:
        """One comparison, one committed reply, nothing left, in the run that is the last."""
        assert Comparison.objects.get().rating == rating
        assert Assignment.objects.get().state == "submitted"
        run = JudgeRun.objects.order_by("-pk")[0]
        progress = JudgeCall.objects.progress(run)
        assert (progress.assigned, progress.scored, progress.waiting, progress.failed) == (1, 1, 0, 0)
        sweep()
        run.refresh_from_db()
        assert run.state == "finished"


@pytest.fixture
def elsewhere(client: Client) -> Elsewhere:
    return Elsewhere(client)


def test_an_answer_settles_its_call(elsewhere: Elsewhere) -> None:
    name = elsewhere.claim()
    assert elsewhere.answer(name).status_code == 201
    call = JudgeCall.objects.get()
    assert (call.state, call.raw_reply, call.status, call.rating) == ("replied", "6\nB.", "scored", 6)
    assert (call.model_returned, call.finish_reason) == ("far-1-0613", "stop")
    assert (call.prompt_tokens, call.completion_tokens, call.latency) == (100, 7, 1.25)
    assert call.reasoning_tokens == 5
    assert call.submitted_at is not None
    assert Comparison.objects.get().extra == {}
    elsewhere.assert_one_answer(6)


@pytest.mark.parametrize("call", [None, {**RECORD, "refusal": "No."}])
def test_a_refusal_settles_it_with_or_without_a_record(
    elsewhere: Elsewhere, call: dict[str, Any] | None
) -> None:
    name = elsewhere.claim()
    body = {"assignment": name, "rating": None, "reason": "refused", "raw_reply": "No.", "seconds": 2.5}
    assert elsewhere.post("/comparisons/", body | ({"call": call} if call else {})).status_code == 201
    row = JudgeCall.objects.get()
    assert (row.state, row.status, row.reason) == ("replied", "unscored", "refused")
    # The text of a refusal field is kept once.
    assert (row.raw_reply, row.refusal, row.latency) == (("", "No.", 1.25) if call else ("No.", "", 2.5))
    assert JudgeCall.objects.progress(elsewhere.run).unscored == {"refused": 1}


def test_the_same_answer_again_changes_nothing(elsewhere: Elsewhere) -> None:
    name = elsewhere.claim()
    elsewhere.answer(name)
    before = JudgeCall.objects.values().get()
    again = elsewhere.answer(name, prompt_tokens=999)
    assert again.status_code == 200
    assert JudgeCall.objects.values().get() == before
    assert elsewhere.answer(name, rating=2).status_code == 409
    elsewhere.assert_one_answer(6)


def test_a_late_answer_while_another_worker_asks(elsewhere: Elsewhere) -> None:
    name = elsewhere.claim()
    assert lose_leases() == 1
    assert elsewhere.claim() == name
    assert elsewhere.states() == ["abandoned", "in_flight"]
    assert elsewhere.answer(name, attempt=1).status_code == 201
    assert elsewhere.states() == ["replied", "abandoned"]
    # The other worker's reply was paid for as well: its tokens are kept, and it is not counted.
    assert elsewhere.answer(name, attempt=2, prompt_tokens=55).status_code == 200
    assert elsewhere.states() == ["replied", "abandoned"]
    assert JudgeCall.objects.progress(elsewhere.run).prompt_tokens == 155
    elsewhere.assert_one_answer(6)


def test_a_late_reply_that_says_otherwise_is_kept_for_the_record(elsewhere: Elsewhere) -> None:
    name = elsewhere.claim()
    assert lose_leases() == 1
    elsewhere.claim()
    elsewhere.answer(name, attempt=1)
    assert elsewhere.answer(name, rating=2, attempt=2).status_code == 409
    report = {"kind": "abandoned", "attempt": 2, "call": {**RECORD, "prompt_tokens": 55}}
    assert elsewhere.post(f"/assignments/{name}/failed/", report).json()["state"] == "submitted"
    assert JudgeCall.objects.get(attempt=2).prompt_tokens == 55
    elsewhere.assert_one_answer(6)


def test_a_late_answer_after_the_assignment_failed(elsewhere: Elsewhere) -> None:
    name = elsewhere.claim()
    assert lose_leases() == 1
    elsewhere.claim()
    broken = {"kind": "http_400", "retryable": False, "attempt": 2}
    assert elsewhere.post(f"/assignments/{name}/failed/", broken).json()["state"] == "failed"
    assert elsewhere.answer(name, attempt=1).status_code == 201
    assert elsewhere.states() == ["replied", "failed"]
    elsewhere.assert_one_answer(6)


@pytest.mark.parametrize("remote", [True, False])
def test_a_late_answer_counts_for_the_run_that_waits_for_it(elsewhere: Elsewhere, remote: bool) -> None:
    name = elsewhere.claim()
    assert lose_leases() == 1
    cancel_run(elsewhere.run)
    elsewhere.new_run(elsewhere.run.study, remote=remote)
    assert elsewhere.answer(name).status_code == 201
    elsewhere.assert_one_answer(6)


def test_an_answer_that_no_call_is_behind_keeps_its_record_itself(elsewhere: Elsewhere) -> None:
    name = elsewhere.claim()
    assert elsewhere.answer(name, attempt=9).status_code == 201
    assert Comparison.objects.get().extra["call"]["attempt"] == 9


def test_replies_that_cannot_be_read_pause_the_run(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "READ_FIRST", 1)
    body = {"assignment": elsewhere.claim(), "rating": None, "reason": "unparsable"}
    call = {**RECORD, "attempt": 1}
    assert elsewhere.post("/comparisons/", {**body, "raw_reply": "Both.", "call": call}).status_code == 201
    run = JudgeRun.objects.get()
    assert (run.state, '"Both"' in run.error) == ("paused", True)
