"""What operators watch of battles."""

import random
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from arena.api.auth import issue_token
from arena.models import Comparison, Membership
from judging.battles.voting import vote
from judging.models import Battle, BattleCall, Purse
from judging.spending.reservations import battles_purse
from leaderboard.battles import watching
from tests.factories import (
    make_author,
    make_battle,
    make_battle_call,
    make_battle_rules,
    make_client,
    make_contestant,
    make_member,
    make_rater,
    make_study,
    make_user,
    make_visitor,
)

pytestmark = pytest.mark.django_db

A, B = "It scatters light.", "Short waves scatter more."


def make_rules(*names: str) -> Any:
    study = make_study(visibility="public")
    authors = [make_author(contestant=make_contestant(study=study, name=name)) for name in names]
    return make_battle_rules(study=study, authors=authors)


def make_votes(rules: Any, rater: Any, favourite: str, count: int, seconds: int = 60) -> None:
    """Votes for one model whenever it is there, which it is on either side."""
    first, second = rules.authors.order_by("pk")[:2]
    for number in range(count):
        sides = [first.contestant, second.contestant][:: 1 if number % 2 else -1]
        battle = make_battle(
            rater=rater, rules=rules, state="ready", first=sides[0], second=sides[1], released=1000,
            begun_at=timezone.now() - timedelta(seconds=seconds), released_at=timezone.now(),
        )  # fmt: skip
        for side, text in enumerate((A, B)):
            make_battle_call(battle=battle, side=side, text=text, state="replied")
        vote(battle, 1 if sides[0].name == favourite else 8, False)


def test_a_bot_of_one_visitor_is_seen_at_a_glance() -> None:
    rules = make_rules("Alder", "Birch")
    bot = make_visitor(name="Visitor bot")
    make_votes(rules, bot, "Birch", 300, seconds=0)
    rng = random.Random(1)
    for _ in range(8):
        person = make_visitor()
        for _ in range(6):
            make_votes(rules, person, rng.choice(["Alder", "Birch"]), 1)
    found = watching.visitors(rules.study)
    busiest = found[0]
    assert (busiest.rater, busiest.ratings, busiest.model) == (bot, 300, "Birch")
    assert busiest.share == pytest.approx(300 / 348)
    assert busiest.leaning is not None
    assert (busiest.leaning.wins, busiest.leaning.n) == (300, 300)
    assert busiest.leaning.chance < 1e-9
    assert busiest.moves is not None
    assert busiest.moves < 0
    assert busiest.fast == 1.0
    assert (busiest.for_first, busiest.decided) == (150, 300)
    assert [each.rater for each in found if each.is_striking] == [bot]
    page = make_client(make_user(is_staff=True)).get(f"/operate/{rules.study.slug}/battles/watch/")
    assert page.content.decode().count("look at this") == 1
    assert f"/operate/{rules.study.slug}/raters/{bot.pk}/" in page.content.decode()


def test_a_visitor_is_left_out_as_raters_are() -> None:
    rules = make_rules("Alder", "Birch")
    bot = make_visitor()
    Membership.objects.create(study=rules.study, rater=bot, role="viewer")
    make_votes(rules, bot, "Birch", 3)
    address = f"/operate/{rules.study.slug}/raters/{bot.pk}/decide/"
    make_client(make_user(is_staff=True)).post(address, {"decision": "leave-out", "note": "A bot."})
    assert not Comparison.objects.counted(rules.study).exists()
    assert watching.visitors(rules.study)[0].left_out


def test_one_who_always_says_a_is_seen() -> None:
    rules = make_rules("Alder", "Birch")
    rater = make_visitor()
    for _ in range(20):
        vote(make_battle(A, B, rules=rules, rater=rater), 1, False)
    found = watching.visitors(rules.study)[0]
    assert (found.for_first, found.decided) == (20, 20)
    assert found.side_chance == pytest.approx(2 * 0.5**20)
    assert found.is_striking


def test_battles_are_counted_by_the_hour() -> None:
    rules = make_rules("Alder", "Birch")
    now = timezone.now()
    make_battle(rules=rules, state="void", void="left")
    vote(make_battle(A, B, rules=rules, created_at=now - timedelta(hours=2)), 3, False)
    make_battle(rules=rules, created_at=now - timedelta(hours=30), state="void", void="left")
    hours = watching.hours(rules.study, now)
    assert len(hours) == 24
    assert [(at, each.begun, each.voted, each.void) for at, each in enumerate(hours) if each.begun] == [
        (0, 1, 0, 1),
        (2, 1, 1, 0),
    ]


def test_speed_and_failures_are_told_by_model() -> None:
    rules = make_rules("Alder", "Birch")
    battle = make_battle(A, B, rules=rules)
    start = timezone.now() - timedelta(seconds=30)
    for side, seconds in ((0, 2), (1, 4)):
        begun = start + timedelta(seconds=seconds)
        BattleCall.objects.filter(battle=battle, side=side).update(
            created_at=start, begun_at=begun, finished_at=begun + timedelta(seconds=9), text="x" * 90
        )
    make_battle_call(battle=battle, side=1, state="failed", is_current=False, error_kind="refused")
    make_battle(rules=rules, state="void", void="hung", void_by=battle.first)
    make_battle(rules=rules, state="void", void="budget")
    alder, birch = watching.models(rules.study, timezone.now())
    assert (alder.first_words, alder.pace, alder.failures) == (2, 10, "void: an answer stopped coming 1")
    assert (birch.first_words, birch.failures) == (4, "replaced unseen: refused 1")
    assert watching.void_of_nobody(rules.study, timezone.now()) == [(Battle.Void.BUDGET, 1)]


def test_kinds_of_votes_and_the_queue_are_counted() -> None:
    rules = make_rules("Alder", "Birch")
    vote(make_battle(A, B, rules=rules, rater=make_member(rules.study)), 3, False)
    vote(make_battle(A, B, rules=rules), None, True)
    make_battle(rules=rules)
    counted = watching.votes(rules.study)
    assert counted["all"] == 2
    assert (counted["with_account"], counted["without_account"], counted["neither"]) == (1, 1, 1)
    assert watching.queue(rules.study)["waiting"] == 1


def test_money_of_today_stands_against_the_budget() -> None:
    rules = make_rules("Alder", "Birch")
    assert watching.money(rules.study) is None
    with transaction.atomic():
        purse = battles_purse(rules.study)
    Purse.objects.filter(pk=purse.pk).update(budget=4, spent=1, reserved=1, currency="USD")
    found = watching.money(rules.study)
    assert found is not None
    assert (found.sentence, found.limit, found.used) == (
        "1.00 USD spent, at most 1.00 USD more for what is being asked.",
        "4.00 USD",
        50.0,
    )
    Purse.objects.filter(pk=purse.pk).update(day=timezone.localdate() - timedelta(days=1))
    assert watching.money(rules.study) == watching.Money(Decimal(0), Decimal(1), Decimal(4), "USD")


def test_what_was_stopped_is_escaped_and_can_be_removed() -> None:
    rules = make_rules("Alder", "Birch")
    battle = make_battle(rules=rules, state="void", void="prompt", turns=["<img src=x onerror=alert(1)>"])
    ada = make_client(make_user(is_staff=True))
    page = ada.get(f"/operate/{rules.study.slug}/battles/watch/").content.decode()
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert "<img src=x" not in page
    ada.post(f"/operate/{rules.study.slug}/battles/{battle.pk}/remove/")
    assert Battle.objects.get().void == "removed"
    assert watching.removed(rules.study) == 1
    assert not watching.looked_at(rules.study)


def test_the_api_tells_operators_what_the_page_does(client: Client) -> None:
    rules = make_rules("Alder", "Birch")
    vote(make_battle(A, B, rules=rules), None, True)
    make_battle(rules=rules, state="void", void="hung", void_by=rules.authors.first().contestant)
    make_battle(rules=rules, state="void", void="budget")
    with transaction.atomic():
        purse = battles_purse(rules.study)
    Purse.objects.filter(pk=purse.pk).update(budget=4, spent=1, currency="USD")
    address = f"/api/v1/studies/{rules.study.slug}/battles/"
    tokens = [issue_token(make_rater(user=make_user(is_staff=staff))) for staff in (True, False)]
    operator, person = ({"authorization": f"Bearer {token}"} for token in tokens)
    assert [client.get(address, headers=who).status_code for who in ({}, person)] == [403, 403]
    reply = client.get(address, headers=operator)
    told = reply.json()
    assert told["hours"][0] | {"start": ""} == {"start": "", "begun": 3, "voted": 1, "void": 2}
    assert [(each["answers"], each["void"]) for each in told["models"]] == [(0, {"hung": 1}), (0, {})]
    assert (told["votes"]["all"], told["votes"]["neither"]) == (1, 1)
    assert told["void"] == {"budget": 1}
    assert told["money"] == {
        "spent": "1.00000000",
        "reserved": "0.00000000",
        "budget": "4.000000",
        "currency": "USD",
    }
    assert client.get("/api/v1/studies/none/battles/", headers=operator).status_code == 404
    same = {**operator, "if-none-match": reply["ETag"]}
    assert client.get(address, headers=same).status_code == 304


def test_operators_of_other_studies_see_nothing(client: Client) -> None:
    battle = make_battle(rules=make_rules("Alder", "Birch"))
    other = make_user()
    make_member(make_study(), user=other)
    Membership.objects.update(role="operator")
    client.force_login(other)
    start = f"/operate/{battle.study.slug}/battles"
    for page in ("", "/watch", "/prompts", "/categories"):
        assert client.get(f"{start}{page}/").status_code == 404
    assert client.post(f"{start}/{battle.pk}/remove/").status_code == 404
