"""Budgets: what is reserved, what is spent, and that no order of events passes a budget."""

from datetime import timedelta
from decimal import Decimal
from itertools import count
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from judging.endpoints.costs import most_prompt_tokens
from judging.judges.asked import AskedModel, asked_by
from judging.judges.services import JudgeError
from judging.models import JudgeCall, JudgeRun, Price
from judging.runs.lifecycle import pause_run
from judging.spending import budgets
from judging.spending.reservations import prices_of, settle_deleted
from judging.spending.reservations import reserve as reserve_from_purses
from judging.spending.reservations import settle as settle_in_purses
from tests import factories
from tests.factories import make_assignment, make_judge, make_price, make_small_study

pytestmark = pytest.mark.both_databases

MESSAGES = [{"role": "user", "content": "Which is better?"}]
BOUND = (most_prompt_tokens(MESSAGES) * Decimal(2) + 100 * Decimal(8)) / 1_000_000
"""With the prices of make_price and a judge of 100 tokens."""

_attempts = count(1)


def make_run(**overrides: Any) -> JudgeRun:
    """A running run of a judge whose replies have at most 100 tokens."""
    judge = overrides.pop("judge", None) or make_judge(max_tokens=100)
    study = overrides.pop("study", None) or make_small_study(prompts=1, contestants=2)
    run: JudgeRun = factories.make_run(**{"study": study, "judge": judge, **overrides})
    return run


def make_call(run: JudgeRun, assignment: Any = None, **overrides: Any) -> JudgeCall:
    """A call that is not stored yet."""
    defaults = {
        "key": f"rate.{next(_attempts)}",
        "attempt": 1,
        "worker": "here",
        "model": "loopback",
        "messages": MESSAGES,
        "deadline": timezone.now() + timedelta(minutes=1),
    }
    if assignment is not None:
        defaults["assignment"] = assignment
    return JudgeCall(run=run, **{**defaults, **overrides})


def reserve(run: JudgeRun, *calls: JudgeCall, asked: AskedModel | None = None) -> int:
    """How many of the calls may be made; as claiming does, pauses a run that can make none."""
    model = asked or asked_by(run.judge)
    with transaction.atomic():
        granted = reserve_from_purses([(call, model) for call in calls])["run", run.pk]
        if why := budgets.why_no_more(granted):
            pause_run(run, why, goes_on_at=budgets.goes_on_at(granted))
    return granted.count


def settle(*calls: JudgeCall, **changes: Any) -> None:
    with transaction.atomic():
        for call in calls:
            for name, value in changes.items():
                setattr(call, name, value)
        settle_in_purses(calls)


def money(run: JudgeRun) -> tuple[Decimal, Decimal]:
    """What a run has spent and reserved."""
    run.refresh_from_db()
    return run.purse.spent, run.purse.reserved


@pytest.mark.django_db
def test_a_call_reserves_the_most_it_can_cost_and_then_costs_what_it_did() -> None:
    make_price()
    run = make_run(budget=Decimal(1))
    call = make_call(run)
    assert reserve(run, call) == 1
    assert call.reserved == BOUND
    assert money(run) == (0, BOUND)
    assert run.purse.currency == "USD"
    settle(call, state="replied", prompt_tokens=100, completion_tokens=10)
    assert (call.cost, call.reserved) == (Decimal("0.00028"), 0)
    assert money(run) == (Decimal("0.00028"), 0)


@pytest.mark.django_db
def test_what_nobody_knows_counts_as_the_most_it_can_have_been() -> None:
    make_price()
    run = make_run(budget=Decimal(1))

    def cost(**ended: Any) -> Decimal:
        call, (before, _) = make_call(run), money(run)
        reserve(run, call)
        settle(call, **ended)
        assert money(run) == (before + call.cost, 0)
        return Decimal(call.cost)

    for unknown in ({"completion_tokens": 10}, {"prompt_tokens": 100}):
        assert cost(state="replied", **unknown) == BOUND
    assert cost(state="abandoned") == BOUND
    for kind in ("timeout", "connection", "malformed", "internal", "http_504"):
        assert cost(state="failed", error_kind=kind) == BOUND, kind
    for kind in ("unreachable", "rate_limited", "http_500", "http_400", "configuration"):
        assert cost(state="failed", error_kind=kind) == 0, kind


@pytest.mark.django_db
def test_thinking_costs_like_a_reply() -> None:
    make_price()
    run = make_run()
    among, apart = make_call(run), make_call(run)
    reserve(run, among, apart)
    settle(among, state="replied", prompt_tokens=100, completion_tokens=50, reasoning_tokens=40)
    settle(apart, state="replied", prompt_tokens=100, completion_tokens=10, reasoning_tokens=40)
    assert among.cost == apart.cost == Decimal("0.0006")


@pytest.mark.django_db
def test_as_many_calls_are_made_as_fit_and_the_rest_waits_for_those_in_flight() -> None:
    make_price()
    run = make_run(budget=(3 * BOUND).quantize(Decimal("0.000001")))
    calls = [make_call(run) for _ in range(5)]
    assert reserve(run, *calls) == 3
    assert [call.reserved for call in calls] == [BOUND] * 3 + [0] * 2
    assert reserve(run, calls[3]) == 0
    assert money(run) == (0, 3 * BOUND)
    assert run.state == "running"
    settle(*calls[:3], state="replied", prompt_tokens=0, completion_tokens=0)
    assert reserve(run, *calls[3:]) == 2


@pytest.mark.django_db
def test_a_run_whose_next_call_cannot_fit_is_paused_and_says_why() -> None:
    make_price()
    run = make_run(budget=Decimal("0.0015"))
    first, second = make_call(run), make_call(run)
    reserve(run, first)
    settle(first, state="replied", prompt_tokens=200, completion_tokens=50)
    assert reserve(run, second) == 0
    assert money(run) == (Decimal("0.0008"), 0)
    assert run.state == "paused"
    assert run.error == (
        "The budget of 0.0015 USD had no room for another call: 0.0008 USD were spent, and the next call "
        "could cost up to 0.001376 USD. Raise the budget and resume the run."
    )
    assert budgets.why_paused(run) == run.error
    budgets.change_budget(run, Decimal("0.01"))
    run.refresh_from_db()
    assert budgets.why_paused(run) == (
        "The budget of 0.0015 USD had no room for another call: 0.0008 USD were spent, and the next call "
        "could cost up to 0.001376 USD. The budget is 0.01 USD now, of which 0.0008 USD are spent. "
        "Resume the run."
    )
    JudgeRun.objects.filter(pk=run.pk).update(state="running")
    assert reserve(run, second) == 1


@pytest.mark.django_db
def test_an_endpoint_that_charges_more_than_it_was_asked_for_stops_the_run() -> None:
    make_price()
    run = make_run(budget=Decimal("0.01"))
    call = make_call(run)
    reserve(run, call)
    settle(call, state="replied", prompt_tokens=100, completion_tokens=5000)
    assert reserve(run, make_call(run)) == 0
    assert money(run) == (Decimal("0.0402"), 0)
    assert "0.0402 USD, more than the budget of 0.01 USD" in run.error


@pytest.mark.django_db
def test_no_call_is_made_of_a_run_that_is_not_running() -> None:
    make_price()
    for state in ("paused", "cancelled"):
        run = make_run(state=state)
        assert reserve(run, make_call(run)) == 0
        assert money(run) == (0, 0)


@pytest.mark.django_db
def test_a_run_without_budget_counts_what_it_spends_where_a_price_is_known() -> None:
    run = make_run()
    unpriced = make_call(run)
    assert reserve(run, unpriced) == 1
    settle(unpriced, state="replied", prompt_tokens=100, completion_tokens=10)
    assert (unpriced.cost, run.purse.currency) == (None, "")
    make_price()
    priced = make_call(run)
    assert reserve(run, priced) == 1
    settle(priced, state="replied", prompt_tokens=100, completion_tokens=10)
    assert money(run) == (Decimal("0.00028"), 0)


@pytest.mark.django_db
def test_a_price_that_is_taken_away_stops_a_run_with_a_budget() -> None:
    price = make_price()
    run = make_run(budget=Decimal(1))
    reserve(run, first := make_call(run))
    price.delete()
    settle(first, state="replied", prompt_tokens=100, completion_tokens=10)
    assert first.cost == Decimal("0.00028")  # at the price when it was asked
    assert reserve(run, make_call(run)) == 0
    run.refresh_from_db()
    assert (run.state, "is unknown" in run.error) == ("paused", True)


@pytest.mark.django_db
def test_the_price_at_the_endpoint_comes_before_the_price_anywhere() -> None:
    make_price(completion=Decimal(1))
    make_price(base_url="http://127.0.0.1:9/v1/", completion=Decimal(3))
    here = asked_by(make_judge())
    elsewhere = asked_by(make_judge(base_url="http://127.0.0.1:10/v1"))
    unknown = asked_by(make_judge(model="other"))
    prices = prices_of([here, elsewhere, unknown])
    assert [price and price.completion for price in prices] == [3, 1, None]


@pytest.mark.both_databases(False)
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("judge", "price", "sentence"),
    [
        ({}, {"model": "other"}, "A budget needs a price for loopback at http://127.0.0.1:9/v1"),
        ({"max_tokens": None}, {}, "needs the longest reply"),
        *[
            ({"max_tokens": 100, "options": {"max_completion_tokens": limit}}, {}, "needs the longest reply")
            for limit in ("5000", 5000.0, True, [5000])
        ],
        ({"provider": "simulated", "base_url": ""}, {}, "asks no model"),
    ],
)
def test_what_a_budget_needs(judge: dict[str, Any], price: dict[str, Any], sentence: str) -> None:
    make_price(**price)
    with pytest.raises(JudgeError, match=sentence):
        budgets.check_budget(make_judge(**judge), Decimal(1))
    with pytest.raises(JudgeError, match="more than 0"):
        budgets.check_budget(make_judge(**judge), Decimal(0))


@pytest.mark.both_databases(False)
@pytest.mark.django_db
def test_the_limit_of_newer_endpoints_stands_among_the_options() -> None:
    make_price()
    judge = make_judge(max_tokens=None, options={"max_completion_tokens": 100})
    assert budgets.check_budget(judge, Decimal(1)) == "USD"
    run = make_run(judge=judge, budget=Decimal(1))
    reserve(run, call := make_call(run))
    sent_besides = len('{"max_completion_tokens": 100}')
    assert call.reserved == BOUND + sent_besides * Decimal(2) / 1_000_000


@pytest.mark.django_db
def test_amounts_can_be_as_large_as_prices_and_tokens() -> None:
    """Endpoints can say what they like; what they say must not keep a reply from being stored."""
    make_price(prompt=Decimal("999999.999999"), completion=Decimal("999999.999999"))
    run = make_run()
    call = make_call(run, make_assignment())
    reserve(run, call)
    settle(call, state="replied", prompt_tokens=2**31 - 1, completion_tokens=2**31 - 1)
    call.finished_at = timezone.now()
    call.save()
    assert money(run)[0] == pytest.approx(call.cost)
    assert call.cost > 4_294_967_000


@pytest.mark.django_db
def test_a_budget_cannot_be_less_than_what_is_spent_and_in_flight() -> None:
    make_price()
    run = make_run(budget=Decimal(1))
    reserve(run, make_call(run))
    with pytest.raises(JudgeError, match=r"can cost up to 0\.001376 USD more"):
        budgets.change_budget(run, Decimal("0.001"))
    assert budgets.change_budget(run, None).budget is None
    assert budgets.change_budget(run, Decimal("0.002")).budget == Decimal("0.002")
    JudgeRun.objects.update(state="finished")
    with pytest.raises(JudgeError, match="has ended"):
        budgets.change_budget(run, Decimal(2))


@pytest.mark.django_db
def test_no_budget_for_a_run_that_has_made_calls_of_unknown_price() -> None:
    run = make_run()
    call = make_call(run, make_assignment())
    reserve(run, call)
    call.save()
    make_price()
    with pytest.raises(JudgeError, match="calls of unknown cost"):
        budgets.change_budget(run, Decimal(1))


@pytest.mark.django_db
@pytest.mark.parametrize("ended", [None, {"state": "replied", "prompt_tokens": None}])
def test_no_budget_for_a_run_with_calls_without_a_longest_reply(ended: dict[str, Any] | None) -> None:
    make_price()
    judge = make_judge(max_tokens=None)
    run = make_run(judge=judge)
    call = make_call(run, make_assignment())
    reserve(run, call)
    if ended:
        settle(call, **ended)
        call.finished_at = timezone.now()
    call.save()
    judge.max_tokens = 100
    judge.save()
    with pytest.raises(JudgeError, match="calls of unknown cost"):
        budgets.change_budget(run, Decimal(1))


@pytest.mark.django_db
def test_what_was_reserved_for_deleted_calls_counts_as_spent() -> None:
    make_price()
    run = make_run(budget=Decimal(1))
    deleted, kept = make_call(run, make_assignment()), make_call(run, make_assignment())
    reserve(run, deleted, kept)
    deleted.save()
    kept.save()
    deleted.assignment.delete()
    settle_deleted()
    assert money(run) == (BOUND, BOUND)  # the other is in flight, and releases its own
    settle(kept, state="replied", prompt_tokens=100, completion_tokens=10, finished_at=timezone.now())
    kept.save()
    for _ in range(2):
        settle_deleted()
    assert money(run) == (BOUND + Decimal("0.00028"), 0)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (None, "There is no such budget now. Resume the run."),
        ("0.02", "The budget of the study is 0.02 USD now, of which 0.0008 USD are spent. Resume the run."),
        ("0.0015", "Raise it under Judging, Budgets, and resume the run."),
    ],
)
def test_a_paused_run_says_what_became_of_the_budget_of_its_study(budget: str | None, said: str) -> None:
    make_price()
    run = make_run()
    budgets.set_budget(run.study, Decimal("0.0015"), "USD")
    first = make_call(run)
    reserve(run, first)
    settle(first, state="replied", prompt_tokens=200, completion_tokens=50)
    assert reserve(run, make_call(run)) == 0
    budgets.set_budget(run.study, None if budget is None else Decimal(budget), "USD")
    run.refresh_from_db()
    assert budgets.why_paused(run).endswith(f"0.001376 USD. {said}")


@pytest.mark.django_db
def test_a_price_that_is_there_again_is_known_again() -> None:
    make_price()
    run = make_run(budget=Decimal(1), state="paused", error=budgets.NO_BOUND)
    assert budgets.why_paused(run) == "The cost of the next call is known again. Resume the run."
    Price.objects.all().delete()
    assert budgets.why_paused(run) == budgets.NO_BOUND
