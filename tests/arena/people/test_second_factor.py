"""The second factor: setting it up, signing in with it, and where it is required."""

import re
from typing import Any

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone

from arena.models import StudyEvent
from tests import factories as make

pytestmark = pytest.mark.django_db

SET_UP = "/account/second-factor/set-up/"
CODES = "/account/second-factor/codes/"
CODE = "/account/second-factor/code/"


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    cache.clear()


def code_of(secret: str) -> str:
    now = next(iter(yield_hotp_counters_from_time()))
    return str(format_hotp_value(hotp_value(secret, now)))


def confirm(client: Client) -> None:
    assert client.post("/account/confirm/", {"password": "pw"}).status_code == 302


def set_up(client: Client) -> tuple[str, list[str]]:
    """The key and the recovery codes."""
    confirm(client)
    page = client.get(SET_UP).content.decode()
    secret = re.findall(r"<code>(\w+)</code>", page)[0]
    assert 'src="data:image/svg+xml;base64,' in page
    assert client.post(SET_UP, {"code": code_of(secret)})["Location"] == CODES
    cache.clear()  # as if half a minute had passed, and there were another code
    codes = re.findall(r"^(?: *<pre[^>]*>)?(\d{8})$", client.get(CODES).content.decode(), re.M)
    assert len(codes) == 10
    return secret, codes


def password(client: Client, name: str = "ada") -> Any:
    return client.post("/account/sign-in/", {"username": name, "password": "pw"})


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


@pytest.fixture
def ada(client: Client) -> Client:
    client.force_login(make.make_user(username="ada"))
    return client


def test_set_up_needs_the_password_once_more(ada: Client) -> None:
    assert ada.get(SET_UP)["Location"].startswith("/account/confirm/?next=")
    wrong = ada.post("/account/confirm/", {"password": "wrong"})
    assert "This is not your password." in wrong.content.decode()
    confirm(ada)
    assert "This code is wrong." in ada.post(SET_UP, {"code": "000000"}).content.decode()
    assert not Authenticator.objects.exists()


@pytest.mark.parametrize("factor", ["authenticator app", "recovery codes", ""])
def test_the_log_says_by_what_an_operator_signed_in(client: Client, factor: str) -> None:
    client.force_login(make.make_user(username="ada", is_staff=True))
    browser = Client()
    if factor:
        secret, codes = set_up(client)
        password(browser)
        browser.post(CODE, {"code": code_of(secret) if factor == "authenticator app" else codes[0]})
    else:
        password(browser)
    assert is_in(browser)
    signed_in = StudyEvent.objects.filter(kind="signed_in").order_by("pk").last()
    assert signed_in.note == f"By password{' and ' if factor else ''}{factor}."  # type: ignore[union-attr]


def test_the_password_alone_signs_nobody_in_and_each_code_works_once(ada: Client) -> None:
    secret, codes = set_up(ada)
    browser = Client()
    assert password(browser)["Location"] == CODE
    assert not is_in(browser)
    assert browser.get("/account/sign-in/")["Location"] == CODE
    again = browser.post("/account/sign-out/?next=/account/sign-in/", follow=True)
    assert again.redirect_chain == [("/account/sign-in/", 302)]
    password(browser)
    assert browser.get("/rate/demo/").status_code in (302, 404)
    assert "This code is wrong." in browser.post(CODE, {"code": "123456"}).content.decode()
    assert browser.post(CODE, {"code": code_of(secret)})["Location"] == "/"
    assert is_in(browser)
    for works in (True, False):
        recovering = Client()
        password(recovering)
        recovering.post(CODE, {"code": codes[0]})
        assert is_in(recovering) is works
    assert "9 recovery codes left" in ada.get("/account/second-factor/").content.decode()


@pytest.mark.parametrize("after", [SET_UP, CODE, "/account/second-factor/confirm/"])
def test_every_code_works_once_wherever_it_was_used(
    ada: Client, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, after: str
) -> None:
    frozen = time_machine.travel(timezone.now(), tick=False)
    frozen.start()
    request.addfinalizer(frozen.stop)
    secret, code = "A" * 32, code_of("A" * 32)
    monkeypatch.setattr("allauth.mfa.totp.internal.auth.generate_totp_secret", lambda: secret)
    confirm(ada)
    ada.get(SET_UP)
    assert ada.post(SET_UP, {"code": code}).status_code == 302
    if after != SET_UP:
        cache.clear()
        first = Client() if after == CODE else ada
        if after == CODE:
            password(first)
        assert first.post(after, {"code": code}).status_code == 302
    browser = Client()
    password(browser)
    assert "This code is wrong." in browser.post(CODE, {"code": code}).content.decode()
    assert not is_in(browser)


def test_what_security_counts_is_in_the_database(settings: Any) -> None:
    """Redis may be away, and staff sign in all the same."""
    assert settings.CACHES["default"]["BACKEND"] == "django.core.cache.backends.db.DatabaseCache"
    cache.set("code", "used")
    with connection.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM cache")
        assert cursor.fetchone() == (1,)


def test_codes_cannot_be_guessed(ada: Client) -> None:
    secret, _ = set_up(ada)
    browser = Client()
    password(browser)
    for _guess in range(5):
        browser.post(CODE, {"code": "000000"})
    refused = browser.post(CODE, {"code": code_of(secret)})
    assert "Too many wrong codes." in refused.content.decode()
    assert not is_in(browser)


def test_the_database_alone_gives_no_codes_away(ada: Client, settings: Any) -> None:
    secret, codes = set_up(ada)
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in stored
    assert not any(code in stored for code in codes)
    settings.SECRET_KEY = "another one of at least 32 characters"
    browser = Client()
    password(browser)
    assert not is_in(browser)


def test_removing_it(ada: Client) -> None:
    set_up(ada)
    assert ada.post("/account/second-factor/remove/")["Location"] == "/account/second-factor/"
    assert not Authenticator.objects.exists()
    browser = Client()
    password(browser)
    assert is_in(browser)


def test_staff_set_it_up_first_where_it_is_required(client: Client, settings: Any) -> None:
    settings.REQUIRE_SECOND_FACTOR = True
    client.force_login(make.make_user(username="staff", is_staff=True))
    for place in ("/operate/", "/judging/", "/admin/", "/"):
        assert client.get(place)["Location"] == SET_UP
    assert client.get("/operate/", headers={"HX-Request": "true"})["HX-Redirect"] == SET_UP
    assert "Staff accounts need a second factor here." in client.get("/account/").content.decode()
    set_up(client)
    assert client.get("/operate/").status_code == 200
    refused = client.post("/account/second-factor/remove/")
    assert "Staff accounts need a second factor here." in refused.content.decode()
    assert Authenticator.objects.filter(type="totp").exists()
    person = make.make_client(make.make_user())
    assert person.get("/").status_code == 200
