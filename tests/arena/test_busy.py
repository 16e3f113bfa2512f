"""A database that something long keeps for itself."""

from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from arena import services
from arena.api.auth import rater_token
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(services, "claim", fail)
    monkeypatch.setattr(services, "record_comparison", fail)


@pytest.mark.usefixtures("locked")
def test_a_rater_is_asked_to_try_again() -> None:
    study = make.make_small_study()
    user = make.make_user()
    make.make_member(study, user=user)
    client = Client(raise_request_exception=False)
    client.force_login(user)
    page = client.get(reverse("rate-study", args=[study.slug]), headers={"HX-Request": "true"})
    assert (page.status_code, page.headers["Retry-After"]) == (503, "10")
    assert "please try again in a moment" in page.content.decode()


@pytest.mark.usefixtures("locked")
def test_a_judge_is_told_in_json() -> None:
    token = rater_token(make.make_rater(kind="judge"))
    reply = Client(raise_request_exception=False).post(
        "/api/v1/comparisons/",
        {"assignment": "any", "rating": 5},
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    assert reply.status_code == 503
    assert "please try again" in reply.json()["detail"]


def test_other_errors_stay_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("disk I/O error")

    monkeypatch.setattr(services, "claim", fail)
    study, user = make.make_small_study(), make.make_user()
    make.make_member(study, user=user)
    client = Client(raise_request_exception=False)
    client.force_login(user)
    page = client.get(reverse("rate-study", args=[study.slug]), headers={"HX-Request": "true"})
    assert page.status_code == 500
