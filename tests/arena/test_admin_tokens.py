"""The operator's pages about API tokens."""

import pytest
from django.test import Client
from django.urls import reverse

from arena.api.auth import digest, issue_token
from arena.models import ApiToken, Rater
from tests.factories import make_rater, make_user

pytestmark = pytest.mark.django_db
LIST, ADD = "/admin/arena/apitoken/", "/admin/arena/apitoken/add/"


def test_a_token_is_shown_once(admin_client: Client) -> None:
    judge = make_rater(kind=Rater.Kind.JUDGE, name="GPT")
    response = admin_client.post(ADD, {"rater": judge.pk, "label": "cluster", "scopes": ["rate"]})
    row = ApiToken.objects.get()
    assert (row.rater, row.label, row.scopes) == (judge, "cluster", ["rate"])
    token = response.context["key"]
    assert f">{token}</textarea>" in response.content.decode()
    assert digest(token) == row.digest
    assert "no-store" in response["Cache-Control"]
    assert token not in str(admin_client.session.items()) + str(response.cookies)
    for address in (LIST, reverse("admin:arena_apitoken_change", args=[row.pk])):
        page = admin_client.get(address).content.decode()
        assert "cluster" in page
        assert token not in page
        assert row.digest not in page


def test_an_operator_makes_a_token_for_themselves_and_for_judges_only(
    admin_client: Client, admin_user: object
) -> None:
    admin_client.post(ADD, {"rater": "", "label": "mine", "scopes": ["read", "runs"]})
    assert ApiToken.objects.get().rater.user == admin_user
    other = make_rater(user=make_user())
    page = admin_client.post(ADD, {"rater": other.pk, "label": "theirs", "scopes": ["rate"]}).content.decode()
    assert "Select a valid choice" in page
    assert ApiToken.objects.count() == 1


def test_a_judge_starts_no_runs(admin_client: Client) -> None:
    judge = make_rater(kind=Rater.Kind.JUDGE)
    page = admin_client.post(ADD, {"rater": judge.pk, "scopes": ["rate", "runs"]}).content.decode()
    assert "own token may start runs" in page
    assert not ApiToken.objects.exists()


def test_tokens_are_relabelled_and_revoked(admin_client: Client) -> None:
    issue_token(make_rater(kind=Rater.Kind.JUDGE), "old")
    row = ApiToken.objects.get()
    admin_client.post(
        reverse("admin:arena_apitoken_change", args=[row.pk]), {"label": "new", "scopes": ["runs"]}
    )
    row.refresh_from_db()
    assert (row.label, row.scopes) == ("new", ["rate", "read"])
    admin_client.post(LIST, {"action": "revoke", "_selected_action": [row.pk]})
    row.refresh_from_db()
    assert row.revoked_at is not None
