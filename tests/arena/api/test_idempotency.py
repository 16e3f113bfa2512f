"""A request that is sent again under its Idempotency-Key is done once."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from arena.api import idempotency
from arena.api.auth import issue_token, operator_token
from arena.models import KeptReply
from judging.models import JudgeRun
from judging.runs import api
from tests.arena.rating.test_concurrency import at_once
from tests.factories import make_judge, make_member, make_rater, make_small_study, make_user

pytestmark = pytest.mark.django_db
HEADER = idempotency.HEADER


def token_of_staff() -> str:
    return issue_token(make_rater(user=make_user(is_staff=True)), scopes=["runs"])


def send(body: object, key: str = "first", token: str | None = None, path: str = "/judge-runs/") -> Any:
    headers = {"Authorization": f"Bearer {token or operator_token()}", HEADER: key}
    return Client(raise_request_exception=False).post(
        f"/api/v1{path}", body, content_type="application/json", headers=headers
    )


@pytest.fixture
def body() -> dict[str, Any]:
    return {"study": make_small_study().slug, "judge": make_judge().slug, "limit": 1}


def test_the_first_reply_is_given_again(body: dict[str, Any]) -> None:
    first, again = send(body), send(body)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert first["Content-Type"] == again["Content-Type"]
    assert JudgeRun.objects.count() == KeptReply.objects.count() == 1


def test_a_key_is_for_one_request(body: dict[str, Any]) -> None:
    send(body)
    for other in (lambda: send({**body, "limit": 2}), lambda: send(body, path="/judge-runs/estimate/")):
        reply = other()
        assert reply.status_code == 422
        assert reply.json() == {"detail": f"{HEADER}: {idempotency.OTHER}", "field": HEADER}
    assert JudgeRun.objects.count() == 1


def test_every_account_has_its_own_keys(body: dict[str, Any]) -> None:
    for token in (token_of_staff(), token_of_staff(), None):
        assert send(body, token=token).status_code == 201
        JudgeRun.objects.update(state="cancelled")
    assert JudgeRun.objects.count() == KeptReply.objects.count() == 3


def test_a_refusal_is_not_kept(body: dict[str, Any]) -> None:
    wrong = {**body, "judge": "nobody"}
    assert send(wrong).status_code == 404
    assert not KeptReply.objects.exists()
    assert send(body).status_code == 201


def test_a_request_that_breaks_leaves_no_key(body: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(api.JudgeRunOut, "of", lambda run: 1 / 0)
        assert send(body).status_code == 500
    assert not JudgeRun.objects.exists()
    assert not KeptReply.objects.exists()
    assert send(body).status_code == 201


def test_a_key_that_has_no_reply_yet_is_refused(body: dict[str, Any]) -> None:
    send(body)
    KeptReply.objects.update(status=None)
    reply = send(body)
    assert (reply.status_code, reply.json()["detail"]) == (409, idempotency.UNENDED)


def test_replies_are_kept_for_a_day(body: dict[str, Any]) -> None:
    send(body)
    now = timezone.now()
    assert idempotency.sweep(now + timedelta(hours=23)) == 0
    assert idempotency.sweep(now + timedelta(hours=25)) == 1
    JudgeRun.objects.update(state="cancelled")
    send(body, "second")
    JudgeRun.objects.update(state="cancelled")
    KeptReply.objects.update(created_at=now - timedelta(hours=25))
    assert send(body, "second").status_code == 201
    assert JudgeRun.objects.count() == 3


@pytest.mark.parametrize("key", ["", "two words", "ü", "k" * 201])
def test_keys_that_cannot_be(body: dict[str, Any], key: str) -> None:
    reply = send(body, key)
    assert (reply.status_code, reply.json()["field"]) == (422, HEADER)
    assert not JudgeRun.objects.exists()


def test_rating_keeps_no_replies() -> None:
    member = make_member(study := make_small_study())
    reply = send({"study": study.slug}, token=issue_token(member), path="/assignments/")
    assert reply.status_code == 201
    assert not KeptReply.objects.exists()


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_is_done() -> None:
    body = {"study": make_small_study().slug, "judge": make_judge().slug, "limit": 1}
    sent: list[Callable[[], Any]] = [partial(send, body) for _ in range(3)]
    replies = at_once(*sent)
    assert {reply.status_code for reply in replies} == {201}
    assert len({reply.content for reply in replies}) == 1
    assert JudgeRun.objects.count() == 1
