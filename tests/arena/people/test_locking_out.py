"""Who guesses is locked out; who shares a name's attackers, or an address with them, is not."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from axes.models import AccessFailureLog
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from arena.people import locking_out
from arena.people.locking_out import COOKIE
from tests import factories as make

pytestmark = pytest.mark.django_db

RIGHT = "seven-rivers-9"
MORNING = datetime(2030, 6, 1, 8, tzinfo=UTC)
GUESSES = 30
"""In a day: more than at one address in an hour, and few enough to be made one by one."""


@pytest.fixture(autouse=True)
def _behind_a_proxy(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.TRUSTED_PROXIES = 1
    monkeypatch.setattr(locking_out, "GUESSES_A_DAY", GUESSES)
    make.make_user(username="ada", password=RIGHT)


def at(number: int) -> str:
    return f"203.0.{number // 250}.{number % 250 + 1}"


def sign_in(client: Client, address: str, password: str = "wrong", name: str = "ada") -> int:
    """The status: 302 signed in, 200 wrong, 429 locked out. Spoofed entries stand left of the true one."""
    headers = {"x-forwarded-for": f"6.6.6.6, {address}"}
    return client.post(
        reverse("account_login"), {"username": name, "password": password}, headers=headers
    ).status_code


def guess(address: str, times: int, name: str = "ada") -> list[int]:
    return [sign_in(Client(), address, name=name) for _ in range(times)]


def test_ten_failures_lock_a_name_at_one_address_for_a_quarter_of_an_hour() -> None:
    with time_machine.travel(MORNING, tick=False) as clock:
        assert guess(at(1), 11) == [200] * 9 + [429, 429]
        assert sign_in(Client(), at(1), RIGHT) == 429
        assert sign_in(Client(), at(2), RIGHT) == 302
        clock.shift(timedelta(minutes=14))
        assert sign_in(Client(), at(1), RIGHT) == 429  # which did not start the quarter of an hour anew
        clock.shift(timedelta(minutes=2))
        assert sign_in(Client(), at(1), RIGHT) == 302


def test_many_people_at_one_address_do_not_lock_each_other_out() -> None:
    for number in range(3):
        make.make_user(username=f"guest-{number}", password=RIGHT)
        guess(at(1), 5, f"guest-{number}")
    assert all(sign_in(Client(), at(1), RIGHT, f"guest-{number}") == 302 for number in range(3))


def test_a_known_browser_is_kept_out_by_its_own_failures_alone() -> None:
    known = Client()
    assert sign_in(known, at(1), RIGHT) == 302
    del known.cookies["sessionid"]
    for number in range(GUESSES // 10):
        guess(at(number), 10)  # from this address, and from many others
    assert sign_in(Client(), at(99), RIGHT) == 429
    assert sign_in(known, at(1), RIGHT) == 302
    del known.cookies["sessionid"]
    assert [sign_in(known, at(1)) for _ in range(10)][-1] == 429
    assert sign_in(known, at(50), RIGHT) == 429


def test_a_cookie_counts_for_its_own_name_and_cannot_be_made_up() -> None:
    make.make_user(username="bob", password=RIGHT)
    bob = Client()
    assert sign_in(bob, at(1), RIGHT, "bob") == 302
    del bob.cookies["sessionid"]
    assert [sign_in(bob, at(1)) for _ in range(11)][-1] == 429  # ada does not know bob's browser
    for made_up in ("nonsense", bob.cookies[COOKIE].value[:-2] + "xx"):
        bob.cookies[COOKIE] = made_up
        assert sign_in(bob, at(1), RIGHT) == 429
    assert "ada" not in bob.cookies[COOKIE].value


def looked_at(address: str) -> int:
    """How many guesses from an address are looked at until one is not."""
    before = AccessFailureLog.objects.count()
    for made in range(GUESSES + 1):
        guess(address, 1)
        if AccessFailureLog.objects.count() == before + made:
            return made
    raise AssertionError("nothing ended the guesses")


@pytest.mark.parametrize("addresses", [1, 100])
def test_guesses_in_a_day(addresses: int) -> None:
    """What docs/accounts.md states: so many passwords of one name are looked at in 24 hours, and no more."""
    with time_machine.travel(MORNING, tick=False) as clock:
        made = []
        for _ in range(24):
            made.append(0)
            for number in range(addresses):
                found = looked_at(at(number))
                made[-1] += found
                if not found:
                    break
            clock.shift(timedelta(hours=1))
        assert made[0] == (10 if addresses == 1 else GUESSES)
        assert sum(made) == GUESSES
        clock.shift(timedelta(minutes=-30))
        assert guess(at(200), 1) == [429]
        call_command("axes_reset_username", "ada")
        assert guess(at(200), 1) == [200]
        clock.shift(timedelta(minutes=30))
        assert guess(at(200), 1) == [200]  # the next day
    assert not AccessFailureLog.objects.filter(attempt_time__lte=MORNING).exists()
