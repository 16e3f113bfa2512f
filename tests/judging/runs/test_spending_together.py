"""No order of events passes a budget, and no number of workers at once does."""

import random
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from judging.endpoints import costs
from judging.judges.asked import AskedModel, asked_by
from judging.models import JudgeCall, JudgeRun, Price, Purse
from judging.runs.lifecycle import pause_run
from judging.spending import budgets, reservations
from tests import factories
from tests.arena.rating.test_concurrency import at_once
from tests.factories import make_assignment, make_judge, make_price, make_study

pytestmark = pytest.mark.both_databases

CENT = Decimal("0.01")
LIMIT = 200
CHARGED = ("timeout", "connection", "malformed", "internal")
FREE = ("unreachable", "rate_limited", "http_500", "http_400", "configuration")
ENDS = (
    ("replied", "", True),
    ("replied", "", False),
    ("failed", "timeout", False),
    ("failed", "http_500", False),
    ("abandoned", "", False),
)


class Worker:
    """What the workers of a run do to its money, one event after the other, on stored calls."""

    def __init__(self, run: JudgeRun, assignment: Any) -> None:
        self.run, self.assignment = run, assignment
        self.asked: AskedModel = asked_by(run.judge)
        self.in_flight: list[JudgeCall] = []

    def claim(self, lengths: Sequence[int], name: str = "") -> int:
        """Make as many calls as fit; how many."""
        begun = JudgeCall.objects.count()
        calls = [
            JudgeCall(
                run=self.run,
                assignment=self.assignment,
                key=f"{name}{begun + number}",
                attempt=1,
                worker=name,
                model="loopback",
                messages=[{"role": "user", "content": "é" * length}],
                deadline=timezone.now() + timedelta(minutes=1),
            )
            for number, length in enumerate(lengths)
        ]
        with transaction.atomic():
            granted = reservations.reserve([(call, self.asked) for call in calls])["run", self.run.pk]
            made = JudgeCall.objects.bulk_create(calls[: granted.count])
            if why := budgets.why_no_more(granted):
                pause_run(self.run, why)
        self.in_flight += made
        return len(made)

    def end(self, which: int, state: str, kind: str, share: float, told: bool) -> None:
        """End a call in flight; ``share`` says how many of the tokens it could have it took."""
        call = self.in_flight.pop(which % len(self.in_flight))
        with transaction.atomic():
            call.state, call.error_kind, call.finished_at = state, kind, timezone.now()
            if state == "replied" and told:
                call.prompt_tokens = int(costs.most_prompt_tokens(call.messages) * share)
                call.completion_tokens = int(LIMIT * share)
            reservations.settle([call])
            call.save()


def money(run: JudgeRun) -> tuple[Decimal, Decimal, Decimal]:
    """What a run may spend, has spent and has reserved."""
    purse = Purse.objects.get(run=run)
    assert purse.budget is not None
    return purse.budget, purse.spent, purse.reserved


def assert_adds_up(run: JudgeRun) -> None:
    """Nothing is in flight: nothing is reserved, and what is spent is what the calls cost."""
    budget, spent, reserved = money(run)
    assert reserved == 0
    assert spent == sum((call.cost for call in run.calls.all() if call.cost), Decimal(0))
    assert spent <= budget


def make_run(budget: Decimal) -> tuple[JudgeRun, Any]:
    """A running run, and an assignment that all its calls are about."""
    study, judge = make_study(), make_judge(max_tokens=LIMIT)
    run = factories.make_run(study=study, judge=judge, budget=budget)
    return run, make_assignment(study=study, rater=judge.rater)


share = st.floats(0, 1)
events = st.one_of(
    st.tuples(st.just("claim"), st.lists(st.integers(0, 3000), min_size=1, max_size=5)),
    st.tuples(st.just("reply"), st.integers(0, 99), share, st.booleans()),
    st.tuples(st.just("fail"), st.integers(0, 99), st.sampled_from(CHARGED + FREE)),
    st.tuples(st.just("abandon"), st.integers(0, 99)),
    st.tuples(st.just("raise"), st.integers(1, 3)),
    st.tuples(st.just("price"), st.integers(0, 40), st.integers(0, 40)),
)


@pytest.mark.both_databases(False)
@pytest.mark.django_db
@given(budget=st.integers(1, 5), happens=st.lists(events, max_size=25))
def test_no_order_of_events_passes_the_budget(budget: int, happens: list[tuple[Any, ...]]) -> None:
    Price.objects.all().delete()
    make_price()
    run, assignment = make_run(budget * CENT)
    worker = Worker(run, assignment)
    for name, *details in happens:
        if name == "claim":
            made = worker.claim(details[0])
            run.refresh_from_db()
            assert made or worker.in_flight or run.state == "paused"
        elif name == "raise":
            budgets.change_budget(run, money(run)[0] + details[0] * CENT)
            JudgeRun.objects.filter(pk=run.pk).update(state="running")
        elif name == "price":
            Price.objects.update(prompt=details[0], completion=details[1])
        elif worker.in_flight and name == "reply":
            worker.end(details[0], "replied", "", details[1], details[2])
        elif worker.in_flight and name == "fail":
            worker.end(details[0], "failed", details[1], 0, False)
        elif worker.in_flight:
            worker.end(details[0], "abandoned", "", 0, False)
        allowed, spent, reserved = money(run)
        assert spent + reserved <= allowed
        assert reserved == sum((call.reserved for call in worker.in_flight), Decimal(0))
    while worker.in_flight:
        worker.end(0, "replied", "", 0.5, True)
    assert_adds_up(run)


@pytest.mark.django_db(transaction=True)
def test_eight_workers_at_once_never_pass_a_budget_together() -> None:
    make_price()
    run, assignment = make_run(10 * CENT)
    seen: list[Decimal] = []

    def work(number: int) -> int:
        rng, made = random.Random(number), 0
        worker = Worker(JudgeRun.objects.get(pk=run.pk), assignment)
        while True:
            claimed = worker.claim([rng.randrange(500) for _ in range(rng.randint(1, 4))], f"{number}.")
            made += claimed
            now = JudgeRun.objects.select_related("purse").get(pk=run.pk)
            seen.append(now.purse.spent + now.purse.reserved)
            while worker.in_flight:
                ends = rng.choice(ENDS)
                worker.end(0, ends[0], ends[1], rng.random(), ends[2])
            if not claimed and now.state == "paused":
                return made

    made = at_once(*[lambda number=number: work(number) for number in range(8)])
    assert not [each for each in made if isinstance(each, Exception)]
    assert sum(each for each in made if isinstance(each, int)) == JudgeCall.objects.count()
    assert max(seen) <= 10 * CENT
    run.refresh_from_db()
    assert run.state == "paused"
    assert_adds_up(run)
    # It stopped no earlier than where the next call would not have fitted.
    longest = costs.most_prompt_tokens([{"content": "é" * 500}])
    assert 10 * CENT - money(run)[1] <= costs.Prices(Decimal(2), Decimal(8)).of(longest, LIMIT)
