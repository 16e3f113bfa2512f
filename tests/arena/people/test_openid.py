"""Signing in by OpenID Connect, with a real provider on loopback."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.test import Client

from arena.models import Invitation, Membership
from arena.process.environment import ImproperEnvironment, openid_providers
from tests import factories as make
from tests.arena.people.provider import Provider, back, published

pytestmark = pytest.mark.django_db

ADDRESS = "/account/openid/oidc/"
CALLBACK = f"{ADDRESS}callback/"
CONFIRMED = {"email": "ada@example.org", "email_verified": True}


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    provider = Provider()
    configure(settings, provider)
    yield provider
    provider.close()


def providers(environment: dict[str, str]) -> list[dict[str, Any]]:
    return openid_providers(lambda name: environment.get(name, ""))


def configure(settings: Any, provider: Provider, **given: str) -> None:
    environment = {
        "SERVER": provider.url,
        "CLIENT_ID": "arena",
        "CLIENT_SECRET": "of the arena",
        "NAME": "Uni",
    }
    found = providers({f"OIDC_{name.upper()}": value for name, value in (environment | given).items()})
    settings.OIDC_PROVIDERS = found
    as_set = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {**as_set, "APPS": found}}


def come_back(client: Client, provider: Provider, wanted: str = "") -> str:
    """Go to the provider, sign in there; the address with which one comes back."""
    going = client.get(ADDRESS, {"next": wanted} if wanted else {})
    assert going.status_code == 302, going.content.decode()
    return back(CALLBACK, provider.authorize(going["Location"]))


def sign_in(client: Client, provider: Provider, wanted: str = "") -> Any:
    return client.get(come_back(client, provider, wanted))


def who(client: Client) -> User | None:
    return User.objects.filter(pk=client.session.get("_auth_user_id")).first()


def test_the_first_time_makes_an_account_without_rights_and_later_finds_it(
    client: Client, provider: Provider
) -> None:
    provider.claims |= CONFIRMED
    page = client.get("/account/sign-in/?next=/rate/").content.decode()
    assert "Sign in with Uni" in page
    assert f"{ADDRESS}?next=%2Frate%2F" in page
    assert sign_in(client, provider, "/rate/")["Location"] == "/rate/"
    ada = User.objects.get()
    assert who(client) == ada
    assert (ada.username, ada.email, ada.is_staff, ada.has_usable_password()) == (
        "ada",
        CONFIRMED["email"],
        False,
        False,
    )
    assert (SocialAccount.objects.get().extra_data, Membership.objects.count()) == ({}, 0)
    again = Client()
    assert sign_in(again, provider, "https://evil.example/")["Location"] == "/"
    assert (who(again), User.objects.count()) == (ada, 1)
    provider.claims["sub"] = "2"
    other = Client()
    sign_in(other, provider)
    assert who(other) not in (None, ada)


@pytest.mark.parametrize(
    ("wanted", "made"),
    [
        ("Bob", r"Bob"),
        ("ADA", r"ada\d{4}"),
        ("\uff41da", r"ada\d{4}"),
        ("a\u200bda", r"ada\d{4}"),
        ("\u0430\u0434\u0430", "\u0430\u0434\u0430"),
        ("d\u0430x", r"ada\d{4}"),
        ("staff", r"ada\d{4}"),
    ],
)
def test_no_account_looks_like_that_of_another_or_of_the_operators(
    client: Client, provider: Provider, wanted: str, made: str
) -> None:
    make.make_user(username="\uff21da")
    provider.claims |= {"preferred_username": wanted, **CONFIRMED}
    sign_in(client, provider)
    found = who(client)
    assert found
    assert re.fullmatch(made, found.username)


def test_somebody_with_an_invitation_joins(client: Client, provider: Provider) -> None:
    study = make.make_study()
    link = f"/join/{Invitation.objects.create(study=study).token}/"
    assert f"{ADDRESS}?next={quote(link, safe='')}" in client.get(link).content.decode()
    assert sign_in(client, provider, link)["Location"] == link
    assert client.post(link).status_code == 302
    assert Membership.objects.get().rater.user == who(client)


@pytest.mark.parametrize(
    "wrong",
    [
        {"key_name": "another"},
        {"algorithm": "none"},
        {"algorithm": "HS256"},
        {"id_token": {"aud": "another client"}},
        {"id_token": {"iss": "https://evil.example"}},
        {"id_token": {"exp": 1}},
        {"id_token": {"nonce": "of another sign-in"}},
        {"id_token": {"nonce": None}},
        {"id_token": {"nonce": 1}},
        {"id_token": {"sub": None}},
        {"userinfo": {"sub": "somebody else"}},
        {"client_secret": "was changed"},
    ],
    ids=str,
)
def test_what_is_not_from_the_provider_for_this_sign_in_lets_nobody_in(
    wrong: dict[str, Any], client: Client, provider: Provider
) -> None:
    vars(provider).update(wrong)
    refused = sign_in(client, provider)
    assert refused.status_code == 401
    assert "Signing in with Uni did not work" in refused.content.decode()
    assert (who(client), User.objects.count()) == (None, 0)


@pytest.mark.parametrize(
    ("header", "keys", "algorithm"),
    [
        ({}, [published("right", kid="1")], "RS256"),
        ({}, [published("right")], "RS256"),
        ({"kid": "1"}, [published("right")], "RS256"),
        ({}, [published("right", use="sig"), published("another", use="enc")], "RS256"),
        ({}, [published("right"), published("right", kind="EC", kid="2")], "RS256"),
        ({}, [published("right", kid="1"), published("right", kind="EC")], "ES256"),
        ({"kid": "1"}, [published("another"), published("right", kid="1")], "RS256"),
        ({"kid": "1"}, [published("right", kid="1"), {"kty": "of tomorrow"}, {}], "PS256"),
    ],
)
def test_the_key_is_the_named_one_or_the_only_one(
    header: Any, keys: Any, algorithm: str, client: Client, provider: Provider
) -> None:
    provider.header, provider.keys, provider.algorithm = header, keys, algorithm
    assert sign_in(client, provider).status_code == 302
    assert who(client) is not None


RSA_KEYS = [published("right", kid="1"), published("another", kid="2")]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"header": {}, "keys": RSA_KEYS}, "has no kid, and 2 of the provider's RSA keys fit it"),
        ({"header": {"kid": "3"}, "keys": RSA_KEYS}, 'has the kid "3", and 0 of the provider\'s RSA keys'),
        ({"header": {}, "keys": [published("right", kind="EC")]}, "has no kid, and 0 of the provider's RSA"),
        ({"header": {}, "keys": []}, "did not contain any keys"),
        *(
            ({"unsaid": (name,)}, f"configuration has no {name}")
            for name in ("issuer", "jwks_uri", "token_endpoint", "userinfo_endpoint")
        ),
        ({"is_down": True}, "503 Server Error"),
        ({"unsaid": ("sub",)}, 'missing the "sub" claim'),
        ({"unsaid": ("exp",)}, 'missing the "exp" claim'),
    ],
    ids=range(11),
)
def test_the_log_says_what_is_missing(
    wrong: dict[str, Any], told: str, client: Client, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    come = come_back(client, provider)
    vars(provider).update(wrong)
    assert client.get(come).status_code == 401
    assert told in caplog.text
    assert who(client) is None


def test_a_state_works_once_and_only_in_its_own_browser(client: Client, provider: Provider) -> None:
    came = come_back(client, provider)
    assert Client().get(came).status_code == 401
    assert client.get(came).status_code == 302
    other = Client()
    other.cookies["sessionid"] = client.cookies["sessionid"].value
    assert other.get(came).status_code == 401
    for made_up in ({"code": "x", "state": "x"}, {"code": "x"}, {"error": "server_error", "state": "x"}, {}):
        assert Client().get(back(CALLBACK, made_up)).status_code == 401


def test_who_cancels_at_the_provider_is_back_at_the_sign_in_page(client: Client, provider: Provider) -> None:
    state = provider.authorize(client.get(ADDRESS)["Location"])["state"]
    back_again = client.get(back(CALLBACK, {"error": "access_denied", "state": state}), follow=True)
    assert back_again.redirect_chain[-1][0] == "/account/sign-in/"


@pytest.mark.parametrize(("allowed", "confirmed"), [("", True), ("true", False), ("true", "false")])
def test_an_address_that_has_an_account_takes_over_nothing(
    allowed: str, confirmed: Any, client: Client, provider: Provider, settings: Any
) -> None:
    configure(settings, provider, link_by_email=allowed)
    owner = make.make_user(username="owner", email="ada@example.org", is_staff=True)
    provider.claims |= {"email": "Ada@Example.org", "email_verified": confirmed}
    assert sign_in(client, provider).status_code == 302
    made = who(client)
    assert made is not None
    assert made != owner
    assert (made.username, made.email, made.is_staff) == ("ada", "", False)
    assert "This is a new account." in client.get("/rate/").content.decode()


def test_a_confirmed_address_leads_to_its_account_where_that_is_allowed(
    client: Client, provider: Provider, settings: Any
) -> None:
    configure(settings, provider, link_by_email="true")
    owner = make.make_user(username="owner", email="ada@example.org")
    EmailAddress.objects.create(user=owner, email="ada@example.org", verified=True)
    provider.claims |= CONFIRMED
    assert sign_in(client, provider).status_code == 302
    assert who(client) == owner
    assert User.objects.get().check_password("pw")


def test_only_people_of_allowed_domains_come_in(client: Client, provider: Provider, settings: Any) -> None:
    configure(settings, provider, allowed_domains="uni.example, Example.org")
    for email, confirmed in (
        ("ada@evil.example", True),
        ("ada@example.org.evil.example", True),
        ("ada@example.org", False),
        (None, True),
    ):
        provider.claims |= {"email": email, "email_verified": confirmed}
        refused = sign_in(client, provider)
        assert refused.status_code == 403
        assert "You need a confirmed email address at uni.example or example.org" in refused.content.decode()
    assert not User.objects.exists()
    provider.claims |= CONFIRMED
    assert sign_in(client, provider).status_code == 302
    assert who(client) is not None


def test_a_group_makes_staff_and_leaving_it_ends_that(
    client: Client, provider: Provider, settings: Any
) -> None:
    configure(settings, provider, staff_group="arena", groups_claim="realm_access.roles")
    for groups, is_staff in ((["other"], False), (["other", "arena"], True), ([], False)):
        provider.id_token = {"realm_access": {"roles": groups}}
        sign_in(client, provider)
        account = who(client)
        assert account is not None
        assert (account.is_staff, account.has_perm("judging.start_paid_run")) == (is_staff, False)
    User.objects.update(is_staff=True, is_superuser=True)
    sign_in(Client(), provider)
    assert User.objects.get().is_staff


def test_a_closed_account_stays_closed(client: Client, provider: Provider) -> None:
    sign_in(client, provider)
    User.objects.update(is_active=False)
    assert client.get("/account/").status_code == 302
    assert sign_in(client, provider, "/rate/")["Location"] == "/account/inactive/"
    assert "This account is closed" in client.get("/account/inactive/").content.decode()
    assert client.get("/account/").status_code == 302


def test_who_has_no_password_removes_their_details_by_name(client: Client, provider: Provider) -> None:
    sign_in(client, provider)
    assert client.get("/account/password/", follow=True).redirect_chain[-1][0] == "/account/"
    page = "/account/remove-details/"
    assert "Your name here" in client.get(page).content.decode()
    assert client.post(page, {"password": "bob", "comments": "keep"}).status_code == 422
    assert client.post(page, {"password": "ada", "comments": "keep"}).status_code == 302
    assert not User.objects.exists()
    assert not SocialAccount.objects.exists()


def test_a_provider_that_is_away_or_unknown(client: Client, provider: Provider) -> None:
    provider.is_down = True
    assert "did not work" in client.get(ADDRESS).content.decode()
    provider.is_down, provider.unsaid = False, ("authorization_endpoint",)
    assert "did not work" in client.get(ADDRESS).content.decode()
    assert client.get("/account/openid/other/").status_code == 404
    assert client.get("/account/openid/openid_connect/").status_code == 404


def test_the_settings_name_any_number_of_providers() -> None:
    one = {"OIDC_SERVER": "https://a.example/", "OIDC_CLIENT_ID": "x"}
    two = {"OIDC_2_SERVER": "https://b.example", "OIDC_2_CLIENT_ID": "y", "OIDC_2_NAME": "B"}
    found = providers(one | two)
    assert [(each["provider_id"], each["name"]) for each in found] == [
        ("oidc", "single sign-on"),
        ("oidc_2", "B"),
    ]
    assert found[0]["settings"]["server_url"] == "https://a.example"
    assert providers(two) == []
    for wrong in ({"OIDC_SERVER": "a.example"}, {"OIDC_CLIENT_ID": ""}, {"OIDC_LINK_BY_EMAIL": "maybe"}):
        with pytest.raises(ImproperEnvironment, match="OIDC_"):
            providers(one | wrong)
