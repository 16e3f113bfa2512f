"""Purses within purses: a call reserves from its run's, its study's and the day's, or from none."""

import random
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.models import StudyEvent
from judging.judges.rights import NotAllowedError
from judging.judges.services import JudgeError
from judging.models import JudgeRun, Price, ProposalCall, Purse
from judging.proposing import services as proposing
from judging.runs import recovery
from judging.runs.lifecycle import start_run
from judging.spending import reservations
from judging.spending.budgets import set_budget
from tests import factories as make
from tests.arena.rating.test_concurrency import at_once
from tests.judging.runs.test_spending import BOUND, make_call, make_run, reserve, settle
from tests.judging.runs.test_spending_together import CENT, ENDS, LIMIT, Worker
from tests.judging.working import work_off

pytestmark = pytest.mark.both_databases


def amounts(**which: Any) -> tuple[Decimal, Decimal]:
    purse = Purse.objects.get(**which)
    return purse.spent, purse.reserved


@pytest.mark.django_db
def test_a_call_reserves_from_every_purse_or_from_none() -> None:
    make.make_price()
    run = make_run(budget=5 * CENT)
    set_budget(run.study, Decimal("0.003"), "USD")
    set_budget(None, Decimal(1), "USD")
    calls = [make_call(run) for _ in range(3)]
    assert reserve(run, *calls) == 2  # as many as fit into the study's
    for which in ({"run": run}, {"study": run.study}, {"scope": "day"}):
        assert amounts(**which) == (0, 2 * BOUND)
    assert reserve(run, calls[2]) == 0
    run.refresh_from_db()
    assert run.state == "running"  # calls in flight may free enough
    settle(calls[0], state="abandoned")
    settle(calls[1], state="replied", prompt_tokens=100, completion_tokens=10)
    for which in ({"run": run}, {"study": run.study}, {"scope": "day"}):
        assert amounts(**which) == (BOUND + Decimal("0.00028"), 0)
    assert reserve(run, calls[2]) == 0
    run.refresh_from_db()
    assert (run.state, run.goes_on_at) == ("paused", None)
    assert "The budget of the study of 0.003 USD had no room" in run.error


@pytest.mark.django_db
def test_a_run_goes_on_by_itself_with_the_budget_of_the_next_day(monkeypatch: pytest.MonkeyPatch) -> None:
    make.make_price()
    set_budget(None, Decimal("0.002"), "USD")
    run, other = make_run(), make_run()
    call = make_call(run)
    assert reserve(run, call) == 1
    assert reserve(other, make_call(other)) == 0
    settle(call, state="abandoned")
    assert reserve(other, make_call(other)) == 0
    other.refresh_from_db()
    assert (other.state, "goes on by itself tomorrow" in other.error) == ("paused", True)
    tomorrow = timezone.now() + timedelta(days=1)
    assert timezone.now() < other.goes_on_at <= tomorrow
    recovery.sweep()
    assert JudgeRun.objects.get(pk=other.pk).state == "paused"
    monkeypatch.setattr(timezone, "localdate", lambda: tomorrow.date())
    recovery.sweep(tomorrow)
    other.refresh_from_db()
    assert (other.state, other.goes_on_at) == ("queued", None)  # it had not begun
    run.refresh_from_db()
    JudgeRun.objects.filter(pk=run.pk).update(state="running")
    assert reserve(run, make_call(run)) == 1
    assert amounts(scope="day") == (0, BOUND)


@pytest.mark.django_db
def test_budgets_count_what_is_there_when_they_are_set_and_can_be_removed() -> None:
    make.make_price()
    run = make_run()
    first, second = make_call(run), make_call(run)
    reserve(run, first, second)
    settle(first, state="replied", prompt_tokens=100, completion_tokens=10)
    with pytest.raises(JudgeError, match=r"0\.00028 USD are spent, and calls in flight can cost up to"):
        set_budget(run.study, Decimal("0.001"), "USD")
    Purse.objects.exclude(run=run).delete()
    with pytest.raises(JudgeError, match="made in USD"):
        set_budget(run.study, Decimal(1), "EUR")
    set_budget(run.study, Decimal(1), "USD")
    set_budget(None, Decimal(2), "USD")
    assert amounts(study=run.study) == (Decimal("0.00028"), BOUND)
    assert amounts(scope="day") == (0, BOUND)
    set_budget(run.study, None, "")
    settle(second, state="abandoned")
    assert amounts(scope="day") == (BOUND, 0)
    set_budget(None, None, "")
    assert Purse.objects.get().within is None
    assert StudyEvent.objects.filter(note__startswith="Budget").count() == 4
    with pytest.raises(NotAllowedError):
        set_budget(None, Decimal(1), "USD", make.make_user(is_staff=True, paid_runs=False))


@pytest.mark.django_db
def test_a_run_within_a_budget_needs_a_known_price_in_its_currency() -> None:
    study, judge = make.make_small_study(prompts=1, contestants=2), make.make_judge(max_tokens=100)
    set_budget(study, Decimal(1), "EUR")
    with pytest.raises(JudgeError, match="needs a price"):
        start_run(study, judge)
    make.make_price()
    with pytest.raises(JudgeError, match="is in EUR, and the prices of"):
        start_run(study, judge)
    run = make_run(judge=judge, study=study)
    assert reserve(run, make_call(run)) == 0
    run.refresh_from_db()
    assert (run.state, "another currency" in run.error) == ("paused", True)


@pytest.mark.django_db
def test_requirements_are_proposed_within_the_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOP_API_KEY", "k")
    make.make_price()
    study, judge = make.make_small_study(prompts=2, contestants=1), make.make_judge(max_tokens=100)
    set_budget(study, Decimal("0.03"), "USD")
    asked = [
        ProposalCall.objects.create(prompt=prompt, judge=judge, batch=uuid4(), model="loopback")
        for prompt in study.prompts.all()
    ]
    # Nobody answers there, which costs nothing.
    assert work_off(proposing.door) == 2
    assert amounts(study=study) == (0, 0)
    for call in asked:
        call.refresh_from_db()
        assert (call.state, call.error_kind, call.cost, call.reserved) == ("waiting", "unreachable", 0, 0)
    ProposalCall.objects.update(due_at=timezone.now())
    Purse.objects.filter(study=study).update(spent=Decimal("0.0299"))
    assert work_off(proposing.door) == 0
    assert set(ProposalCall.objects.values_list("state", flat=True)) == {"failed"}
    assert "The budget of the study" in ProposalCall.objects.all()[0].error


@pytest.mark.django_db
def test_what_deleted_runs_had_in_flight_counts_as_spent() -> None:
    make.make_price()
    run, kept = make_run(), make_run()
    set_budget(None, Decimal(1), "USD")
    reserve(run, make_call(run))
    reserve(kept, call := make_call(kept, make.make_assignment()))
    call.save()
    run.delete()
    reservations.settle_deleted()
    assert amounts(scope="day") == (BOUND, BOUND)


events = st.one_of(
    st.tuples(st.just("claim"), st.integers(0, 2), st.lists(st.integers(0, 2000), min_size=1, max_size=4)),
    st.tuples(st.just("end"), st.integers(0, 2), st.sampled_from(ENDS), st.floats(0, 1)),
    st.tuples(st.just("study"), st.integers(0, 4)),
    st.tuples(st.just("day"), st.integers(0, 4)),
)


@pytest.mark.django_db
@settings(max_examples=15)
@given(happens=st.lists(events, max_size=20))
def test_no_order_of_events_passes_any_budget(happens: list[tuple[Any, ...]]) -> None:
    workers = three_workers()
    for name, *details in happens:
        if name == "claim":
            workers[details[0]].claim(details[1])
            JudgeRun.objects.update(state="running")
        elif name == "end" and workers[details[0]].in_flight:
            (state, kind, told), share = details[1:]
            workers[details[0]].end(0, state, kind, share, told)
        elif name in ("study", "day"):
            change_budget(workers[0].run.study if name == "study" else None, details[0] * CENT)
        assert_within_budgets(workers)


def three_workers() -> list[Worker]:
    """Two runs over one study, and one over another, where nothing has happened yet."""
    Purse.objects.all().delete()
    Price.objects.all().delete()
    make.make_price()
    studies = [make.make_study(), make.make_study()]
    workers = []
    for study in (studies[0], *studies):
        judge = make.make_judge(max_tokens=LIMIT)
        run = make.make_run(study=study, judge=judge, budget=4 * CENT if workers else None)
        workers.append(Worker(run, make.make_assignment(study=study, rater=judge.rater)))
    return workers


def change_budget(study: Any, amount: Decimal) -> None:
    try:
        set_budget(study, amount or None, "USD")
    except JudgeError as error:
        assert "cannot be less" in str(error)  # noqa: PT017 - the only reason there can be


def assert_within_budgets(workers: list[Worker]) -> None:
    in_flight = {worker.run.pk: sum(call.reserved for call in worker.in_flight) for worker in workers}
    studies = {worker.run.pk: worker.run.study_id for worker in workers}
    for purse in Purse.objects.all():
        assert purse.budget is None or purse.spent + purse.reserved <= purse.budget
        of = [
            amount
            for run, amount in in_flight.items()
            if run == purse.run_id or studies[run] == purse.study_id or purse.scope == "day"
        ]
        assert purse.reserved == sum(of)


@pytest.mark.django_db(transaction=True)
def test_workers_of_several_runs_at_once_pass_no_budget_and_wait_for_nobody_forever() -> None:
    workers = three_workers()
    budgets = {"study": 6 * CENT, "day": 8 * CENT}
    set_budget(workers[0].run.study, budgets["study"], "USD")
    seen: list[tuple[str, Decimal]] = []

    def work(number: int) -> None:
        rng = random.Random(number)
        first = workers[number % 3]
        worker = Worker(JudgeRun.objects.select_related("judge").get(pk=first.run.pk), first.assignment)
        for _ in range(12):
            worker.claim([rng.randrange(500) for _ in range(rng.randint(1, 3))], f"{number}.")
            if number == 0:
                change_budget(None, rng.choice([0, 1]) * budgets["day"])
            rows = Purse.objects.exclude(budget=None).exclude(scope="run")
            seen.extend(
                (scope, spent + reserved)
                for scope, spent, reserved in rows.values_list("scope", "spent", "reserved")
            )
            while worker.in_flight:
                ends = rng.choice(ENDS)
                worker.end(0, ends[0], ends[1], rng.random(), ends[2])

    made = at_once(*[lambda number=number: work(number) for number in range(6)])
    assert not [each for each in made if isinstance(each, Exception)]
    assert all(amount <= budgets[scope] for scope, amount in seen)
    assert not Purse.objects.filter(reserved__gt=0)
