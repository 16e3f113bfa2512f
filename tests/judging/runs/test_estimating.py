"""What a run would take, against worked numbers and against what it then took."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from arena.models import Study
from arena.rating.plans import Wanted, Which
from judging.endpoints import costs
from judging.judges.services import JudgeError
from judging.models import Judge, JudgeCall, JudgeRun
from judging.protocols import conversation
from judging.runs.estimating import QUESTIONS, USUAL_REPLY, estimate
from judging.runs.lifecycle import start_run
from tests.factories import make_assignment, make_call, make_judge, make_price, make_run, make_small_study
from tests.judging.endpoints.server import Answer, ChatServer

pytestmark = pytest.mark.django_db


def likert(**overrides: Any) -> Judge:
    return make_judge(**{"max_tokens": 300, **overrides})


def replied(judge: Judge, study: Study, **overrides: Any) -> JudgeCall:
    """A reply that the judge has given in an earlier run."""
    run = make_run(study=study, judge=judge, state="finished")
    defaults = {
        "assignment": make_assignment(study=study, rater=judge.rater),
        "model": judge.model,
        "messages": [{"role": "user", "content": "x" * 300}],
        "finished_at": timezone.now(),
        "state": "replied",
        "prompt_tokens": 100,
        "completion_tokens": 40,
        "latency": 2.0,
    }
    return make_call(run, **{**defaults, **overrides})


def test_pairs_calls_and_cost_of_one_question_a_pair() -> None:
    make_price()
    study, judge = make_small_study(prompts=2, contestants=3), likert()
    found = estimate(study, judge, Wanted(both_orders=True))
    assert (found.pairs, found.assignments, found.looked_at, found.identical) == (6, 12, 12, 0)
    assert (found.calls.low, found.calls.high, found.cached) == (12, 12, 0)
    assert not found.later_steps
    assert (found.reply_tokens.low, found.reply_tokens.high) == (12 * USUAL_REPLY, 12 * 300)
    around = 12 * (costs.TOKENS_AROUND_REQUEST + costs.TOKENS_AROUND_MESSAGE)
    # As many tokens as bytes at most, and a quarter of that to be expected.
    assert abs(found.prompt_tokens.high - around - 4 * found.prompt_tokens.low) <= 2
    assert found.cost.high is not None
    low = (2 * found.prompt_tokens.low + 8 * found.reply_tokens.low) / 1_000_000
    assert abs(found.cost.low - low) < Decimal("0.00001")
    assert found.cost.high == (2 * found.prompt_tokens.high + 8 * found.reply_tokens.high) / 1_000_000
    assert found.currency == "USD"
    assert found.seconds is None
    assert estimate(study, judge, Wanted(limit=2)).assignments == 2


def test_without_a_price_or_a_longest_reply_nobody_can_say() -> None:
    study = make_small_study()
    found = estimate(study, likert(max_tokens=None), Wanted())
    assert (found.cost, found.unpriced, found.reply_tokens.high) == (None, ("loopback",), None)
    assert found.prompt_tokens.high is not None
    make_price()
    found = estimate(study, likert(max_tokens=None), Wanted())
    assert found.cost.high is None


def test_habits_are_learnt_from_earlier_replies() -> None:
    study, judge = make_small_study(prompts=4, contestants=2), likert(concurrency=4)
    before = estimate(study, judge, Wanted())
    replied(judge, study)
    replied(judge, study, completion_tokens=10, reasoning_tokens=50, latency=4.0)
    found = estimate(study, judge, Wanted())
    assert found.habits_from == 2
    assert found.reply_tokens.low == 4 * 50
    # Three bytes a token and not four.
    assert abs(found.prompt_tokens.low * 3 - before.prompt_tokens.low * 4) <= 4
    assert found.seconds == costs.Range(Decimal(3), Decimal(3))  # four calls of 3 s, four at once
    limited = likert(concurrency=4, requests_per_minute=2)
    assert estimate(study, limited, Wanted()).seconds == costs.Range(Decimal(120), Decimal(120))


def test_what_is_asked_about_a_prompt_or_an_answer_counts_once_for_each() -> None:
    study = make_small_study(prompts=2, contestants=3)
    metrics = estimate(study, likert(protocol="metrics"), Wanted(both_orders=True))
    assert (metrics.assignments, metrics.calls.low, metrics.calls.high) == (12, 12 + 2, 12 + 2)
    assert metrics.later_steps
    rating = estimate(study, likert(protocol="rating", form="scores", points=3), Wanted(both_orders=True))
    assert rating.calls.high == 6  # one score of each answer
    # A step that may not be needed makes a range.
    swap = estimate(study, likert(protocol="swap"), Wanted())
    assert (swap.calls.low, swap.calls.high) == (12, 18)


def test_questions_that_quote_replies_grow_with_them_whatever_another_protocol_said() -> None:
    study = make_small_study(prompts=1, contestants=2)
    short = estimate(study, likert(protocol="swap", max_tokens=50), Wanted())
    long = estimate(study, likert(protocol="swap", max_tokens=1050), Wanted())
    # The last step quotes the two replies before it, of four bytes a token.
    assert abs(long.prompt_tokens.high - short.prompt_tokens.high - 2 * 4 * 1000) <= 10
    study = make_small_study(prompts=1, contestants=2)
    replied(likert(protocol="cot"), study)
    found = estimate(study, likert(), Wanted())
    assert found.habits_from == 1
    assert found.reply_tokens.low == USUAL_REPLY


def test_large_runs_are_looked_at_in_part() -> None:
    study = make_small_study(prompts=80, contestants=3)
    judge = likert(protocol="protocol-consistency")
    keys = len(conversation.keys(judge.configured_protocol))
    found = estimate(study, judge, Wanted())
    assert found.assignments == 240
    assert found.looked_at == max(5, QUESTIONS // keys)
    whole = estimate(study, likert(), Wanted())
    assert (whole.looked_at, whole.calls.high) == (100, 240)


def test_for_how_many_assignments_a_budget_is_enough() -> None:
    study = make_small_study(prompts=10, contestants=2)
    assert estimate(study, likert(), Wanted()).covered(Decimal(1)) is None
    make_price()
    found = estimate(study, likert(), Wanted())
    usual, most = found.cost.low / 10, found.cost.high / 10
    assert found.covered(most * Decimal("0.999")) == 0, "the first call may cost more"
    for further, covered in ((0, 1), (4, 5), (9, 10), (90, 10)):
        assert found.covered(most + further * usual) == covered


def test_a_judge_that_cannot_start_has_no_estimate_and_none_writes_anything() -> None:
    study, judge = make_small_study(), likert()
    with pytest.raises(JudgeError, match="inactive"):
        estimate(study, likert(active=False), Wanted())
    lonely = likert(protocol="strong-reference", parameters={"author": "judge:nobody"})
    with pytest.raises(JudgeError, match="does not exist"):
        estimate(study, lonely, Wanted())
    estimate(study, judge, Wanted())
    assert not JudgeRun.objects.exists()
    assert not study.assignments.exists()
    judge.refresh_from_db()
    assert not judge.prompt_hash


def test_the_author_of_references_has_a_price_of_its_own() -> None:
    make_price()
    study = make_small_study(prompts=2, contestants=3)
    judge = likert(protocol="strong-reference", parameters={"author": "better"})
    assert estimate(study, judge, Wanted()).unpriced == ("better",)
    make_price(model="better", prompt=0, completion=1000)
    found = estimate(study, judge, Wanted())
    assert found.cost.high >= Decimal(2 * 300 * 1000) / 1_000_000


def test_a_simulated_judge_costs_nothing_and_needs_no_price() -> None:
    study = make_small_study(simulated=True)
    strengths = {one.slug: 1000 for one in study.contestants.all()}
    judge = likert(provider="simulated", base_url="", simulation={"strengths": strengths})
    found = estimate(study, judge, Wanted())
    assert (found.cost, found.unpriced, found.cached) == (None, (), 0)
    assert found.calls.high == found.assignments


def test_a_run_ends_within_its_estimate(arena: Any, model: ChatServer, drain: Callable[[], None]) -> None:
    make_price()
    model.script = lambda body: Answer("First answer A, then answer B.\n5")
    study = make_small_study(prompts=3, contestants=3)
    judge = likert(base_url=model.url, protocol="metrics")
    found = estimate(study, judge, Wanted())
    run = start_run(study, judge, budget=Decimal(1))
    drain()
    run.refresh_from_db()
    assert run.state == "finished"
    assert len(model.requests) == found.calls.low == found.calls.high
    assert 0 < run.purse.spent <= found.cost.high
    spent = [call.cost for call in run.calls.all()]
    assert run.purse.spent == sum(cost for cost in spent if cost is not None)
    # Another judge of the same model and protocol would ask the same, and have its answers at once.
    twin = likert(base_url=model.url, protocol="metrics", samples=1)
    again = estimate(study, twin, Wanted())
    assert (again.cached, again.assignments) == (3, 9)


def test_what_is_asked_anew_is_not_cached(arena: Any, model: ChatServer, drain: Callable[[], None]) -> None:
    model.script = lambda body: Answer("no idea")
    study, judge = make_small_study(prompts=2, contestants=2), likert(base_url=model.url)
    start_run(study, judge)
    drain()
    found = estimate(study, judge, Wanted(Which.UNSCORED))
    assert (found.assignments, found.cached, found.calls.low) == (2, 0, 2)
