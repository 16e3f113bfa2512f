"""The record of a model call that comes with a comparison."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from arena.api.auth import rater_token
from arena.models import Assignment, Comparison, Rater
from arena.models.signals import Received, answers_received
from tests.factories import make_assignment, make_rater

pytestmark = pytest.mark.django_db
CALL = {
    "model": "some-model",
    "model_returned": "some-model-2026-01-01",
    "attempt": 2,
    "prompt_hash": "0" * 64,
    "messages": [{"role": "user", "content": "Which is better?"}],
    "started_at": "2026-02-03T04:05:06Z",
    "seconds": 1.5,
    "finish_reason": "stop",
    "prompt_tokens": 7,
    "completion_tokens": 1,
}


@pytest.fixture
def assignment() -> Assignment:
    return make_assignment(rater=make_rater(kind=Rater.Kind.JUDGE))


def submit(client: Client, assignment: Assignment, **fields: Any) -> Any:
    body = {"assignment": assignment.public_id, "rating": 6, **fields}
    headers = {"Authorization": f"Bearer {rater_token(assignment.rater)}"}
    return client.post("/api/v1/comparisons/", json.dumps(body), "application/json", headers=headers)


class Keeper:
    """An app above that keeps calls, or does not; heard holds the answers it was told of."""

    def __init__(self) -> None:
        self.keeps = True
        self.heard: list[Received] = []

    def __call__(self, sender: Any, answers: list[Received], **_: Any) -> set[int]:
        self.heard += answers
        assert transaction.get_connection().in_atomic_block
        return {answer.assignment.pk for answer in answers} if self.keeps else set()


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    made = Keeper()
    answers_received.connect(made)
    yield made
    answers_received.disconnect(made)


def test_a_call_that_nobody_keeps_stays_with_the_comparison(client: Client, assignment: Assignment) -> None:
    assert submit(client, assignment, call={**CALL, "refusal": None}).status_code == 201
    assert Comparison.objects.get().extra == {"call": CALL}


@pytest.mark.parametrize("call", [CALL, None])
def test_whoever_keeps_calls_gets_them_within_the_transaction(
    client: Client, assignment: Assignment, keeper: Keeper, call: dict[str, Any] | None
) -> None:
    assert submit(client, assignment, **({"call": call} if call else {})).status_code == 201
    comparison = Comparison.objects.get()
    assert comparison.extra == {}
    assert keeper.heard == [Received(assignment, comparison, call)]


def test_the_same_answer_again_hands_its_call_on_and_keeps_the_first(
    client: Client, assignment: Assignment, keeper: Keeper
) -> None:
    keeper.keeps = False
    replies = [submit(client, assignment, call={**CALL, "attempt": attempt}) for attempt in (1, 2)]
    assert [reply.status_code for reply in replies] == [201, 200]
    assert [heard.call and heard.call["attempt"] for heard in keeper.heard] == [1, 2]
    assert Comparison.objects.get().extra["call"]["attempt"] == 1
    assert submit(client, assignment, rating=2, call=CALL).status_code == 409
    assert len(keeper.heard) == 2


def test_a_receiver_that_fails_undoes_the_recording(client: Client, assignment: Assignment) -> None:
    def fail(sender: Any, **heard: Any) -> None:
        raise LookupError("no place for this call")

    answers_received.connect(fail)
    try:
        with pytest.raises(LookupError):
            submit(client, assignment, call=CALL)
    finally:
        answers_received.disconnect(fail)
    assert not Comparison.objects.exists()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"model": None}, "call.model"),
        ({"model": "x" * 201}, "call.model"),
        ({"attempt": 0}, "call.attempt"),
        ({"prompt_tokens": -1}, "call.prompt_tokens"),
        ({"prompt_tokens": 2**31}, "call.prompt_tokens"),
        ({"started_at": "0001-01-01T00:00:00+23:59"}, "call.started_at"),
        ({"started_at": "2026-02-03T04:05:06"}, "call.started_at"),
        ({"seconds": 1e300}, "call.seconds"),
        ({"refusal": "\x00"}, "call.refusal"),
        ({"messages": [{"role": "user", "content": "a\x00"}]}, "call.messages.0.content"),
        ({"messages": [{"role": "user", "content": "a"}] * 101}, "call.messages"),
        ({"api_key": "secret"}, "call.api_key"),
    ],
)
def test_a_record_that_cannot_be_kept_names_the_field(
    change: dict[str, Any], field: str, client: Client, assignment: Assignment
) -> None:
    reply = submit(client, assignment, call={**CALL, **change})
    assert reply.status_code == 422
    assert reply.json()["field"] == field
    assert not Comparison.objects.exists()
