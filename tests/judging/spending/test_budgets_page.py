"""The page of budgets."""

import pytest
from django.test import Client

from judging.models import Purse
from tests.factories import make_battle_rules, make_study, make_user

pytestmark = pytest.mark.django_db
PAGE = "/judging/budgets/"


def test_budgets_are_set_shown_and_removed(client: Client) -> None:
    study = make_study(name="Lakes")
    client.force_login(make_user(is_staff=True))
    assert "No study has a budget" in client.get(PAGE).content.decode()
    sent = {"study": study.slug, "budget": "12.5", "currency": "EUR"}
    shown = client.post(PAGE, sent, follow=True).content.decode()
    assert '<th scope="row">Lakes</th>' in shown
    assert "12.50 EUR" in shown
    client.post(PAGE, {**sent, "study": "", "currency": "USD"})
    assert "Every day" in client.get(PAGE).content.decode()
    client.post(PAGE, {**sent, "budget": ""})
    assert Purse.objects.get().scope == "day"
    for wrong in (
        {"budget": "0"},
        {"budget": "-1"},
        {"budget": "x"},
        {"currency": "dollars"},
        {"study": "y"},
    ):
        assert client.post(PAGE, {**sent, **wrong}).status_code == 422


def test_who_may_not_spend_sets_no_budget(client: Client) -> None:
    client.force_login(make_user(is_staff=True, paid_runs=False))
    assert "Ask a superuser" in client.get(PAGE).content.decode()
    assert client.post(PAGE, {"study": "", "budget": "5", "currency": "USD"}).status_code == 422
    client.force_login(make_user())
    assert client.get(PAGE).status_code in (302, 403)
    assert not Purse.objects.exists()


def test_what_battles_may_cost_every_day_is_set_where_there_are_some(client: Client) -> None:
    study = make_study(name="Lakes", visibility="public")
    client.force_login(make_user(is_staff=True))
    assert "Only its battles" not in client.get(PAGE).content.decode()
    make_battle_rules(study=study)
    assert "Only its battles, every day" in client.get(PAGE).content.decode()
    sent = {"study": study.slug, "battles": "on", "budget": "2", "currency": "USD"}
    shown = client.post(PAGE, sent, follow=True).content.decode()
    assert "Battles of Lakes, every day, spent on" in shown
    purse = Purse.objects.get()
    assert (purse.scope, purse.battles, purse.budget) == ("battles", study, 2)
    refused = client.post(PAGE, {**sent, "study": ""})
    assert refused.status_code == 422
    assert "Choose the study whose battles are meant." in refused.content.decode()
    client.post(PAGE, {**sent, "budget": ""})
    assert Purse.objects.get().budget is None
    assert "Battles of Lakes" not in client.get(PAGE).content.decode()
