"""Signing in, and what somebody hears who may not see a page."""

import pytest
from django.test import Client
from django.urls import reverse

from arena.people.accounts import JoinForm
from tests import factories as make

pytestmark = pytest.mark.django_db


def test_a_missing_page_offers_a_sign_in_that_leads_back(client: Client) -> None:
    assert "/account/sign-in/?next=/studies/none/" in client.get("/studies/none/").content.decode()
    client.force_login(make.make_user())
    assert "?next=/studies/none/" not in client.get("/studies/none/").content.decode()


def test_the_admin_uses_the_arenas_own_sign_in_and_refusal(client: Client) -> None:
    asked = client.get("/admin/", follow=True)
    assert asked.redirect_chain[-1][0] == "/account/sign-in/?next=/admin/"
    client.force_login(make.make_user())
    refused = client.get("/admin/", follow=True)
    assert refused.status_code == 403
    assert "You have no access to this page" in refused.content.decode()
    client.force_login(make.make_user(is_staff=True))
    assert client.get("/admin/login/")["Location"] == "/admin/"


def test_the_foot_of_a_page_leads_to_what_the_operator_names(client: Client, settings) -> None:  # type: ignore[no-untyped-def]
    settings.FOOTER_LINKS = {"Privacy": "https://arena.example.org/privacy"}
    page = client.get("/").content.decode()
    assert '<a href="https://arena.example.org/privacy">Privacy</a>' in page


def test_staff_begin_with_what_they_operate(client: Client) -> None:
    for is_staff, place in ((True, "/operate/"), (False, "/")):
        user = make.make_user(is_staff=is_staff)
        user.set_password("seven-rivers-9")
        user.save()
        sent = {"username": user.get_username(), "password": "seven-rivers-9"}
        assert Client().post(reverse("account_login"), sent)["Location"] == place


def test_a_closed_account_is_out_and_has_to_sign_in_once_it_is_opened_again(client: Client) -> None:
    user, other = make.make_user(username="ada"), Client()
    client.force_login(user)
    other.force_login(make.make_user())
    for is_active in (False, True):
        user.is_active = is_active
        user.save()
        assert client.get(reverse("own-details")).status_code == 302
        page = Client().post(reverse("account_login"), {"username": "ada", "password": "pw"}, follow=True)
        assert ("Name or password is wrong." in page.content.decode()) is not is_active
    assert other.get(reverse("own-details")).status_code == 200


@pytest.mark.parametrize("name", ["Ada", "\uff41da", "a\u200bda", "b\u0430rt", "Staff", "a b", "--"])
def test_the_admin_makes_and_renames_accounts_by_the_rule_of_names(admin_client: Client, name: str) -> None:
    ada, other = make.make_user(username="ada"), make.make_user(username="bob")
    new = {"username": name, "usable_password": "false"}
    added = admin_client.post("/admin/auth/user/add/", new)
    renamed = admin_client.post(f"/admin/auth/user/{other.pk}/change/", {"username": name})
    heard = JoinForm({"username": name}).errors["username"]
    assert heard
    for answer in (added, renamed):
        assert answer.context["adminform"].form.errors["username"] == heard
    kept = {"username": "ada", "date_joined_0": "2026-01-01", "date_joined_1": "12:00:00", "last_name": "L"}
    assert admin_client.post(f"/admin/auth/user/{ada.pk}/change/", kept).status_code == 302
    assert admin_client.post("/admin/auth/user/add/", new | {"username": "dora"}).status_code == 302
