"""Who may battle, how a stranger is known again, and what is not kept of where they come from."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import AnonymousUser
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from django.utils import timezone

from arena.models import Membership, Rater
from arena.pages.permissions import viewable
from judging.battles import visitors
from judging.battles.errors import BattleError
from judging.battles.starting import CLOSED
from judging.models import BattleRules
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def rules() -> BattleRules:
    return make.make_battle_rules(consent="Operators read it.")


def asking(user: Any = None, cookie: str = "", address: str = "203.0.113.7") -> HttpRequest:
    request = RequestFactory().get("/battle/x/", REMOTE_ADDR=address)
    request.user = user or AnonymousUser()
    request.COOKIES = {"visitor": cookie} if cookie else {}
    return request


def admitted(rules: BattleRules, request: HttpRequest | None = None) -> tuple[Rater, str]:
    response = HttpResponse()
    rater = visitors.admit(request or asking(), response, rules)
    return rater, response.cookies["visitor"].value if "visitor" in response.cookies else ""


def test_a_stranger_who_agrees_is_known_again(rules: BattleRules) -> None:
    assert visitors.met(asking(), rules)[0] is None
    assert visitors.met(asking(), rules)[1] == visitors.AGREE
    response = HttpResponse()
    rater = visitors.admit(asking(), response, rules)
    cookie = response.cookies["visitor"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/battle/")
    assert int(cookie["max-age"]) == 180 * 24 * 3600
    assert (rater.is_visitor, rater.user, rater.kind) == (True, None, "person")
    membership = Membership.objects.get()
    assert (membership.rater, membership.role, membership.consent) == (rater, "viewer", "Operators read it.")
    assert membership.consented_at
    back = asking(cookie=cookie.value)
    assert visitors.met(back, rules)[0] == rater
    assert visitors.met(back, rules)[1] == ""
    assert admitted(rules, back)[0] == rater  # again: nobody new
    assert Rater.objects.filter(is_visitor=True).count() == 1
    # Elsewhere they are the same visitor, who is asked to agree there.
    other = make.make_battle_rules()
    assert visitors.met(back, other)[1] == visitors.AGREE
    assert admitted(other, back)[0] == rater


def test_the_cookie_is_sent_over_https_alone_where_sessions_are(rules: BattleRules, settings: Any) -> None:
    settings.SESSION_COOKIE_SECURE = True
    response = HttpResponse()
    visitors.admit(asking(), response, rules)
    assert response.cookies["visitor"]["secure"] is True


def test_a_cookie_that_is_forged_or_old_names_nobody(rules: BattleRules) -> None:
    rater, cookie = admitted(rules)
    person = make.make_member(rules.study)
    value, signature = cookie.rsplit(":", 1)
    for forged in (
        rater.slug,
        f"{value}:{signature[::-1]}",
        signing.dumps(rater.slug, salt="another"),
        signing.dumps(rater.slug, key="another", salt=visitors.SALT),
        signing.dumps(person.slug, salt=visitors.SALT),  # of somebody with an account
        signing.dumps({"x": [1]}, salt=visitors.SALT),
        signing.dumps("\0", salt=visitors.SALT),
        "\0",
        "x" * 5000,
    ):
        assert visitors.met(asking(cookie=forged), rules)[0] is None
    with time_machine.travel(timezone.now() + timedelta(days=179)):
        assert visitors.met(asking(cookie=cookie), rules)[0] == rater
    with time_machine.travel(timezone.now() + timedelta(days=181)):
        assert visitors.met(asking(cookie=cookie), rules)[0] is None


def test_a_copied_cookie_is_the_same_visitor(rules: BattleRules) -> None:
    rater, cookie = admitted(rules)
    copied = asking(cookie=cookie, address="198.51.100.1")
    assert visitors.met(copied, rules)[0] == rater  # whose limits hold for both
    rater.delete()
    assert visitors.met(copied, rules)[0] is None


def test_people_battle_as_the_rater_they_are(rules: BattleRules) -> None:
    user = make.make_user()
    assert visitors.met(asking(user), rules)[1] == visitors.AGREE
    assert not Rater.objects.exists()  # looking makes nobody a rater
    rater, cookie = admitted(rules, asking(user))
    assert (rater.user, rater.is_visitor, cookie) == (user, False, "")
    assert visitors.met(asking(user), rules)[0] == rater
    _, strange = admitted(rules)
    assert visitors.met(asking(user, cookie=strange), rules)[0] == rater


def test_who_agrees_sees_no_more_than_before(rules: BattleRules) -> None:
    user = make.make_user()
    admitted(rules, asking(user))
    hidden = make.make_battle_rules(study=make.make_study(visibility="private"))
    with pytest.raises(BattleError, match="Only members of this study can battle"):
        admitted(hidden, asking(user))
    assert list(viewable(user)) == [rules.study]
    assert Membership.objects.get().role == "viewer"


def test_members_keep_their_role_and_what_they_agreed_to(rules: BattleRules) -> None:
    member = make.make_member(rules.study)
    Membership.objects.update(consent="To rate.", consented_at=timezone.now())
    assert visitors.met(asking(member.user), rules)[1] == visitors.AGREE
    admitted(rules, asking(member.user))
    membership = Membership.objects.get()
    assert (membership.role, membership.consent) == ("rater", "To rate.\n\nOperators read it.")


def test_another_text_is_agreed_to_anew(rules: BattleRules) -> None:
    rater, cookie = admitted(rules)
    BattleRules.objects.update(consent="Everybody reads it.")
    rules.refresh_from_db()
    assert visitors.met(asking(cookie=cookie), rules)[1] == visitors.AGREE
    assert admitted(rules, asking(cookie=cookie))[0] == rater
    assert visitors.met(asking(cookie=cookie), rules)[0] == rater


@pytest.mark.parametrize(
    ("open_to", "visibility", "stranger", "account", "member"),
    [
        ("nobody", "public", CLOSED, CLOSED, CLOSED),
        ("members", "public", visitors.MEMBERS, visitors.MEMBERS, visitors.AGREE),
        ("accounts", "public", visitors.SIGN_IN, visitors.AGREE, visitors.AGREE),
        ("everybody", "public", visitors.AGREE, visitors.AGREE, visitors.AGREE),
        ("everybody", "private", visitors.MEMBERS, visitors.MEMBERS, visitors.AGREE),
    ],
)
def test_who_may_battle(open_to: str, visibility: str, stranger: str, account: str, member: str) -> None:
    rules = make.make_battle_rules(study=make.make_study(visibility=visibility), open_to=open_to)
    people = (None, make.make_user(), make.make_member(rules.study).user)
    assert [visitors.met(asking(each), rules)[1] for each in people] == [stranger, account, member]


def test_who_is_paused_does_not_battle(rules: BattleRules) -> None:
    _, cookie = admitted(rules)
    Membership.objects.update(paused_at=timezone.now())
    assert visitors.met(asking(cookie=cookie), rules)[1] == visitors.PAUSED
    Membership.objects.update(paused_at=None)
    Rater.objects.update(paused_at=timezone.now())
    assert visitors.met(asking(cookie=cookie), rules)[0] is None
    with pytest.raises(BattleError, match="have paused you"):
        admitted(rules, asking(cookie=cookie))


def test_an_address_has_one_digest_a_day_that_nobody_can_link(rules: BattleRules) -> None:
    def of(address: str = "203.0.113.7", of_rules: BattleRules = rules) -> str:
        of_rules.refresh_from_db()
        return visitors.address(asking(address=address), of_rules)

    today, salt = of(), bytes(rules.salt)
    assert (today, of("2001:db8::1")) == (of(), of("2001:db8::2"))
    assert today != of("203.0.113.8")
    assert today != of(of_rules=make.make_battle_rules())
    assert "203" not in today
    stale = BattleRules.objects.get(pk=rules.pk)  # as another process has them
    with time_machine.travel(timezone.now() + timedelta(days=1)):
        tomorrow = of()
        assert tomorrow != today
        assert visitors.address(asking(), stale) == tomorrow
    with time_machine.travel(timezone.now() + timedelta(days=2)):
        assert (visitors.renew_salts(), visitors.renew_salts()) == (2, 0)  # of both studies
    # Yesterday's salt is nowhere any more.
    assert bytes(BattleRules.objects.get(pk=rules.pk).salt) not in (salt, b"")
