"""The judge worker against a real arena and a loopback model, in this process."""

import json
import math
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from arena.api.auth import issue_token
from arena.models import Answer as StoredAnswer
from arena.models import ApiToken, Assignment, Comparison, Study
from judging.endpoints.client import Reply
from judging.endpoints.openai_client import OpenAIClient
from judging.models import Judge, JudgeCall, JudgeRun
from judging.runs.lifecycle import plan_run, start_run
from judging.runs.recovery import sweep
from judging.worker import worker as worker_module
from judging.worker.arena import Arena, ArenaBusyError, Outcome, WorkerError
from judging.worker.arena_client import ArenaClient, ArenaUnreachableError
from judging.worker.journal import Entry, Journal
from judging.worker.worker import Worker
from tests.factories import make_judge, make_question, make_small_study
from tests.judging.endpoints.server import Answer, ChatServer


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(worker_module, "LONGEST_PAUSE", 0.05)
    monkeypatch.setattr(worker_module, "TICK", 0.02)


@pytest.fixture
def judge(arena: Any, model: ChatServer) -> Judge:
    """A judge with a remote run over one prompt and three contestants: three pairs."""
    judge = make_judge(slug="far", base_url=model.url)
    run = start_run(make_small_study(prompts=1), judge, remote=True)
    plan_run(run.pk)
    return judge


class Box:
    """A machine elsewhere: its journal, what it said, and workers one after the other."""

    def __init__(self, folder: Path, url: str, judge: Judge) -> None:
        self.journal = Journal(folder)
        self.arena = Arena(ArenaClient(issue_token(judge.rater), url), judge.slug, "box")
        self.said: list[str] = []
        self.on_saying: Callable[[], None] = lambda: None
        self._prompt_hash = judge.current_prompt_hash()
        self._model = OpenAIClient(judge.base_url, "none")

    def worker(self, arena: Any = None) -> Worker:
        return Worker(
            arena or self.arena,
            self._model,
            self.journal,
            self._tell,
            prompt_hash=self._prompt_hash,
            concurrency=2,
            drain=True,
        )

    def _tell(self, line: str) -> None:
        self.said.append(line)
        self.on_saying()

    def claim(self) -> Entry:
        task = self.arena.claim()
        self.journal.write(task.entry)
        return task.entry

    def reply(self, entry: Entry, text: str) -> Entry:
        """The reply that an earlier worker had committed when it was killed."""
        answered = entry.replied(Reply(text, "stop", "far-1", prompt_tokens=100, reasoning_tokens=40), 1.0)
        self.journal.write(answered)
        return answered


@pytest.fixture
def box(tmp_path: Path, arena: Any, judge: Judge) -> Box:
    return Box(tmp_path / "journal", arena.url, judge)


def test_a_run_is_drained(box: Box, model: ChatServer) -> None:
    answers = iter([Answer("7\nB."), Answer("nonsense"), Answer(status=500, raw=b"{}"), Answer("2\nA.")])
    model.script = lambda body: next(answers)
    worker = box.worker()
    worker.run()
    assert worker.outcomes == {Outcome.SCORED: 2, Outcome.UNSCORED: 1, Outcome.NO_REPLY: 1}
    assert worker.progress() == "2 scored, 1 unscored, 1 calls without a reply"
    assert sorted(Comparison.objects.values_list("status", flat=True)) == ["scored", "scored", "unscored"]
    run = JudgeRun.objects.get()
    progress = JudgeCall.objects.progress(run)
    assert (run.state, progress.attempts_failed, progress.abandoned) == ("finished", 1, 0)
    assert progress.prompt_tokens == 300
    call = JudgeCall.objects.filter(state="replied")[0]
    assert (call.worker, call.model_returned) == ("remote box", "loopback-1")
    assert call.latency is not None
    assert call.messages in [request["messages"] for request in model.requests]
    assert list(box.journal.entries()) == []


def test_a_reply_is_on_the_disk_before_it_is_delivered(box: Box) -> None:
    """And stays there while the arena is away."""
    found: list[Entry] = []

    class Away:
        claim, look_up, renew = box.arena.claim, box.arena.look_up, box.arena.renew

        def deliver(self, entry: Entry) -> Outcome:
            kept = [each for each in box.journal.entries() if each.assignment == entry.assignment]
            assert kept == [entry]
            if len(found) < 3:
                found.append(entry)
                raise ArenaUnreachableError("No arena answers at http://x (refused)")
            return box.arena.deliver(entry)

    box.worker(Away()).run()
    assert all(entry.reply and entry.reply.text == "5\nBoth are fine." for entry in found)
    assert Comparison.objects.count() == 3
    assert "No arena answers at http://x (refused); trying again." in box.said
    assert list(box.journal.entries()) == []


def test_what_a_killed_worker_left_is_delivered_and_not_asked_again(box: Box, model: ChatServer) -> None:
    in_flight, paid = box.claim(), box.reply(box.claim(), "8\nB.")
    box.worker().run()
    assert box.said[0] == f"Delivering 2 replies of an earlier worker from {box.journal.folder}."
    assert sorted(Comparison.objects.values_list("rating", flat=True)) == [5, 5, 8]
    assert Comparison.objects.get(rating=8).assignment.public_id == paid.assignment
    assert len(model.requests) == 2
    abandoned = JudgeCall.objects.get(state="abandoned")
    assert abandoned.assignment.public_id == in_flight.assignment


def test_a_reply_that_others_were_faster_with_is_recorded_and_forgotten(box: Box) -> None:
    mine = box.reply(box.claim(), "8\nB.")
    past = timezone.now()
    JudgeCall.objects.update(deadline=past)
    Assignment.objects.filter(state="claimed").update(leased_until=past)
    sweep()
    other = box.arena.claim()
    assert other.entry.assignment == mine.assignment
    assert box.arena.deliver(box.reply(other.entry, "2\nA.")) is Outcome.SCORED
    box.journal.remove(other.entry)
    assert box.arena.deliver(mine) is Outcome.TOO_LATE
    assert box.arena.deliver(mine) is Outcome.TOO_LATE
    assert Comparison.objects.get().rating == 2
    late = JudgeCall.objects.get(attempt=1)
    assert (late.state, late.prompt_tokens, late.submitted_at) == ("abandoned", 100, None)
    assert late.reasoning_tokens == 40


def test_a_refused_reply_is_kept_aside_and_its_assignment_fails(box: Box, model: ChatServer) -> None:
    def close(body: object) -> Answer:
        Study.objects.update(closed_at=timezone.now())
        return Answer("6\nB.")

    model.script = close
    worker = box.worker()
    box.on_saying = worker.stop
    worker.run()
    kept = list((box.journal.folder / "refused").glob("*.json"))
    assert kept
    assert all("6\\nB." in path.read_text() for path in kept)
    told = [line for line in box.said if line.startswith("The arena refuses the rating of")]
    assert {line.rsplit(" ")[-1] for line in told} == {f"{path}." for path in kept}
    assert not Comparison.objects.exists()
    failed = JudgeCall.objects.filter(state="failed")
    assert {call.error_kind for call in failed} == {"refused_answer"}
    assert all("This study was closed before your rating arrived" in call.error for call in failed)


def test_a_slow_model_keeps_its_lease(box: Box, model: ChatServer, settings: Any) -> None:
    settings.JUDGE_LEASE_SECONDS = 0.9
    abandoned: list[int] = []

    def slow(body: object) -> Answer:
        threading.Event().wait(1.5)  # longer than the lease
        abandoned.append(sweep()["abandoned"])
        return Answer("6\nB.")

    model.script = slow
    box.worker().run()
    assert abandoned == [0, 0, 0]
    assert len(model.requests) == 3
    assert Comparison.objects.count() == 3


def test_another_wording_ends_the_worker_and_gives_the_pair_back(
    box: Box, model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def differs(*_: object) -> None:
        raise WorkerError("The arena words protocol likert differently.")

    monkeypatch.setattr(worker_module, "check_unchanged", differs)
    with pytest.raises(WorkerError, match="words protocol likert differently"):
        box.worker().run()
    assert model.requests == []
    assert set(Assignment.objects.values_list("state", flat=True)) == {"open"}
    assert set(JudgeCall.objects.values_list("state", flat=True)) == {"abandoned"}


def test_a_revoked_token_ends_the_worker(box: Box, model: ChatServer) -> None:
    ApiToken.objects.update(revoked_at=timezone.now())
    with pytest.raises(
        WorkerError, match=r"does not accept the token in ARENA_TOKEN\. It may have been revoked"
    ):
        box.worker().run()
    assert model.requests == []


def test_a_page_in_the_way_is_not_taken_for_the_arena(box: Box, judge: Judge, model: ChatServer) -> None:
    """A reply is forgotten only when the arena itself says that it has it."""
    entry = box.reply(box.claim(), "8\nB.")
    model.script = lambda body: Answer(raw=b"<html>Sign in</html>", headers={"Content-Type": "text/html"})
    proxied = Arena(ArenaClient("token", model.url.removesuffix("/v1")), judge.slug, "box")
    with pytest.raises(ArenaBusyError, match="Another program answers at the arena"):
        proxied.deliver(entry)


def test_without_work_it_drains_at_once_and_a_defect_ends_it_with_a_sentence(
    box: Box, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge.rater.paused_at = timezone.now()
    judge.rater.save()
    with pytest.raises(ArenaBusyError, match="The arena answers: This rater is paused by the operator"):
        box.arena.claim()
    judge.rater.paused_at = None
    judge.rater.save()
    JudgeRun.objects.update(state="cancelled")
    worker = box.worker()
    worker.run()
    assert worker.progress() == "0 scored"
    monkeypatch.setattr(box.arena, "claim", lambda: 1 / 0)
    with pytest.raises(WorkerError, match="The judge worker failed: ZeroDivisionError"):
        box.worker().run()


def test_the_expected_rating_is_computed_where_the_model_is_asked(
    arena: Any, model: ChatServer, tmp_path: Path
) -> None:
    likely = [{"token": "6", "logprob": math.log(0.75)}, {"token": "2", "logprob": math.log(0.25)}]
    token = {"token": "6", "logprob": math.log(0.75), "top_logprobs": likely}
    choice = {"finish_reason": "stop", "message": {"content": "6"}, "logprobs": {"content": [token]}}
    model.script = lambda body: Answer(raw=json.dumps({"model": "far-1", "choices": [choice]}).encode())
    judge = make_judge(slug="far", base_url=model.url, logprobs=True)
    run = start_run(make_small_study(prompts=1, contestants=2), judge, remote=True)
    plan_run(run.pk)
    Box(tmp_path, arena.url, judge).worker().run()
    assert model.requests[0]["logprobs"] is True
    assert Comparison.objects.get().expected == pytest.approx(5)


def test_a_conversation_is_asked_question_by_question_and_goes_on_after_a_kill(
    arena: Any, model: ChatServer, tmp_path: Path, drain: Callable[[], None]
) -> None:
    study = make_small_study(prompts=1, contestants=2)
    for _ in range(3):
        make_question(prompt=study.prompts.get())
    judge = make_judge(slug="far", base_url=model.url, protocol="requirements")
    plan_run(start_run(study, judge, remote=True).pk)
    model.script = lambda body: Answer("Yes, it is." if len(body["messages"]) < 5 else "NO")
    box = Box(tmp_path, arena.url, judge)
    box.reply(box.claim(), "YES")  # and killed before it could be handed in
    box.arena.look_up = lambda: SimpleNamespace(runs=0)  # type: ignore[assignment, return-value]
    worker = box.worker()
    worker.run()
    assert worker.progress() == "6 replies"
    assert sorted(len(request["messages"]) for request in model.requests) == [1, 3, 3, 5, 5]
    assert study.prompts.get().turns[0] not in json.dumps(model.requests)
    assert list(box.journal.entries()) == []
    drain()
    values = StoredAnswer.objects.order_by("question", "pk").values_list("value", flat=True)
    assert list(values) == ["yes", "yes", "yes", "yes", "no", "no"]
    assert JudgeRun.objects.get().state == "finished"
    assert not JudgeCall.objects.exclude(state="replied").exists()
