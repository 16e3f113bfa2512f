"""Work that a browser proves before a battle: none at first, more with use, once for each battle."""

import hashlib
from datetime import timedelta
from itertools import count

import pytest
import time_machine
from django.utils import timezone

from arena.models import Rater
from judging.battles import work
from judging.battles.errors import BattleError
from judging.models import BattleRules
from tests import factories as make

pytestmark = pytest.mark.django_db
LEFT = {"state": "void", "void": "left"}


@pytest.fixture
def rules() -> BattleRules:
    return make.make_battle_rules()


@pytest.fixture
def visitor() -> Rater:
    return make.make_visitor()


def battles(rules: BattleRules, number: int, rater: Rater | None = None, address: str = "") -> None:
    for _ in range(number):
        make.make_battle(rules=rules, rater=rater or make.make_visitor(), address=address, **LEFT)


def proved(challenge: work.Challenge) -> str:
    for number in count():
        digest = hashlib.sha256(f"{challenge.token}:{number}".encode()).hexdigest()
        if int(digest, 16) < 2 ** (256 - challenge.bits):
            return str(number)
    raise AssertionError


@pytest.mark.parametrize(
    ("own", "there", "bits"), [(2, 10, 0), (3, 0, 12), (0, 20, 13), (5, 10, 13), (10, 30, 15), (39, 90, 20)]
)
def test_it_rises_with_use(rules: BattleRules, visitor: Rater, own: int, there: int, bits: int) -> None:
    battles(rules, own, visitor, "a" if own < 39 else "b")
    battles(rules, max(0, there - own), address="a")
    battles(make.make_battle_rules(), 3, visitor, "a")  # elsewhere
    assert work.asked_bits(rules, visitor, "a") == bits
    assert work.asked_bits(rules, make.make_rater(), "a") == 0  # somebody with an account
    with time_machine.travel(timezone.now() + timedelta(days=1)):
        assert work.asked_bits(rules, visitor, "a") == 0


def test_the_first_battles_need_none(rules: BattleRules, visitor: Rater) -> None:
    assert work.challenge(rules, visitor, "a").bits == 0
    work.check(rules, visitor, "a", "", "")


def test_each_battle_is_worked_for_once(rules: BattleRules, visitor: Rater) -> None:
    battles(rules, 3, visitor)
    asked = work.challenge(rules, visitor, "")
    answer = proved(asked)
    work.check(rules, visitor, "", asked.token, answer)
    battles(rules, 1, visitor)
    with pytest.raises(BattleError, match="its battle has begun already"):
        work.check(rules, visitor, "", asked.token, answer)


def test_what_proves_nothing(rules: BattleRules, visitor: Rater) -> None:
    battles(rules, 3, visitor)
    asked = work.challenge(rules, visitor, "")
    answer = proved(asked)
    other, elsewhere = make.make_visitor(), make.make_battle_rules()
    battles(rules, 3, other)
    battles(elsewhere, 3, visitor)
    for who, where, token, proof in (
        (visitor, rules, "", ""),
        (visitor, rules, asked.token, ""),
        (visitor, rules, asked.token, f"{answer} "),
        (visitor, rules, asked.token, "\udcff"),
        (visitor, rules, f"{asked.token}x", answer),
        (other, rules, asked.token, answer),
        (visitor, elsewhere, asked.token, answer),
    ):
        with pytest.raises(BattleError):
            work.check(where, who, "", token, proof)
    with time_machine.travel(timezone.now() + timedelta(minutes=61)), pytest.raises(BattleError):
        work.check(rules, visitor, "", asked.token, answer)
    with pytest.raises(BattleError, match="Let this page run its script, or sign in"):
        work.check(rules, visitor, "", "", "")


def test_a_little_more_use_since_the_page_was_made_is_no_matter(rules: BattleRules, visitor: Rater) -> None:
    battles(rules, 3, visitor)
    asked = work.challenge(rules, visitor, "a")
    answer = proved(asked)
    battles(rules, 40, address="a")
    work.check(rules, visitor, "a", asked.token, answer)
    battles(rules, 20, address="a")
    with pytest.raises(BattleError, match="open for too long"):
        work.check(rules, visitor, "a", asked.token, answer)
