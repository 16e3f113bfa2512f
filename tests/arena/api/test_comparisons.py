"""POST /api/v1/comparisons/: who may submit what, and what comes back."""

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.middleware.common import CommonMiddleware
from django.test import Client
from django.utils import timezone

from arena.api.auth import issue_token, operator_token, rater_token
from arena.models import ApiToken, Assignment, Comparison, Rater
from tests.factories import make_assignment, make_rater

pytestmark = pytest.mark.django_db
URL = "/api/v1/comparisons/"
MANY_NAMES = "{" + "".join(f'"{number}":1,' for number in range(100_000)) + '"99999":1}'
"""A body that takes minutes where each of its names is looked for in all of them."""


@pytest.fixture
def assignment(judge: Rater) -> Assignment:
    return make_assignment(rater=judge)


def post(client: Client, token: str | None, body: object, **extra: Any) -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    data = body if isinstance(body, str | bytes) else json.dumps(body)
    return client.post(URL, data, content_type="application/json", headers=headers, **extra)


def test_new_same_and_different_answers(client: Client, judge: Rater, assignment: Assignment) -> None:
    token = issue_token(judge)
    body = {"assignment": assignment.public_id, "rating": 6, "raw_reply": "6\nB", "seconds": 1.5}
    first = post(client, token, body)
    assert first.status_code == 201
    stored = {"status": "scored", "rating": 6, "reason": None, "points": 8}
    assert first.json() == {"assignment": assignment.public_id} | stored
    assert post(client, token, body).status_code == 200
    different = post(client, token, {**body, "rating": 2})
    assert different.status_code == 409
    assert different.json()["comparison"]["rating"] == 6
    comparison = Comparison.objects.get()
    assert (comparison.rating, comparison.raw_reply, comparison.source) == (6, "6\nB", "api")
    replies = b"".join(
        reply.content for reply in (first, different, post(client, token, body | {"rating": 9}))
    )
    for side in (assignment.pair.first, assignment.pair.second):
        assert side.contestant.slug.encode() not in replies
        assert side.contestant.name.encode() not in replies


@pytest.mark.parametrize(
    ("body", "stored"),
    [
        ({"reason": "refused", "raw_reply": "No."}, {"status": "unscored", "reason": "refused"}),
        ({"reason": "undecided"}, {"status": "unscored", "reason": "undecided"}),
        (
            {"rating": 1, "points": 3, "scores": [8.5, 7]},
            {"first_score": Decimal("8.500"), "second_score": Decimal("7.000")},
        ),
        ({"rating": 6, "expected": 5.75}, {"expected": 5.75}),
    ],
)
def test_what_is_stored(
    body: dict[str, Any], stored: dict[str, Any], client: Client, judge: Rater, assignment: Assignment
) -> None:
    sent = {"assignment": assignment.public_id, "rating": None} | body
    assert post(client, rater_token(judge), sent).status_code == 201
    comparison = Comparison.objects.get()
    assert comparison.rating == body.get("rating")
    assert {name: getattr(comparison, name) for name in stored} == stored


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"rating": 9}, "rating"),
        ({"rating": 0}, "rating"),
        ({"rating": 10**400}, "rating"),
        ({"criteria": {"charm": 10**400}}, "criteria"),
        ({"rating": "5"}, "rating"),
        ({"rating": 4.0}, "rating"),
        ({"rating": True}, "rating"),
        ({"rating": None}, "rating"),
        ({"reason": "empty"}, "rating"),
        ({"rating": None, "reason": "bored"}, "reason"),
        ({"points": 7}, "points"),
        ({"seconds": -1}, "seconds"),
        ({"raw_reply": "a\x00b"}, "raw_reply"),
        ({"raw_reply": 5}, "raw_reply"),
        ({"criteria": {"charm": 5}}, "criteria.charm"),
        ({"scores": [1]}, "scores"),
        ({"surprise": 1}, "surprise"),
        ({"assignment": None}, "assignment"),
        ({"assignment": "x" * 25}, "assignment"),
        ({"assignment": "\ud800"}, "assignment"),
        ({"assignment": "\0"}, "assignment"),
        ({"assignment": "x\0y"}, "assignment"),
        ({"rating": 10**300}, "rating"),
        ({"rating": -(10**30)}, "rating"),
        ({"points": True}, "points"),
        ({"seconds": float("nan")}, "seconds"),
        ({"seconds": 1e300}, "seconds"),
        ({"raw_reply": "\ud800"}, "raw_reply"),
        ({"scores": [float("inf"), 1]}, "scores"),
        ({"scores": ["1e5000", 1]}, "scores"),
        ({"expected": 8.5}, "expected"),
        ({"expected": 0.5}, "expected"),
        ({"expected": float("nan")}, "expected"),
        ({"criteria": {"": 5}}, "criteria."),
        ({"criteria": []}, "criteria"),
        ({"reasons": "Clearer"}, "reasons"),
        ({"reasons": ["clearer"]}, "reasons"),
        ({"reasons": [1]}, "reasons"),
        ({"reasons": ["a\x00b"]}, "reasons"),
        ({"reasons": ["Clearer"] * 101}, "reasons"),
    ],
)
def test_invalid_answers_name_the_field(
    change: dict[str, Any], field: str, client: Client, judge: Rater, assignment: Assignment
) -> None:
    body = {"assignment": assignment.public_id, "rating": 5, **change}
    reply = post(client, rater_token(judge), body)
    assert reply.status_code == 422, reply.content
    assert reply.json()["field"].startswith(field)
    assert len(reply.json()["detail"]) > 10
    assert not Comparison.objects.exists()


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("{", "The body is no JSON: Expecting property name"),
        ("not json", "The body is no JSON: Expecting value: line 1 column 1"),
        (b'{"raw_reply": "\xff"}', "The body is not UTF-8 (byte 16)."),
        ('{"rating": 1, "rating": 8}', 'The body names "rating" twice in one object.'),
        (MANY_NAMES, 'The body names "99999" twice in one object.'),
        ('{"call": {"model": "a", "model": "b"}}', 'The body names "model" twice'),
        ('{"rating": ' + "9" * 5000 + "}", "The body holds a number of too many digits."),
        ("[" * 200_000, "The body is nested too deeply."),
        ('{"a":' * 200_000, "The body is nested too deeply."),
    ],
)
def test_an_unreadable_body_is_400(body: str | bytes, sentence: str, client: Client, judge: Rater) -> None:
    reply = post(client, rater_token(judge), body)
    assert (reply.status_code, reply.json()["field"]) == (400, None)
    assert reply.json()["detail"].startswith(sentence)


def test_no_operation_takes_parameters_that_it_does_not_have(client: Client) -> None:
    read, rate = operator_token(), issue_token(make_rater(), scopes=["rate"])
    document = client.get("/api/v1/openapi.json").json()
    asked = [
        (method, re.sub(r"\{[^}]*\}", "7", path.replace("{kind}", "standings")))
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if "requestBody" not in operation
    ]
    assert {method for method, _ in asked} == {"get", "post"}
    for method, path in asked:
        token = rate if path == "/api/v1/judges/7/" or path.startswith("/api/v1/assignments/") else read
        reply = client.generic(
            method.upper(), f"{path}?colour=red", headers={"Authorization": f"Bearer {token}"}
        )
        assert (reply.status_code, reply.json()["field"]) == (422, "colour"), path


def test_what_belongs_into_the_body_is_no_parameter(
    client: Client, judge: Rater, assignment: Assignment
) -> None:
    headers = {"Authorization": f"Bearer {rater_token(judge)}"}
    body = {"assignment": str(assignment.public_id), "rating": 5}
    reply = client.post(f"{URL}?rating=6", body, content_type="application/json", headers=headers)
    detail = "rating: no such parameter"
    assert (reply.status_code, reply.json()) == (422, {"detail": detail, "field": "rating"})
    assert not Comparison.objects.exists()


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "", "multipart/form-data"]
)
def test_a_body_of_another_type_is_415(content_type: str, client: Client, judge: Rater) -> None:
    headers = {"Authorization": f"Bearer {rater_token(judge)}"}
    reply = client.generic("POST", URL, b"{}", content_type=content_type, headers=headers)
    assert (reply.status_code, reply.json()["detail"]) == (
        415,
        "Send JSON, with Content-Type: application/json.",
    )


@pytest.mark.parametrize("path", ["comparisons", "nothing/", "judge-runs/x", "studies/a/b/c/"])
def test_an_address_that_does_not_exist_is_404_in_json(path: str, client: Client) -> None:
    reply = client.post(f"/api/v1/{path}")
    assert (reply.status_code, reply["Content-Type"]) == (404, "application/json; charset=utf-8")
    slash = "" if path.endswith("/") else "; mind the slash at its end"
    assert reply.json()["detail"] == f"The API has no address /api/v1/{path}{slash}."


@pytest.mark.parametrize("body", ["[]", "null", '"x"', "{}"])
def test_a_body_of_another_shape_is_422(body: str, client: Client, judge: Rater) -> None:
    assert post(client, rater_token(judge), body).status_code == 422


def test_a_body_that_is_too_long_is_413(client: Client, judge: Rater, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    reply = post(client, rater_token(judge), {"assignment": "x", "rating": 5, "raw_reply": "x" * 2000})
    assert reply.status_code == 413
    assert "1000 bytes" in reply.json()["detail"]


def test_nothing_is_taken_of_others_or_when_closed(
    client: Client, assignment: Assignment, judge: Rater
) -> None:
    other = make_rater(kind=Rater.Kind.JUDGE)
    reply = post(client, rater_token(other), {"assignment": assignment.public_id, "rating": 5})
    missing = post(client, rater_token(other), {"assignment": "nonsense", "rating": 5})
    assert reply.status_code == missing.status_code == 403
    assert reply.json() == missing.json()
    assignment.study.closed_at = timezone.now()
    assignment.study.save()
    reply = post(client, rater_token(judge), {"assignment": assignment.public_id, "rating": 5})
    assert reply.status_code == 403
    assert "closed" in reply.json()["detail"]


@pytest.mark.parametrize("token", [None, "", "arena_wrong", "signed_wrong", "signed_a:b:c", "x y"])
def test_without_a_good_token_it_is_401(token: str | None, client: Client, assignment: Assignment) -> None:
    reply = post(client, token, {"assignment": assignment.public_id, "rating": 5})
    assert (reply.status_code, reply["WWW-Authenticate"]) == (401, "Bearer")
    sentence = "Send the header Authorization: Bearer TOKEN, with a token that is in use."
    assert reply.json() == {"detail": sentence, "field": None}


def test_who_cannot_answer(
    client: Client, judge: Rater, assignment: Assignment, admin_client: Client
) -> None:
    body = {"assignment": assignment.public_id, "rating": 5}
    assert post(admin_client, None, body).status_code == 401, "a session is no token"
    token = issue_token(judge, "laptop")
    ApiToken.objects.update(revoked_at=timezone.now())
    assert post(client, token, body).status_code == 401
    with time_machine.travel(timezone.now() - timezone.timedelta(hours=1)):
        stale = rater_token(judge)
    assert post(client, stale, body).status_code == 401
    assert post(client, operator_token(), body).status_code == 403, "an operator is no rater"
    headers = {"Authorization": f"Bearer {rater_token(judge)}"}
    assert client.get(URL, headers=headers).status_code == 405
    judge.paused_at = timezone.now()
    judge.save()
    assert post(client, rater_token(judge), body).status_code == 403
    assert not Comparison.objects.exists()


@pytest.mark.parametrize("trouble", ["", "long", "host", "failure"])
@pytest.mark.parametrize("method", ["get", "head", "put", "delete", "post"])
def test_every_error_is_json(
    method: str, trouble: str, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.raise_request_exception = False
    if trouble == "failure":
        monkeypatch.setattr(CommonMiddleware, "process_request", lambda *_: 1 / 0)
    host = {"HTTP_HOST": "elsewhere.example"} if trouble == "host" else {}
    status = {"long": 414, "host": 400, "failure": 500}
    for path in ("/api/", "/api/v1/nowhere/", "/api/v1/studies/x/standings/", URL, "/api/v2/"):
        reply = getattr(client, method)(path + "?" + "x" * (9000 if trouble == "long" else 1), **host)
        assert reply.status_code in ((status[trouble],) if trouble else (401, 404, 405, 422))
        assert reply["Content-Type"].startswith("application/json")
        assert reply.status_code != 405 or reply["Allow"]
        assert method == "head" or reply.json().keys() == {"detail", "field"}
        assert method == "head" or reply.get("Content-Length") in (None, str(len(reply.content)))
        assert "Content-Encoding" not in reply


def test_the_api_page_lists_exactly_the_routes_and_fields(client: Client) -> None:
    page = (Path(__file__).parents[3] / "docs" / "api.md").read_text()
    schema = client.get("/api/v1/openapi.json").json()
    routes = {
        f"{method.upper()} {path.replace('{run_id}', 'ID')}"
        for path, methods in schema["paths"].items()
        for method in methods
    }
    assert set(re.findall(r"`((?:GET|POST|PATCH) /api/v1/[^`]*)`", page)) == routes
    opinions = ("ComparisonIn", "ScoreIn", "AnswersIn", "AnswerIn")
    claims = ("CallIn", "ClaimIn", "RenewIn", "RepliedIn", "FailureIn", "AssignmentOut")
    for name in (*opinions, *claims, "JudgeRunIn", "StudyOut", "SettingIn"):
        for field in schema["components"]["schemas"][name]["properties"]:
            assert f"`{field}`" in page or f'"{field}"' in page, field
