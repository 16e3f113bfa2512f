"""Battles begin within every limit, one at a time for each visitor, and paid for both sides or not at all."""

from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from arena.models import Rater
from judging.battles import showing, starting, voting
from judging.battles.errors import BattleError
from judging.models import Battle, BattleCall, BattleRules, Purse
from judging.spending.budgets import set_battles_budget, set_budget
from tests import factories as make
from tests.arena.rating.test_concurrency import at_once

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def rules(db: None) -> BattleRules:
    return make.make_battle_rules(max_tokens=100)


@pytest.fixture
def visitor(db: None) -> Rater:
    return make.make_visitor()


def begin(rules: BattleRules, rater: Rater | None = None, prompt: str = "Why?", address: str = "a") -> Battle:
    return starting.begin(rules, rater or make.make_visitor(), address, prompt)


def answer(battle: Battle, *texts: str) -> None:
    """Have both sides of the newest turn answered."""
    for side, text in enumerate(texts):
        calls = battle.calls.filter(turn=battle.turn, side=side)
        calls.update(state="replied", text=text, shown=text, reserved=0)
    Battle.objects.filter(pk=battle.pk).update(state="ready")
    battle.refresh_from_db()


def test_a_battle_asks_two_models_the_same(rules: BattleRules, visitor: Rater) -> None:
    BattleRules.objects.update(system="Be brief.")
    rules.refresh_from_db()
    battle = begin(rules, visitor, "  Why?\0 ")
    assert (battle.state, battle.turns, battle.turn, battle.address) == ("waiting", ["Why?"], 1, "a")
    calls = battle.calls.order_by("side")
    assert [call.author.contestant for call in calls] == [battle.first, battle.second]
    assert battle.first != battle.second
    sent = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
    assert [call.messages for call in calls] == [sent, sent]
    assert {(call.state, call.turn, call.model) for call in calls} == {("waiting", 1, "loopback")}


def test_sides_are_sampled_alike(rules: BattleRules) -> None:
    options = {"top_p": 0.1, "seed": 4, "chat_template_kwargs": {"x": 1}}
    rules.temperature = 0.7
    own = make.make_author(temperature=0.1, max_tokens=7, options=options)
    model = starting.asked(rules, own)
    assert (model.temperature, model.max_tokens, model.reply_limit) == (0.7, 100, 100)
    assert model.options == {"chat_template_kwargs": {"x": 1}}
    newer = make.make_author(max_tokens=None, options={"max_completion_tokens": 5000})
    model = starting.asked(rules, newer)
    assert (model.max_tokens, model.options, model.reply_limit) == (None, {"max_completion_tokens": 100}, 100)


@pytest.mark.parametrize(
    ("changed", "prompt", "told"),
    [
        ({}, " \0\n", "Type a prompt."),
        ({"most_characters": 3}, "four", "Your prompt has 4 characters. It can have at most 3."),
        ({"open_to": "nobody"}, "Why?", "This study has no battles now."),
    ],
)
def test_what_cannot_begin(rules: BattleRules, changed: dict[str, Any], prompt: str, told: str) -> None:
    BattleRules.objects.update(**changed)
    rules.refresh_from_db()
    with pytest.raises(BattleError) as refused:
        begin(rules, prompt=prompt)
    assert str(refused.value) == told
    assert refused.value.field == ("prompt" if "prompt" in told else "")
    assert not Battle.objects.exists()


def test_a_closed_study_has_no_battles(rules: BattleRules) -> None:
    rules.study.closed_at = timezone.now()
    rules.study.save()
    with pytest.raises(BattleError, match="has no battles now"):
        begin(rules)


def test_a_visitor_has_one_open_battle_in_a_study(rules: BattleRules, visitor: Rater) -> None:
    battle = begin(rules, visitor)
    for state in ("waiting", "answering", "ready"):
        Battle.objects.filter(pk=battle.pk).update(state=state)
        with pytest.raises(BattleError, match="Rate it or leave it, then begin another"):
            begin(rules, visitor)
    begin(make.make_battle_rules(), visitor)
    Battle.objects.filter(pk=battle.pk).update(state="voted")
    assert begin(rules, visitor) != battle


def test_a_visitor_has_so_many_battles_a_day(rules: BattleRules, visitor: Rater) -> None:
    BattleRules.objects.update(visitor_daily=2)
    for _ in range(2):
        starting.leave(begin(rules, visitor))
    with pytest.raises(BattleError) as refused:
        begin(rules, visitor)
    told = (
        "You have had 2 battles today, the most there can be. You can go on tomorrow, after midnight (UTC)."
    )
    assert str(refused.value) == told
    begin(rules)
    Battle.objects.update(created_at=timezone.now() - timedelta(days=1))
    begin(rules, visitor)


def test_so_many_battles_a_day_begin_at_one_address(rules: BattleRules) -> None:
    BattleRules.objects.update(address_daily=2)
    begin(rules), begin(rules), begin(rules, address="b")
    with pytest.raises(
        BattleError, match=r"^2 battles were begun from your address today, .* after midnight"
    ):
        begin(rules)
    begin(rules, address="")  # one that is not known


def test_so_many_battles_wait(rules: BattleRules) -> None:
    BattleRules.objects.update(most_waiting=1)
    battle = begin(rules)
    with pytest.raises(BattleError, match="Too many battles wait for their models"):
        begin(rules)
    Battle.objects.filter(pk=battle.pk).update(state="answering")
    begin(rules)


def test_turns_have_a_limit_and_their_own_threads(rules: BattleRules) -> None:
    BattleRules.objects.update(most_turns=2)
    battle = begin(rules)
    with pytest.raises(BattleError, match="once both models have answered"):
        starting.go_on(battle, "And then?")
    answer(battle, "<think>Hm.</think>So A.", "So B.")
    Battle.objects.update(released=9, pace=3.0, begun_at=timezone.now())
    battle = starting.go_on(battle, "And then?")
    assert (battle.state, battle.turn, battle.released, battle.pace, battle.begun_at) == (
        "waiting",
        2,
        0,
        None,
        None,
    )
    calls = battle.calls.filter(turn=2).order_by("side")
    assert [call.author.contestant for call in calls] == [battle.first, battle.second]
    for call, said in zip(calls, ("So A.", "So B."), strict=True):
        assert [each["content"] for each in call.messages] == ["Why?", said, "And then?"]
    answer(battle, "A.", "B.")
    with pytest.raises(BattleError, match="at most 2 turns"):
        starting.go_on(battle, "More?")
    starting.leave(battle)
    BattleRules.objects.update(most_turns=5)
    with pytest.raises(BattleError, match="has ended"):
        starting.go_on(battle, "More?")


def test_both_go_on_from_the_better_answer(rules: BattleRules) -> None:
    BattleRules.objects.update(thread="better")
    battle = begin(rules)
    answer(battle, "So A.", "So B.")
    Battle.objects.update(released=9, released_at=timezone.now(), begun_at=timezone.now())
    battle.refresh_from_db()
    with pytest.raises(BattleError, match="Rate first"):
        starting.go_on(battle, "And then?")
    voting.vote(battle, 7, False)
    other = begin(rules, battle.rater)
    with pytest.raises(BattleError, match="You have a battle that is open"):
        starting.go_on(battle, "And then?")
    starting.leave(other)
    battle = starting.go_on(battle, "And then?")
    for call in battle.calls.filter(turn=2):
        assert [each["content"] for each in call.messages] == ["Why?", "So B.", "And then?"]
    answer(battle, "A.", "B.")
    Battle.objects.update(released=9, released_at=timezone.now(), begun_at=timezone.now())
    battle.refresh_from_db()
    voting.vote(battle, 4, False)
    voting.tell(battle)
    with pytest.raises(BattleError, match="has ended"):
        starting.go_on(battle, "More?")


def test_the_place_in_the_queue(rules: BattleRules) -> None:
    first, second = begin(rules), begin(rules)
    begin(make.make_battle_rules())
    assert [starting.position(each) for each in (first, second)] == [1, 2]
    first.calls.update(state="in_flight", deadline=timezone.now())
    assert [starting.position(each) for each in (first, second)] == [0, 1]


def purse(rules: BattleRules) -> tuple[Decimal, Decimal]:
    found = Purse.objects.get(battles=rules.study)
    return found.spent, found.reserved


# 100 tokens at 8 and at most 276 at 2 for a million: what one side can cost.
SIDE = Decimal("0.00135200")


def test_both_sides_are_paid_for_or_neither(rules: BattleRules) -> None:
    make.make_price()
    set_battles_budget(rules.study, Decimal("0.0026"), "USD")
    with pytest.raises(BattleError, match="What battles may cost today is used up"):
        begin(rules)
    assert (purse(rules), Battle.objects.count(), BattleCall.objects.count()) == ((0, 0), 0, 0)
    set_battles_budget(rules.study, Decimal("0.004"), "USD")
    battle = begin(rules)
    assert {call.reserved for call in battle.calls.all()} == {SIDE}
    assert purse(rules) == (0, 2 * SIDE)
    with pytest.raises(BattleError, match="Try again in a minute"):
        begin(rules)
    starting.leave(battle)
    assert purse(rules) == (0, 0)
    assert set(battle.calls.values_list("state", "reserved")) == {("failed", 0)}
    begin(rules)


def test_budgets_around_count_battles(rules: BattleRules) -> None:
    make.make_price()
    set_budget(None, Decimal(1), "USD")
    set_budget(rules.study, Decimal("0.003"), "USD")
    battle = begin(rules)
    for scope in ("battles", "study", "day"):
        assert Purse.objects.get(scope=scope).reserved == 2 * SIDE
    starting.leave(battle)
    Purse.objects.filter(scope="study").update(spent=Decimal("0.003"))
    with pytest.raises(BattleError, match="What this study may cost is used up"):
        begin(rules)


def test_without_a_price_nothing_begins_within_a_budget(rules: BattleRules) -> None:
    set_battles_budget(rules.study, Decimal(1), "USD")
    with pytest.raises(BattleError, match="a price of a model or its longest answer is not known"):
        begin(rules)
    set_battles_budget(rules.study, None, "USD")
    begin(rules)


def test_who_leaves_voids_the_battle(rules: BattleRules) -> None:
    battle = begin(rules)
    one, other = battle.calls.order_by("side")
    BattleCall.objects.filter(pk=one.pk).update(state="in_flight", deadline=timezone.now())
    starting.leave(battle)
    battle.refresh_from_db()
    assert (battle.state, battle.void, battle.void_by) == ("void", "left", None)
    one.refresh_from_db(), other.refresh_from_db()
    assert (one.state, one.ends_early) == ("in_flight", True)
    assert (other.state, other.error) == ("failed", "Not asked. The visitor left.")
    Battle.objects.update(state="voted", void="")
    starting.leave(battle)
    battle.refresh_from_db()
    assert battle.state == "voted"


def test_stopping_ends_both_answers(rules: BattleRules) -> None:
    battle = begin(rules)
    now = timezone.now()
    battle.calls.update(state="in_flight", deadline=now, text="A. " * 30, shown="A. " * 30, begun_at=now)
    seen = {"begun_at": now, "released": 30, "released_at": now, "pace": 0.001}
    Battle.objects.update(state="answering", **seen)
    starting.stop(battle)
    battle.refresh_from_db()
    assert battle.state == "answering"
    assert set(battle.calls.values_list("ends_early", "shown")) == {(True, "A. " * 10)}
    waiting = begin(rules)
    starting.stop(waiting)
    waiting.refresh_from_db()
    assert waiting.void == "left"


@pytest.mark.parametrize("texts", [("A. " * 40, "B. " * 90), ("A. " * 3, "B. " * 90)])
def test_stopping_ends_both_answers_alike_that_are_complete_and_not_all_seen(
    rules: BattleRules, texts: tuple[str, str]
) -> None:
    battle = begin(rules)
    answer(battle, *texts)
    now = timezone.now()
    Battle.objects.update(begun_at=now, released=33, released_at=now, pace=0.001)
    starting.stop(battle)
    battle.refresh_from_db()
    assert battle.state == "ready"
    assert list(battle.calls.order_by("side").values_list("shown", flat=True)) == [t[:33] for t in texts]
    [turn] = showing.turns(battle)
    assert turn.is_complete
    assert [side.text for side in turn.sides] == [each[:33] for each in texts]


def test_stopping_before_anything_is_seen_leaves_the_battle(rules: BattleRules) -> None:
    battle = begin(rules)
    answer(battle, "A. " * 40, "B. " * 90)
    now = timezone.now()
    Battle.objects.update(begun_at=now, released_at=now, pace=0.001)
    starting.stop(battle)
    battle.refresh_from_db()
    assert (battle.state, battle.void) == ("void", "left")


def test_a_battle_that_waits_for_long_is_void_and_holds_no_money(rules: BattleRules) -> None:
    make.make_price()
    late, fresh = begin(rules), begin(rules)
    long_ago = timezone.now() - timedelta(minutes=16)
    Battle.objects.update(created_at=long_ago)
    assert starting.expire() == 0  # a turn that was begun since
    BattleCall.objects.filter(battle=late).update(created_at=long_ago)
    assert (starting.expire(), starting.expire()) == (1, 0)
    late.refresh_from_db(), fresh.refresh_from_db()
    assert (late.state, late.void, fresh.state) == ("void", "failed", "waiting")
    assert purse(rules) == (0, 2 * SIDE)


def test_models_can_be_chosen_by_people_with_an_account(rules: BattleRules) -> None:
    first, second = rules.authors.all()
    member = make.make_rater(user=make.make_user())

    def chosen(rater: Rater, *authors: Any) -> Battle:
        rules.refresh_from_db()
        return starting.begin(rules, rater, "a", "Why?", chosen=authors)

    for allowed, rater, pair in (
        (False, member, (first, second)),
        (True, make.make_visitor(), (first, second)),
        (True, member, (first, first)),
    ):
        BattleRules.objects.update(lets_choose=allowed)
        with pytest.raises(BattleError, match="Choose two different models"):
            chosen(rater, *pair)
    with pytest.raises(BattleError, match="cannot be asked now"):
        chosen(member, first, make.make_author())
    battle = chosen(member, first, second)
    assert battle.is_chosen
    assert {battle.first, battle.second} == {first.contestant, second.contestant}


@pytest.mark.django_db(transaction=True)
def test_two_tabs_begin_one_battle() -> None:
    make.make_price()
    rules, visitor = make.make_battle_rules(max_tokens=100), make.make_visitor()
    made = at_once(*[lambda: begin(rules, visitor)] * 4)
    assert [type(each) for each in made].count(Battle) == 1
    assert {str(each) for each in made if isinstance(each, Exception)} == {starting.OPEN_ALREADY}
    assert (Battle.objects.count(), BattleCall.objects.count()) == (1, 2)
    assert purse(rules) == (0, 2 * SIDE)


@pytest.mark.django_db(transaction=True)
def test_at_once_nobody_passes_a_limit() -> None:
    rules = make.make_battle_rules(address_daily=3)
    jobs = [partial(begin, rules, make.make_visitor()) for _ in range(6)]
    made = at_once(*jobs)
    assert [type(each) for each in made].count(Battle) == 3
    assert all(isinstance(each, Battle | BattleError) for each in made), made
