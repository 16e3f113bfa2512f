"""Protocols of many steps, through the real client and API: at once where they can, and durable at each."""

import threading
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from arena.models import Assignment, Comparison
from judging.models import JudgeCall, JudgeRun
from judging.protocols import conversation
from judging.runs import committing
from judging.runs.claiming import claim
from judging.runs.recovery import abandon_orphans, sweep
from tests.factories import make_judge, make_small_study
from tests.judging.elsewhere import planned
from tests.judging.endpoints.server import Answer, ChatServer, text_of
from tests.judging.protocols.scripted import scripted
from tests.judging.runs.releasing import releasing
from tests.judging.working import judge_assignment, work_off

Drain = Callable[[], None]

SAMPLES = "cot-self-consistency"


@pytest.fixture
def model() -> Any:
    with ChatServer(scripted()) as server:
        yield server


def asking(protocol: str, model: ChatServer, **config: Any) -> JudgeRun:
    """A run over one pair."""
    judge = make_judge(base_url=model.url, protocol=protocol, **config)
    return planned(judge, make_small_study(prompts=1, contestants=2))


def judge_all(run: JudgeRun) -> None:
    for assignment in run.run_assignments.order_by("pk").values_list("assignment", flat=True):
        judge_assignment(assignment)


def states(run: JudgeRun) -> Counter[str]:
    return Counter(run.calls.values_list("state", flat=True))


class Together:
    """Answers once so many requests are there at the same time; remembers the most there were."""

    def __init__(self, wanted: int) -> None:
        self.barrier, self.answer = threading.Barrier(wanted), scripted()

    def __call__(self, body: dict[str, Any]) -> Answer:
        self.barrier.wait(30)
        return self.answer(body)


def test_what_does_not_build_on_each_other_is_asked_at_once(arena: Any, model: ChatServer) -> None:
    model.script = Together(9)
    run = asking(SAMPLES, model, concurrency=9)
    work_off(slots=9)
    assert Comparison.objects.get().status == "scored"
    assert states(run) == {"replied": 9}
    keys = conversation.keys(run.judge.configured_protocol)
    assert set(run.calls.values_list("key", flat=True)) == set(keys)


def test_a_worker_has_no_more_calls_in_flight_than_slots(arena: Any, model: ChatServer) -> None:
    answer, seen = scripted(), []

    def count(body: dict[str, Any]) -> Answer:
        seen.append(JudgeCall.objects.filter(state="in_flight").count())
        return answer(body)

    model.script = releasing(count)
    run = asking(SAMPLES, model)
    work_off(slots=2)
    assert states(run) == {"replied": 9}
    assert max(seen) == 2


def test_the_answer_tells_of_all_calls(arena: Any, model: ChatServer) -> None:
    run = asking("metrics-reference", model)
    judge_all(run)
    taken = run.calls.values_list("latency", flat=True)
    assert len(taken) == 3
    assert Comparison.objects.get().seconds == pytest.approx(sum(filter(None, taken)))
    assert list(run.calls.exclude(submitted_at=None).values_list("key", flat=True)) == ["compare"]


def test_an_assignment_fails_by_one_of_many_failures(arena: Any, model: ChatServer, drain: Drain) -> None:
    model.script = lambda body: Answer(status=400, raw=b"{}")
    run = asking(SAMPLES, model)
    drain()
    run.refresh_from_db()
    progress = JudgeCall.objects.progress(run)
    assert (progress.assigned, progress.failed, progress.waiting) == (1, 1, 0)
    assert run.calls.filter(given_up=True).count() == 1
    assert set(states(run)) == {"failed"}
    assert run.state == "failed"


@pytest.mark.parametrize("how", ["swept", "started anew"])
def test_a_process_killed_between_two_steps_costs_no_reply(
    how: str, arena: Any, model: ChatServer, monkeypatch: pytest.MonkeyPatch, drain: Drain
) -> None:
    run = asking("reference", model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(committing, "commit", killed)
        with pytest.raises(SystemExit):
            judge_all(run)
    JudgeCall.objects.filter(state="in_flight").update(
        state="replied", raw_reply="A reference.", finished_at=timezone.now(), worker="elsewhere:1:dead"
    )
    assert Assignment.objects.get().state == "claimed"
    if how == "swept":
        sweep(timezone.now() + timedelta(hours=1))
    else:
        abandon_orphans()
    assert Assignment.objects.get().state == "open"
    drain()
    assert [text_of(body) for body in model.requests].count(text_of(model.requests[0])) == 1
    assert states(run) == {"replied": 2}
    assert Comparison.objects.get().status == "scored"


def killed(*_: object) -> bool:
    raise SystemExit


def test_all_calls_of_a_process_that_died_are_abandoned_together(
    arena: Any, model: ChatServer, drain: Drain
) -> None:
    run = asking("metrics-reference", model)
    assert [each.call.key for each in claim("elsewhere:1:dead", 8)] == ["metrics", "reference"]
    assert abandon_orphans() == 2
    assert Assignment.objects.get().state == "open"
    drain()
    assert states(run) == {"abandoned": 2, "replied": 3}
    assert len(model.requests) == 3
    assert Comparison.objects.get().status == "scored"


def test_what_another_model_writes_is_asked_of_that_model(
    arena: Any, model: ChatServer, drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRONG_API_KEY", "sk-strong")
    with ChatServer(scripted()) as strong:
        make_judge(
            slug="strong", model="strong-1", base_url=strong.url, api_key_env="STRONG_API_KEY", max_tokens=77
        )
        run = asking("strong-reference", model, parameters={"author": "judge:strong"})
        drain()
        assert [body["model"] for body in strong.requests] == ["strong-1"]
        assert strong.requests[0]["max_tokens"] == 77
        headers = {name.lower(): value for name, value in strong.headers[0].items()}
        assert headers["authorization"] == "Bearer sk-strong"
    assert [body["model"] for body in model.requests] == ["loopback"]
    assert dict(run.calls.values_list("key", "model")) == {"reference": "strong-1", "compare": "loopback"}
    assert Comparison.objects.get().status == "scored"


def test_another_model_at_the_same_endpoint(arena: Any, model: ChatServer, drain: Drain) -> None:
    asking("strong-reference", model, parameters={"author": "large-1"})
    drain()
    assert [body["model"] for body in model.requests] == ["large-1", "loopback"]


def test_two_scores_are_kept_with_the_comparison(arena: Any, model: ChatServer, drain: Drain) -> None:
    model.script = lambda body: Answer("8 3\nThe first is better.")
    asking("scores", model, form="scores", points=3)
    drain()
    comparison = Comparison.objects.get()
    assert (comparison.rating, comparison.first_score, comparison.second_score) == (1, 8, 3)
