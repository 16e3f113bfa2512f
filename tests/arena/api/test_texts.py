"""POST /api/v1/scores/ and /answers/: what they do not share with comparisons."""

import json
from typing import Any

import pytest
from django.test import Client

from arena.api.auth import rater_token
from arena.models import Answer, Assignment, Completion, Rater, Score
from tests import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
SCALE = {"lowest": 1, "highest": 5}


@pytest.fixture
def completion() -> Completion:
    made = make.make_text()
    for _ in range(2):
        make.make_question(prompt=made.prompt)
    return made


def task(kind: str, judge: Rater, completion: Completion | None = None) -> str:
    completion = completion or make.make_text()
    return make.make_assignment(kind=kind, rater=judge, completion=completion).public_id


def post(client: Client, path: str, rater: Rater, body: object) -> Any:
    headers = {"Authorization": f"Bearer {rater_token(rater)}"}
    return client.post(f"/api/v1/{path}/", json.dumps(body), "application/json", headers=headers)


def checks(*values: str, **more: Any) -> dict[str, Any]:
    return {"answers": [{"position": place, "value": value} for place, value in enumerate(values, 1)], **more}


def test_new_same_and_different_scores(client: Client, judge: Rater) -> None:
    call = {"model": "some-model"}
    body = {"assignment": task("score", judge), "value": 4, **SCALE, "expected": 3.7, "call": call}
    first = post(client, "scores", judge, body)
    shown = {"status": "scored", "value": 4, "reason": None, "lowest": 1, "highest": 5, "turns": []}
    assert (first.status_code, first.json()) == (201, {"assignment": body["assignment"], **shown})
    again = post(client, "scores", judge, body)
    assert (again.status_code, again.json()) == (200, first.json())
    other = post(client, "scores", judge, body | {"value": 2})
    assert (other.status_code, other.json()["field"], other.json()["score"]) == (409, "value", first.json())
    stored = Score.objects.get()
    assert (stored.expected, stored.source, stored.extra) == (3.7, "api", {"call": call})


def test_new_same_and_different_answers(client: Client, judge: Rater, completion: Completion) -> None:
    said = [{"position": 2, "reason": "refused", "raw_reply": "No."}, {"position": 1, "value": "yes"}]
    body = {"assignment": task("check", judge, completion), "answers": said, "seconds": 4}
    first = post(client, "answers", judge, body)
    shown = [
        {"position": 1, "status": "scored", "value": "yes", "reason": None},
        {"position": 2, "status": "unscored", "value": None, "reason": "refused"},
    ]
    assert (first.status_code, first.json()) == (201, {"assignment": body["assignment"], "answers": shown})
    again = post(client, "answers", judge, body)
    assert (again.status_code, again.json()) == (200, first.json())
    other = post(client, "answers", judge, body | checks("yes", "no"))
    assert (other.status_code, other.json()["field"], other.json()["answers"]) == (409, "answers", shown)
    seconds_and_replies = Answer.objects.order_by("question__position").values_list("seconds", "raw_reply")
    assert list(seconds_and_replies) == [(2, ""), (2, "No.")]


def test_batches_take_or_refuse_each_by_itself(client: Client, judge: Rater, completion: Completion) -> None:
    name, pair = task("score", judge), make.make_assignment(rater=judge).public_id
    one = {"assignment": name, "value": 3, **SCALE}
    scores = [one, one, one | {"value": 1}, one | {"assignment": "x"}, one | {"assignment": pair}, "nonsense"]
    results = post(client, "scores/batch", judge, {"scores": scores}).json()["results"]
    assert [each["status"] for each in results] == [201, 200, 409, 403, 422, 422]
    assert results[2]["body"]["score"]["value"] == 3
    assert results[4]["body"] == {"detail": "This assignment is to rate a pair.", "field": "assignment"}
    two = checks("no", "no", assignment=task("check", judge, completion))
    answers = [two, two, two | checks("no", "yes"), two | checks("no")]
    results = post(client, "answers/batch", judge, {"answers": answers}).json()["results"]
    assert [each["status"] for each in results] == [201, 200, 409, 409]
    assert [each["value"] for each in results[2]["body"]["answers"]] == ["no", "no"]


@pytest.mark.both_databases(False)
@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"value": 6}, "value"),
        ({"value": None}, "value"),
        ({"value": "4"}, "value"),
        ({"value": True}, "value"),
        ({"value": float("nan")}, "value"),
        ({"value": 10**400}, "value"),
        ({"reason": "empty"}, "value"),
        ({"lowest": 5}, "highest"),
        ({"lowest": -1e308, "highest": 1e308}, "lowest"),
        ({"highest": float("inf")}, "highest"),
        ({"highest": None}, "highest"),
        ({"expected": 5.5}, "expected"),
        ({"raw_reply": "\0"}, "raw_reply"),
        ({"raw_reply": "x" * 1_000_001}, "raw_reply"),
        ({"points": 8}, "points"),
        ({"call": {"model": "\0"}}, "call.model"),
    ],
)
def test_invalid_scores_name_the_field(
    client: Client, judge: Rater, change: dict[str, Any], field: str
) -> None:
    reply = post(client, "scores", judge, {"assignment": task("score", judge), "value": 4, **SCALE, **change})
    assert (reply.status_code, reply.json()["field"]) == (422, field), reply.content
    assert not Score.objects.exists()


@pytest.mark.both_databases(False)
@pytest.mark.parametrize(
    ("said", "field"),
    [
        ([], "answers"),
        ([{"position": 1, "value": "yes"}] * 2, "answers"),
        ([{"position": each, "value": "yes"} for each in (3, 2, 1)], "answers.0"),
        ([{"position": 2, "value": "no"}, {"position": 1}], "answers.1"),
        ([{"position": 2, "value": "no"}, {"position": 1, "value": "maybe"}], "answers.1.value"),
        ([{"position": True, "value": "yes"}], "answers.0.position"),
        ([{"position": 2**40, "value": "yes"}], "answers.0.position"),
        ([{"position": 1, "value": "yes", "rationale": "\ud800"}], "answers.0.rationale"),
        ([{"position": 1, "value": "yes", "seconds": float("nan")}], "answers.0.seconds"),
        ([{"position": 1, "value": "yes", "label": "x"}], "answers.0.label"),
        ({"1": "yes"}, "answers"),
        ([{"position": each, "value": "yes"} for each in range(1, 1002)], "answers"),
    ],
)
def test_invalid_answers_name_the_field(
    client: Client, judge: Rater, completion: Completion, said: object, field: str
) -> None:
    reply = post(client, "answers", judge, {"assignment": task("check", judge, completion), "answers": said})
    assert (reply.status_code, reply.json()["field"]) == (422, field), reply.content
    assert not Answer.objects.exists()


def test_people_score_on_the_scale_of_the_study_and_nobody_for_others(client: Client, judge: Rater) -> None:
    person = make.make_rater()
    body = {"assignment": task("score", person), "value": 4, "lowest": 1, "highest": 10}
    refused = post(client, "scores", person, body)
    assert (refused.status_code, refused.json()["field"]) == (422, "highest")
    assert post(client, "scores", judge, body | SCALE).status_code == 403
    assert post(client, "scores", person, body | SCALE).status_code == 201
    assert Assignment.objects.get().state == "submitted"


def test_people_check_every_requirement(client: Client, completion: Completion) -> None:
    person = make.make_rater()
    body = checks("yes", assignment=task("check", person, completion))
    refused = post(client, "answers", person, body)
    assert (refused.status_code, refused.json()["field"]) == (422, "answers")
    assert refused.json()["detail"] == "Requirement number 2 has no answer yet."
    assert post(client, "answers", person, body | checks("yes", "unknown")).status_code == 201


def test_an_answer_that_tells_its_question_is_stored_under_no_other(
    client: Client, judge: Rater, completion: Completion
) -> None:
    first, second = completion.prompt.questions.all()
    said = [{"position": 1, "value": "yes", "question": second.text}, {"position": 2, "value": "no"}]
    body = {"assignment": task("check", judge, completion), "answers": said}
    moved = post(client, "answers", judge, body)
    assert (moved.status_code, moved.json()["field"]) == (422, "answers.0")
    assert not Answer.objects.exists()
    said[0]["question"] = first.text
    assert post(client, "answers", judge, body).status_code == 201
