"""Prices in the admin."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from judging.models import Price
from tests.factories import make_price

pytestmark = pytest.mark.django_db

GIVEN = {"model": "gpt-9", "base_url": "", "prompt": "2.5", "completion": "10", "currency": "USD"}


def add(client: Client, **changes: Any) -> Any:
    return client.post(reverse("admin:judging_price_add"), {**GIVEN, **changes})


def test_a_price_is_added_changed_and_listed(admin_client: Client) -> None:
    reply = add(admin_client, model=" gpt-9 ", base_url="https://api.example.com/v1/")
    assert reply.status_code == 302
    price = Price.objects.get()
    assert (price.model, price.base_url) == ("gpt-9", "https://api.example.com/v1")
    page = reverse("admin:judging_price_change", args=[price.pk])
    assert admin_client.post(page, {**GIVEN, "completion": "0"}).status_code == 302
    price.refresh_from_db()
    assert (price.base_url, price.completion) == ("", 0)
    listed = admin_client.get(reverse("admin:judging_price_changelist") + "?q=gpt").content.decode()
    assert "gpt-9" in listed


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"prompt": "-1"}, "A price cannot be negative."),
        ({"prompt": "cheap"}, "Enter a number."),
        ({"prompt": "0.0000001"}, "at most 6 decimals"),
        ({"completion": ""}, "This field is required."),
        ({"model": " "}, "This field is required."),
        ({"currency": "usd"}, "three capital letters"),
        ({"currency": "EURO"}, "three capital letters"),
        ({"base_url": "example.com"}, "Enter an address like"),
        ({"base_url": "https://me:secret@example.com/v1"}, "Leave the user name and password out"),
    ],
)
def test_what_is_no_price_is_refused(changes: dict[str, str], sentence: str, admin_client: Client) -> None:
    reply = add(admin_client, **changes)
    assert reply.status_code == 200
    assert sentence in reply.content.decode()
    assert not Price.objects.exists()


def test_a_model_has_one_price_at_one_place(admin_client: Client) -> None:
    make_price(model="gpt-9")
    reply = add(admin_client)
    assert reply.status_code == 200
    assert "already exists" in reply.content.decode()
