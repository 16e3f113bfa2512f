"""Handing in what came of calls: each ends once, is paid once, and nothing odd costs a reply."""

import json
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from arena.models import Comparison, Rater, Study
from judging.models import JudgeCall, Purse
from judging.runs.claiming import claim
from judging.runs.lifecycle import plan_run, start_run
from tests import factories as make
from tests.judging.elsewhere import lose_leases
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.remote.test_texts import Elsewhere
from tests.judging.working import work_off

pytestmark = pytest.mark.django_db

HANDED_IN = "/assignments/replied/"
COST = Decimal("0.00028")  # of 100 tokens read and 10 written
COUNTED = {"prompt_tokens": 100, "completion_tokens": 10}
SIX: dict[str, Any] = {"reply": {"text": "6", **COUNTED}}
TWO: dict[str, Any] = {"reply": {"text": "2", **COUNTED}}
UNCOUNTED: dict[str, Any] = {"reply": {"text": "6"}}
TIMEOUT: dict[str, Any] = {"failure": {"kind": "timeout"}}


@pytest.fixture
def far(client: Client) -> Elsewhere:
    """A judge elsewhere with a remote run of one pair, within budgets."""
    make.make_price()
    judge = make.make_judge(max_tokens=100)
    study = make.make_small_study(prompts=1, contestants=2)
    run = start_run(study, judge, remote=True, budget=Decimal(1))
    plan_run(run.pk)
    return Elsewhere(client, judge.rater)


def claimed(far: Elsewhere) -> dict[str, Any]:
    found = far.claim()
    return {
        "assignment": found["assignment"],
        **{name: found["request"][name] for name in ("key", "attempt")},
    }


@pytest.mark.parametrize(
    ("told", "state", "rating"),
    [
        ([SIX, SIX], "replied", 6),
        ([SIX] * 100, "replied", 6),
        ([SIX, TWO], "replied", 6),
        ([TWO, SIX], "replied", 2),
        ([UNCOUNTED, UNCOUNTED], "replied", 6),
        ([SIX, TIMEOUT], "replied", 6),
        ([TIMEOUT, SIX], "failed", None),
    ],
)
def test_a_call_that_is_told_of_twice_at_once_ends_and_is_paid_once(
    far: Elsewhere, told: list[dict[str, Any]], state: str, rating: int | None
) -> None:
    name = claimed(far)
    reply = far.post(HANDED_IN, {"replies": [{**name, **each} for each in told]})
    assert (reply.status_code, len(reply.json()["results"])) == (200, len(told))
    call, purse = JudgeCall.objects.get(), Purse.objects.get()
    assert (call.state, call.error_kind) == (state, "timeout" if state == "failed" else "")
    assert call.cost == COST or told[0] in (UNCOUNTED, TIMEOUT)
    assert (purse.spent, purse.reserved, call.reserved) == (call.cost, 0, 0)
    assert call.cost
    assert list(Comparison.objects.values_list("rating", flat=True)) == [rating] * (rating is not None)


@pytest.mark.parametrize("told", [SIX, UNCOUNTED])
@pytest.mark.parametrize("others", ["none", "in flight", "first"])
def test_the_real_cost_of_a_late_reply_replaces_the_most_it_could_be(
    far: Elsewhere, told: dict[str, Any], others: str
) -> None:
    late = claimed(far)
    lose_leases()
    most = JudgeCall.objects.get().cost
    assert most
    assert Purse.objects.get().spent == most > COST
    if others != "none":
        second = claimed(far)
        if others == "first":
            far.post(HANDED_IN, {"replies": [{**second, **TWO}]})
    for _ in range(2):
        far.post(HANDED_IN, {"replies": [{**late, **told}]})
    calls = list(JudgeCall.objects.order_by("pk"))
    assert calls[0].cost == (COST if told is SIX else most)
    assert [call.cost for call in calls[1:]] == {"none": [], "in flight": [most], "first": [COST]}[others]
    purse = Purse.objects.get()
    assert (purse.spent, purse.reserved) == (sum(call.cost for call in calls), 0)
    assert Comparison.objects.get().rating == (2 if others == "first" else 6)


@pytest.mark.parametrize(
    ("expected", "kept"), [(3.25, 3.25), (8.5, None), (0.99, None), (-1e308, None), (1e308, None), (8, 8)]
)
def test_an_expected_rating_that_cannot_be_is_left_out_and_costs_no_rating(
    far: Elsewhere, expected: float, kept: float | None
) -> None:
    name = claimed(far)
    assignment = name.pop("assignment")
    told = {"raw_reply": "3", "expected": expected, "call": {"model": "m", **name, **COUNTED}}
    reply = far.post(f"/assignments/{assignment}/replied/", told)
    assert (reply.status_code, reply.json()["state"]) == (200, "submitted")
    assert Comparison.objects.values_list("rating", "expected").get() == (3, kept)


def likely(count: int, token: str) -> dict[str, Any]:
    """Log-probabilities of a reply whose tokens could all be its verdict."""
    others = [{"token": f"{token}{number}", "logprob": -1.2345678901} for number in range(20)]
    return {"logprobs": {"content": [{"token": "5", "logprob": -0.1, "top_logprobs": others}] * count}}


@pytest.mark.parametrize(
    ("text", "logprobs", "kept"),
    [
        ("5\n" + "好" * 700_000, {}, 700_002),
        ("5\n" + "x" * 1_000_000, {}, 1_000_000),
        ("5\n" + "好" * 1_100_000, {}, 250_000),
        ("5\n" + "\x01" * 900_000, {}, 250_000),
        ("5", likely(1_500, "ж" * 8), 1),
        ("5", likely(6_500, "token "), 1),
    ],
    ids=["Chinese", "long", "long and Chinese", "control characters", "tokens", "many tokens"],
)
def test_a_reply_of_any_length_is_kept_and_never_paid_twice(
    model: ChatServer, text: str, logprobs: dict[str, Any], kept: int
) -> None:
    choice = {"finish_reason": "stop", "message": {"content": text}, **logprobs}
    said = {"model": "m", "choices": [choice], "usage": COUNTED}
    model.script = lambda body: Answer(raw=json.dumps(said, ensure_ascii=False).encode())
    make.make_price()
    judge = make.make_judge(base_url=model.url, max_tokens=100, logprobs=True)
    plan_run(start_run(make.make_small_study(prompts=1, contestants=2), judge, budget=Decimal(1)).pk)
    work_off()
    call = JudgeCall.objects.get()
    assert (call.state, call.raw_reply == text[:kept], len(call.raw_reply)) == ("replied", True, kept)
    assert (call.cost, Purse.objects.get().spent, len(model.requests)) == (COST, COST, 1)
    assert call.finish_reason == ("stop" if kept == len(text) else "length")
    assert (Comparison.objects.get().raw_reply == call.raw_reply, call.error) == (True, "")


@pytest.mark.parametrize("told", [{}, SIX | TIMEOUT])
def test_a_result_is_a_reply_or_a_failure(far: Elsewhere, told: dict[str, Any]) -> None:
    reply = far.post(HANDED_IN, {"replies": [{**claimed(far), **told}]})
    assert (reply.status_code, "Give a reply or a failure." in reply.json()["detail"]) == (422, True)
    assert JudgeCall.objects.get().state == "in_flight"


def test_what_does_not_count_is_told_why(far: Elsewhere) -> None:
    name = claimed(far)

    def told(result: dict[str, Any], **changed: Any) -> tuple[str, str]:
        reply = far.post(HANDED_IN, {"replies": [{**name, **result, **changed}]})
        [found] = reply.json()["results"]
        return found["outcome"], found["detail"]

    assert told(SIX, attempt=2) == ("refused", "This question was not claimed.")
    assert told(SIX) == told(SIX) == told(TIMEOUT) == ("scored", "")
    assert told(TWO) == ("scored", "This call has another reply already, which counts.")


def test_a_reply_to_a_study_that_was_closed_is_told_so(far: Elsewhere) -> None:
    name = claimed(far)
    Study.objects.update(closed_at=timezone.now())
    [found] = far.post(HANDED_IN, {"replies": [{**name, **SIX}]}).json()["results"]
    assert (found["outcome"], "closed" in found["detail"]) == ("refused", True)


def test_a_judge_that_was_paused_meanwhile_hands_in_what_is_paid_for(far: Elsewhere) -> None:
    name = claimed(far)
    Rater.objects.update(paused_at=timezone.now())
    [found] = far.post(HANDED_IN, {"replies": [{**name, **SIX}]}).json()["results"]
    assert (found["outcome"], JudgeCall.objects.get().raw_reply) == ("replies", "6")
    assert far.post("/assignments/", {}).status_code == 403
    assert not Comparison.objects.exists()


def test_no_program_elsewhere_ends_a_call_of_this_arena(client: Client) -> None:
    judge = make.make_judge()
    run = start_run(make.make_small_study(prompts=1, contestants=2), judge)
    plan_run(run.pk)
    [mine] = claim("here", 1)
    far, name = Elsewhere(client, judge.rater), mine.work.assignment.public_id
    result = {"assignment": name, "key": mine.call.key, "attempt": 1, **SIX}
    [found] = far.post(HANDED_IN, {"replies": [result]}).json()["results"]
    assert found["outcome"] == "refused"
    for error in (TIMEOUT["failure"], {"kind": "timeout", "retryable": False}, {"kind": "abandoned"}):
        assert far.post(f"/assignments/{name}/failed/", error).status_code == 403
    assert far.post(f"/assignments/{name}/renew/", {}).status_code == 403
    assert JudgeCall.objects.get().state == "in_flight"
    mine.work.assignment.refresh_from_db()
    assert mine.work.assignment.state == "claimed"
