"""Battles never cost more than their purse and those around it, whatever happens in whatever order."""

import random
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from arena.texts.dialogue import Message
from judging.battles import starting
from judging.battles.errors import BattleError
from judging.endpoints import costs
from judging.endpoints.client import NoReplyError, Reply
from judging.judges.asked import AskedModel
from judging.judges.services import JudgeError
from judging.models import Battle, BattleCall, BattleRules, Price, Purse, RateLimit
from judging.requests.services import Requests
from judging.spending.budgets import set_battles_budget, set_budget
from judging.spending.reservations import settle_deleted
from judging.worker.worker import Ended, Task
from tests import factories as make
from tests.arena.rating.test_concurrency import at_once

pytestmark = pytest.mark.both_databases

MILLS = Decimal("0.001")
LIMIT = 200
KINDS = ("timeout", "malformed", "http_500", "unreachable", "configuration")


class Door(Requests[BattleCall]):
    """Asks for battles, and keeps nothing of a reply."""

    rows = BattleCall
    endpoint = "author__endpoint"
    needed = ("battle__study__battle_rules", "author__endpoint")
    about = "side"

    def asked(self, row: BattleCall) -> AskedModel:
        return starting.asked(row.battle.study.battle_rules, row.author)

    def messages(self, row: BattleCall) -> list[Message]:
        return row.messages

    def keep(self, row: BattleCall, reply: Reply) -> None:
        pass

    def alike(self, row: BattleCall) -> Any:
        return BattleCall.objects.filter(battle=row.battle_id)

    def why_not(self, row: BattleCall) -> str:
        return "" if row.battle.is_open else "The battle has ended."


class Arena:
    """A study whose battles cost money, and the workers that ask for it."""

    def __init__(self) -> None:
        for table in (Purse, Price, RateLimit):
            BattleCall.objects.all().delete()
            table.objects.all().delete()
        make.make_price()
        self.rules = make.make_battle_rules(max_tokens=LIMIT)
        self.rules.authors.all()[0].endpoint.__class__.objects.update(concurrency=1000)
        self.door, self.tasks = Door(), list[Task]()

    def begin(self, length: int) -> None:
        try:
            starting.begin(self.rules, make.make_visitor(), "", "é" * length)
        except BattleError as error:
            assert "used up" in str(error) or "Try again in a minute" in str(error)  # noqa: PT017

    def claim(self, free: int) -> None:
        self.tasks += self.door.claim(free)

    def end(self, which: int, result: NoReplyError | float | None) -> None:
        """End a call in flight: with a failure, or a reply that took a share of what it could cost."""
        task = self.tasks.pop(which % len(self.tasks))
        if not isinstance(result, NoReplyError):
            row = task.call[0]
            told = (None, None)
            if result is not None:
                told = int(costs.most_prompt_tokens(row.messages) * result), int(LIMIT * result)
            result = Reply("Yes.", "stop", "m", prompt_tokens=told[0], completion_tokens=told[1])
        self.door.replied([Ended(task.call, result, 0.1)])

    def kill(self) -> None:
        """End the process: what was in flight is asked again."""
        self.tasks.clear()
        self.door.abandon_orphans()

    def leave(self, which: int) -> None:
        battles = list(Battle.objects.filter(state="waiting").order_by("pk"))
        if battles:
            starting.leave(battles[which % len(battles)])


def assert_within_budgets() -> None:
    reserved = BattleCall.objects.aggregate(sum=Sum("reserved"))["sum"] or 0
    spent = BattleCall.objects.aggregate(sum=Sum("cost"))["sum"] or 0
    for purse in Purse.objects.all():
        assert purse.budget is None or purse.spent + purse.reserved <= purse.budget
        assert (purse.reserved, purse.spent) == (reserved, spent)
    waiting = BattleCall.objects.filter(state="waiting", attempt=0).values_list("battle", "reserved")
    assert all(amount for _, amount in waiting)  # what was never asked holds what it can cost


events = st.one_of(
    st.tuples(st.just("begin"), st.integers(1, 300)),
    st.tuples(st.just("claim"), st.integers(1, 3)),
    st.tuples(st.just("end"), st.integers(0, 9), st.none() | st.floats(0, 1)),
    st.tuples(st.just("end"), st.integers(0, 9), st.sampled_from(KINDS)),
    st.tuples(st.just("kill")),
    st.tuples(st.just("leave"), st.integers(0, 9)),
    st.tuples(st.just("budget"), st.sampled_from(["battles", "study", "day"]), st.integers(1, 30)),
    st.tuples(st.just("price"), st.integers(1, 12)),
    st.tuples(st.just("due")),
)


@pytest.mark.django_db
@given(happens=st.lists(events, max_size=25))
def test_no_order_of_events_passes_a_purse(happens: list[tuple[Any, ...]]) -> None:
    arena = Arena()
    set_battles_budget(arena.rules.study, 15 * MILLS, "USD")
    set_budget(arena.rules.study, 20 * MILLS, "USD")
    set_budget(None, 25 * MILLS, "USD")
    for name, *details in happens:
        if name == "end":
            which, told = details
            if arena.tasks:
                arena.end(which, NoReplyError(told, "no") if isinstance(told, str) else told)
        elif name == "budget":
            change_budget(arena.rules, *details)
        elif name == "price":
            Price.objects.update(completion=details[0])
        elif name == "due":
            BattleCall.objects.update(due_at=timezone.now())
            RateLimit.objects.update(probe_at=0, closed_until=0, open_since=0)
        else:
            getattr(arena, name)(*details)
        assert_within_budgets()


def change_budget(rules: BattleRules, scope: str, mills: int) -> None:
    try:
        if scope == "battles":
            set_battles_budget(rules.study, mills * MILLS, "USD")
        else:
            set_budget(rules.study if scope == "study" else None, mills * MILLS, "USD")
    except JudgeError as error:
        assert "cannot be less" in str(error)  # noqa: PT017 - the only reason there can be


@pytest.mark.django_db(transaction=True)
def test_many_at_once_pass_no_purse() -> None:
    arena = Arena()
    set_battles_budget(arena.rules.study, 12 * MILLS, "USD")
    seen: list[Decimal] = []

    def work(number: int) -> None:
        rng, own = random.Random(number), Arena.__new__(Arena)
        own.rules, own.door, own.tasks = arena.rules, arena.door, []
        for _ in range(8):
            own.begin(rng.randint(1, 300))
            own.claim(2)
            purse = Purse.objects.get(scope="battles")
            seen.append(purse.spent + purse.reserved)
            while own.tasks:
                own.end(
                    0, rng.choice([None, rng.random(), NoReplyError("configuration", "no", retryable=False)])
                )

    made = at_once(*[lambda number=number: work(number) for number in range(4)])
    assert not [each for each in made if isinstance(each, Exception)], made
    assert max(seen) <= 12 * MILLS
    assert_within_budgets()


@pytest.fixture
def battles(db: None) -> Arena:
    return Arena()


def test_a_battle_that_is_deleted_counts_as_spent_if_it_held_money(battles: Arena) -> None:
    battles.begin(10)
    held = Purse.objects.get().reserved
    Battle.objects.all().delete()
    settle_deleted()
    purse = Purse.objects.get()
    assert (purse.reserved, purse.spent) == (0, held)


def test_a_new_day_begins_at_nothing_and_goes_on_with_what_is_in_flight(
    battles: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_battles_budget(battles.rules.study, 8 * MILLS, "USD")
    battles.begin(1)
    battles.claim(2)
    battles.end(0, 1.0)
    spent = Purse.objects.get().spent
    assert spent
    tomorrow = timezone.localdate() + timezone.timedelta(days=1)
    monkeypatch.setattr(timezone, "localdate", lambda *_: tomorrow)
    battles.end(0, 1.0)
    purse = Purse.objects.get()
    assert (purse.day, purse.reserved, purse.spent) == (tomorrow, 0, spent)


def test_a_study_budget_counts_the_battles_of_all_days(battles: Arena) -> None:
    battles.begin(1)
    battles.claim(2)
    battles.end(0, 1.0)
    battles.end(0, 0.5)
    cost = BattleCall.objects.aggregate(sum=Sum("cost"))["sum"]
    yesterday = timezone.localdate() - timezone.timedelta(days=1)
    Purse.objects.update(spent=0, day=yesterday)
    set_budget(battles.rules.study, Decimal(1), "USD")
    outer = Purse.objects.get(scope="study")
    assert (outer.spent, Purse.objects.get(scope="battles").within) == (cost, outer)
    with pytest.raises(JudgeError, match="made in USD"):
        set_budget(battles.rules.study, Decimal(1), "EUR")


def test_a_budget_of_battles_is_set_within_what_is_spent_and_in_one_currency(battles: Arena) -> None:
    study = battles.rules.study
    battles.begin(1)
    with pytest.raises(JudgeError, match="can cost up to"):
        set_battles_budget(study, MILLS, "USD")
    with pytest.raises(JudgeError, match="calls were made in USD"):
        set_battles_budget(study, Decimal(1), "EUR")
    with pytest.raises(JudgeError, match="more than 0"):
        set_battles_budget(study, Decimal(0), "USD")
    with pytest.raises(JudgeError, match="right to start paid runs"):
        set_battles_budget(study, Decimal(1), "USD", make.make_user(is_staff=True, paid_runs=False))
    set_battles_budget(study, Decimal(1), "USD")
    set_battles_budget(study, None, "")
    notes = list(study.events.order_by("pk").values_list("note", flat=True))
    assert notes == [
        f"Budget of the battles of {study.slug} per day: 1.00 USD. Before: none.",
        f"Budget of the battles of {study.slug} per day: none. Before: 1.00 USD.",
    ]


def test_a_price_that_rises_is_reserved_before_asking(battles: Arena) -> None:
    battles.begin(1)
    before = Purse.objects.get().reserved
    Price.objects.update(prompt=4, completion=16)
    battles.claim(1)
    call = BattleCall.objects.get(state="in_flight")
    assert (call.reserved, Purse.objects.get().reserved) == (before, before / 2 + before)
    with transaction.atomic():
        assert_within_budgets()


def test_what_is_refused_gives_back_what_it_held(battles: Arena) -> None:
    battles.begin(1)
    Battle.objects.update(state="void", void="left")
    battles.claim(2)
    assert Purse.objects.get().reserved == 0
    assert set(BattleCall.objects.values_list("state", "reserved", "cost")) == {("failed", 0, None)}
