"""Changing and resetting a password, and what ends sessions."""

import re
from smtplib import SMTPException
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core.cache import cache
from django.core.mail import EmailMessage
from django.test import Client

from arena.process.environment import ImproperEnvironment, mail_server
from tests import factories as make

pytestmark = pytest.mark.django_db

RESET = "/account/password/reset/"
NEW = {"password1": "seven-rivers-9", "password2": "seven-rivers-9"}


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    cache.clear()


@pytest.fixture
def _mail(settings: Any) -> None:
    settings.SENDS_MAIL, settings.PUBLIC_URL = True, "https://arena.example"


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def signs_in(name: str, password: str) -> bool:
    client = Client()
    client.post("/account/sign-in/", {"username": name, "password": password})
    return is_in(client)


def test_a_changed_password_ends_all_other_sessions(client: Client) -> None:
    user = make.make_user(username="ada")
    other = Client()
    for each in (client, other):
        each.force_login(user)
    wrong = client.post("/account/password/", {"oldpassword": "no", **NEW})
    assert "This is not your password." in wrong.content.decode()
    assert client.post("/account/password/", {"oldpassword": "pw", **NEW})["Location"] == "/account/"
    assert "Password changed." in client.get("/account/").content.decode()
    assert (is_in(client), is_in(other)) == (True, False)
    assert signs_in("ada", NEW["password1"])


def test_without_mail_the_sign_in_page_says_whom_to_ask(client: Client) -> None:
    assert (
        "Lost your password? Ask the operator for a new one."
        in client.get("/account/sign-in/").content.decode()
    )
    assert client.get(RESET).status_code == 404
    client.force_login(make.make_user())
    assert client.get("/account/email/").status_code == 404


@pytest.mark.usefixtures("_mail")
def test_a_password_is_reset_by_mail_once(client: Client, mailoutbox: list[EmailMessage]) -> None:
    user = make.make_user(username="ada", email="ada@example.org")
    session = make.make_client(user)
    assert RESET in client.get("/account/sign-in/").content.decode()
    asked = client.post(RESET, {"email": "ADA@example.org"}, headers={"host": "testserver:666"})
    assert asked["Location"] == f"{RESET}sent/"
    [mail] = mailoutbox
    assert "666" not in str(mail.message()), "whoever asks may name any port"
    assert (mail.subject, mail.to) == ("Reset your password", ["ada@example.org"])
    link = re.findall(r"https://arena\.example(\S+)", str(mail.body))[0]
    form = client.get(link)["Location"]
    assert user.username not in form
    short = client.post(form, {"password1": "a", "password2": "a"})
    assert "too short" in short.content.decode()
    assert client.post(form, NEW)["Location"] == f"{RESET}done/"
    assert not is_in(client)
    assert not is_in(session)
    assert signs_in("ada", NEW["password1"])
    assert "no longer valid" in Client().get(link).content.decode()


@pytest.mark.usefixtures("_mail")
def test_a_reset_lets_its_browser_in_while_others_guess(
    client: Client, mailoutbox: list[EmailMessage]
) -> None:
    make.make_user(username="ada", email="ada@example.org")
    guesses = {"username": "ada", "password": "wrong"}
    for _ in range(10):
        locked = Client().post("/account/sign-in/", guesses)
    page = locked.content.decode()
    assert (locked.status_code, RESET in page, "Too many attempts" in page) == (429, True, True)
    client.post(RESET, {"email": "ada@example.org"})
    form = client.get(re.findall(r"https://arena\.example(\S+)", str(mailoutbox[0].body))[0])["Location"]
    client.post(form, NEW)
    assert not signs_in("ada", NEW["password1"])
    client.post("/account/sign-in/", {"username": "ada", "password": NEW["password1"]})
    assert is_in(client)


@pytest.mark.usefixtures("_mail")
def test_nobody_learns_from_a_reset_whether_there_is_an_account(
    client: Client, mailoutbox: list[EmailMessage], django_assert_max_num_queries: Any
) -> None:
    """One page and one mail in each case, which take alike long."""
    make.make_user(email="ada@example.org")
    elsewhere = make.make_user(email="oidc@example.org")
    elsewhere.set_unusable_password()
    elsewhere.save()
    make.make_user(email="closed@example.org", is_active=False)
    pages = []
    for name in ("ada", "oidc", "closed", "nobody"):
        with django_assert_max_num_queries(40):
            sent = Client().post(RESET, {"email": f"{name}@example.org"}, follow=True)
        pages.append((sent.redirect_chain, sent.status_code, _without_tokens(sent.content.decode())))
    assert all(page == pages[0] for page in pages)
    assert [("To choose one" in str(mail.body)) for mail in mailoutbox] == [True, False, False, False]


def _without_tokens(page: str) -> str:
    return re.sub(r'value="[^"]+"', "", page)


@pytest.mark.usefixtures("_mail")
def test_a_mail_that_cannot_be_sent_changes_no_reply(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert client.post(RESET, {"email": "ada@\u00ad.example"})["Location"] == f"{RESET}sent/"
    assert "could not be sent" in caplog.text
    caplog.clear()

    def fail(*args: Any) -> None:
        raise SMTPException("no")

    monkeypatch.setattr(EmailMessage, "send", fail)
    assert client.post(RESET, {"email": "ada@example.org"})["Location"] == f"{RESET}sent/"
    assert "could not be sent" in caplog.text


@pytest.mark.usefixtures("_mail")
def test_mails_to_one_address_are_limited(client: Client, mailoutbox: list[EmailMessage]) -> None:
    replies = [client.post(RESET, {"email": "ada@example.org"}).status_code for _ in range(7)]
    assert replies == [302] * 5 + [429] * 2
    assert len(mailoutbox) == 5


@pytest.mark.usefixtures("_mail")
def test_an_entered_address_counts_once_it_is_confirmed(
    client: Client, mailoutbox: list[EmailMessage]
) -> None:
    user = make.make_user(username="ada")
    client.force_login(user)
    entered = {"email": "ada@example.org", "action_add": ""}
    assert client.post("/account/email/", entered)["Location"].startswith("/account/confirm/")
    client.post("/account/confirm/", {"password": "pw"})
    client.post("/account/email/", entered)
    assert "is not confirmed yet" in client.get("/account/email/").content.decode()
    link = re.findall(r"https://arena\.example(\S+)", str(mailoutbox[0].body))[0]
    assert "is the address of ada" in client.get(link).content.decode()
    client.post(link)
    assert EmailAddress.objects.get().verified
    assert "Your address is <strong>ada@example.org" in client.get("/account/email/").content.decode()
    assert "no longer valid" in client.get("/account/email/key/nonsense/").content.decode()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("", ("localhost", 25, "", "", False, False)),
        ("smtp://mail.example", ("mail.example", 25, "", "", False, False)),
        ("smtp+tls://me%40x:p%2Fw@mail.example", ("mail.example", 587, "me@x", "p/w", True, False)),
        ("smtps://me:pw@mail.example:2465", ("mail.example", 2465, "me", "pw", False, True)),
    ],
)
def test_the_mail_server_of_a_url(url: str, expected: object) -> None:
    assert mail_server(url) == expected


@pytest.mark.parametrize("url", ["mail.example", "https://mail.example", "smtp://", "smtp://:secret@x:port"])
def test_a_wrong_mail_server_is_named_without_its_password(url: str) -> None:
    with pytest.raises(ImproperEnvironment, match="EMAIL_URL must be") as error:
        mail_server(url)
    assert "secret" not in str(error.value)
