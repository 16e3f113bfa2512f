"""The judge worker against a real arena and a loopback model, in this process."""

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from arena.api.auth import issue_token
from arena.models import Answer as StoredAnswer
from arena.models import ApiToken, Comparison, Study
from judging.endpoints.client import Reply
from judging.models import Judge, JudgeCall, JudgeRun
from judging.worker import worker as worker_module
from judging.worker.arena import Arena, WorkerError
from judging.worker.arena_client import ArenaClient, ArenaReply, ArenaUnreachableError
from judging.worker.worker import AwayError, Ended, Task, Worker
from tests.factories import make_judge, make_question, make_small_study
from tests.judging.elsewhere import lose_leases, planned
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.protocols.scripted import scripted


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "IDLE", 0.01)
    monkeypatch.setattr(worker_module, "LONGEST_PAUSE", 0.05)


def remote(model: ChatServer, study: Study | None = None, **config: Any) -> Judge:
    """A judge with a remote run, by default over one prompt and three contestants: three pairs."""
    judge = make_judge(slug="far", base_url=model.url, **config)
    planned(judge, study or make_small_study(prompts=1), remote=True)
    return judge


class Box:
    """A machine elsewhere, and what it said."""

    def __init__(self, url: str, judge: Judge) -> None:
        self.said: list[str] = []
        self.client = ArenaClient(issue_token(judge.rater), url)
        self.door = Arena(self.client, judge.slug, "box", self.said.append)

    def work(self) -> str:
        """Work until no run is left; the progress then."""
        Worker(self.door, 2, tell=self.said.append).run(lambda: not self.door.look_up().runs)
        return self.door.progress()

    def claim(self) -> Task:
        [task] = self.door.claim(1)
        return task

    def hand_in(self, task: Task, text: str) -> str:
        """Hand in a reply; the progress then."""
        reply = Reply(text, "stop", "far-1", prompt_tokens=100, reasoning_tokens=40)
        self.door.replied([Ended(task.call, reply, 1.0)])
        return self.door.progress()


@pytest.fixture
def judge(arena: Any, model: ChatServer) -> Judge:
    return remote(model)


@pytest.fixture
def box(arena: Any, judge: Judge) -> Box:
    return Box(arena.url, judge)


def test_a_run_is_drained(box: Box, model: ChatServer) -> None:
    answers = iter([Answer("7\nB."), Answer("nonsense"), Answer(status=500, raw=b"{}"), Answer("2\nA.")])
    model.script = lambda body: next(answers)
    assert box.work() == "2 scored, 1 unscored, 1 calls without a reply"
    assert sorted(Comparison.objects.values_list("status", flat=True)) == ["scored", "scored", "unscored"]
    run = JudgeRun.objects.get()
    progress = JudgeCall.objects.progress(run)
    assert (run.state, progress.attempts_failed, progress.abandoned) == ("finished", 1, 0)
    assert progress.prompt_tokens == 300
    call = JudgeCall.objects.filter(state="replied")[0]
    assert (call.worker, call.model_returned) == ("remote box", "loopback-1")
    assert call.latency is not None
    assert call.messages in [request["messages"] for request in model.requests]


def test_replies_wait_while_the_arena_is_away_and_nothing_more_is_asked(
    box: Box, model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, asked = box.client.post_bytes, list[int]()

    def away(path: str, body: bytes) -> ArenaReply:
        if path.endswith("/replied/") and len(asked) < 3:
            asked.append(len(model.requests))
            raise ArenaUnreachableError("No arena answers at http://x (refused)")
        return real(path, body)

    monkeypatch.setattr(box.client, "post_bytes", away)
    box.work()
    assert asked[1] == asked[2]
    assert (Comparison.objects.count(), len(model.requests)) == (3, 3)
    assert box.said == ["No arena answers at http://x (refused); trying again."]


def test_a_reply_that_others_were_faster_with_is_only_recorded(box: Box) -> None:
    mine = box.claim()
    lose_leases()
    other = box.claim()
    assert other.call[0] == mine.call[0]
    assert box.hand_in(other, "2\nA.") == "1 scored"
    for _ in range(2):
        box.hand_in(mine, "8\nB.")
    assert box.door.progress() == "1 scored, 2 too late"
    assert "Another worker has handed in a reply" in box.said[0]
    assert Comparison.objects.get().rating == 2
    late = JudgeCall.objects.get(attempt=1)
    assert (late.state, late.prompt_tokens, late.submitted_at) == ("abandoned", 100, None)
    assert late.reasoning_tokens == 40


def test_a_reply_to_a_study_closed_meanwhile_is_kept_and_its_assignment_fails(box: Box) -> None:
    task = box.claim()
    Study.objects.update(closed_at=timezone.now())
    assert box.hand_in(task, "6\nB.") == "1 refused"
    call = JudgeCall.objects.get()
    assert (call.state, call.raw_reply, call.given_up) == ("replied", "6\nB.", True)
    assert "This study was closed before your rating arrived" in call.error
    assert (call.assignment.state, JudgeCall.objects.progress(call.run).failed) == ("failed", 1)
    assert not Comparison.objects.exists()


def test_a_reply_that_the_arena_cannot_read_fails_alone(box: Box) -> None:
    first, second = box.claim(), box.claim()
    replies = [Ended(first.call, Reply("6", "stop", "m" * 201), 1.0)]
    box.door.replied([*replies, Ended(second.call, Reply("7", "stop", "m"), 1.0)])
    assert box.door.progress() == "1 scored, 1 calls without a reply"
    failed = JudgeCall.objects.get(state="failed")
    assert (failed.error_kind, failed.retry_at) == ("refused_answer", None)


def test_a_revoked_token_ends_the_worker(box: Box, model: ChatServer) -> None:
    ApiToken.objects.update(revoked_at=timezone.now())
    with pytest.raises(WorkerError, match=r"does not accept the token in ARENA_TOKEN\. It may have been"):
        box.work()
    assert model.requests == []


def test_an_older_arena_ends_it_with_a_sentence(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    task = box.claim()
    monkeypatch.setattr(box.client, "post_bytes", lambda path, body: ArenaReply(404, {}))
    with pytest.raises(WorkerError, match="The arena has an older version than this worker"):
        box.hand_in(task, "7")


def test_a_page_in_the_way_is_not_taken_for_the_arena(box: Box, judge: Judge, model: ChatServer) -> None:
    """A reply is forgotten only when the arena itself says that it has it."""
    task = box.claim()
    model.script = lambda body: Answer(raw=b"<html>Sign in</html>", headers={"Content-Type": "text/html"})
    box.client._url = ArenaClient("token", model.url.removesuffix("/v1"))._url
    with pytest.raises(AwayError, match="Another program answers at the arena"):
        box.hand_in(task, "7")


def test_a_paused_judge_waits_and_without_work_it_drains_at_once(box: Box, judge: Judge) -> None:
    judge.rater.paused_at = timezone.now()
    judge.rater.save()
    with pytest.raises(AwayError, match="The arena answers: This rater is paused by the operator"):
        box.door.claim(1)
    judge.rater.paused_at = None
    judge.rater.save()
    JudgeRun.objects.update(state="cancelled")
    assert box.work() == "0 scored"


@pytest.mark.parametrize("elsewhere", [True, False])
def test_expected_ratings_are_read_from_the_tokens(
    arena: Any, model: ChatServer, drain: Callable[[], None], elsewhere: bool
) -> None:
    likely = [{"token": "6", "logprob": math.log(0.75)}, {"token": "2", "logprob": math.log(0.25)}]
    token = {"token": "6", "logprob": math.log(0.75), "top_logprobs": likely}
    others = [{"token": part, "logprob": -0.5, "top_logprobs": likely} for part in ("\n", "B", " is", " öne")]
    message = {"content": "6\nB is öne"}
    choice = {"finish_reason": "stop", "message": message, "logprobs": {"content": [token, *others]}}
    model.script = lambda body: Answer(raw=json.dumps({"model": "far-1", "choices": [choice]}).encode())
    study = make_small_study(prompts=1, contestants=2)
    judge = make_judge(slug="far", base_url=model.url, logprobs=True)
    planned(judge, study, remote=elsewhere)
    if elsewhere:
        Box(arena.url, judge).work()
    else:
        drain()
    assert model.requests[0]["logprobs"] is True
    assert Comparison.objects.get().expected == pytest.approx(5)
    call = JudgeCall.objects.get()
    assert (call.expected, call.lacks_logprobs, len(call.logprobs)) == (pytest.approx(5), False, 2)


def test_a_conversation_is_asked_question_by_question_and_goes_on_after_a_kill(
    arena: Any, model: ChatServer
) -> None:
    study = make_small_study(prompts=1, contestants=2)
    for _ in range(3):
        make_question(prompt=study.prompts.get())
    judge = remote(model, study, protocol="requirements")
    model.script = lambda body: Answer("Yes, it is." if len(body["messages"]) < 5 else "NO")
    box = Box(arena.url, judge)
    box.hand_in(box.claim(), "YES")
    box.claim()  # and killed
    lose_leases()
    assert box.work() == "2 scored, 4 replies"
    assert sorted(len(request["messages"]) for request in model.requests) == [1, 3, 3, 5, 5]
    assert study.prompts.get().turns[0] not in json.dumps(model.requests)
    values = StoredAnswer.objects.order_by("question", "pk").values_list("value", flat=True)
    assert list(values) == ["yes", "yes", "yes", "yes", "no", "no"]
    assert JudgeRun.objects.get().state == "finished"


def test_protocols_of_several_models_and_steps_are_asked_elsewhere_too(arena: Any) -> None:
    with ChatServer(scripted()) as model, ChatServer(scripted()) as strong:
        make_judge(slug="strong", model="strong-1", base_url=strong.url)
        study = make_small_study(prompts=1, contestants=2, criteria=["Tone"])
        parameters = {"author": "judge:strong"}
        judge = remote(model, study, protocol="strong-reference", parameters=parameters, rates_criteria=True)
        assert Box(arena.url, judge).work().startswith("1 scored")
        assert {body["model"] for body in strong.requests} == {"strong-1"}
        assert {body["model"] for body in model.requests} == {"loopback"}
    assert Comparison.objects.get().criterion_ratings.count() == 1
