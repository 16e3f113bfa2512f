"""POST /api/v1/comparisons/batch/: every answer is taken or refused by itself."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from arena.api.auth import rater_token
from arena.models import Assignment, Comparison, Rater
from arena.models.signals import opinion_recorded
from tests.factories import make_assignment, make_pair, make_prompt, make_rater, make_study

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def post(client: Client, rater: Rater, *comparisons: object) -> Any:
    headers = {"Authorization": f"Bearer {rater_token(rater)}"}
    body = json.dumps({"comparisons": comparisons})
    return client.post("/api/v1/comparisons/batch/", body, "application/json", headers=headers)


def statuses(reply: Any) -> list[int]:
    assert reply.status_code == 200, reply.content
    return [result["status"] for result in reply.json()["results"]]


def rating(assignment: Assignment | str, rating: object = 6, **fields: object) -> dict[str, object]:
    name = assignment if isinstance(assignment, str) else assignment.public_id
    return {"assignment": name, "rating": rating, **fields}


def of_one_study(rater: Rater, count: int) -> list[Assignment]:
    """Assignments of one rater in one study, each about a pair of its own."""
    study = make_study()
    pairs = [make_pair(prompt=make_prompt(study=study)) for _ in range(count)]
    return [make_assignment(rater=rater, pair=pair) for pair in pairs]


def test_each_answer_has_the_reply_it_would_have_had_by_itself(client: Client, judge: Rater) -> None:
    new, same, other, wrong = of_one_study(judge, 4)
    assert statuses(post(client, judge, rating(same), rating(other))) == [201, 201]
    refused = [rating(other, 2), rating(wrong, 9), rating(wrong, "five"), "nonsense"]
    reply = post(client, judge, rating("unknown"), rating(new), rating(same), *refused)
    assert statuses(reply) == [403, 201, 200, 409, 422, 422, 422]
    bodies = [result["body"] for result in reply.json()["results"]]
    stored = {"assignment": new.public_id, "status": "scored", "rating": 6, "reason": None, "points": 8}
    assert bodies[1] == stored
    assert bodies[3]["comparison"]["rating"] == 6
    assert [body["field"] for body in bodies[4:]] == ["rating", "rating", None]
    assert sorted(Comparison.objects.values_list("assignment", flat=True)) == [new.pk, same.pk, other.pk]
    wrong.refresh_from_db()
    assert wrong.state == "claimed"


def test_one_assignment_twice_in_a_batch_and_somebody_elses(client: Client, judge: Rater) -> None:
    first, second = of_one_study(judge, 2)
    reply = post(client, judge, rating(first), rating(first, 2), rating(second), rating(first))
    assert statuses(reply) == [201, 409, 201, 200]
    assert Comparison.objects.count() == 2
    (own,) = of_one_study(judge, 1)
    other = make_assignment(rater=make_rater(kind=Rater.Kind.JUDGE))
    assert statuses(post(client, judge, rating(other), rating(own), rating("\x01"))) == [403, 201, 403]


def test_an_answer_that_the_database_refuses_leaves_the_others_alone(client: Client, judge: Rater) -> None:
    bad, good = of_one_study(judge, 2)
    # An imported rating of the same showing, which belongs to no assignment.
    showing = {"study": bad.study, "pair": bad.pair, "rater": judge, "swapped": bad.swapped}
    Comparison.objects.create(**showing, points=8, status="scored", rating=1, source="import")
    reply = post(client, judge, rating(bad), rating(good))
    assert statuses(reply) == [500, 201]
    detail = "This answer contradicts what is stored already."
    assert reply.json()["results"][0]["body"] == {"detail": detail, "field": "assignment"}
    assert Comparison.objects.filter(assignment=good).exists()
    assert not Comparison.objects.filter(assignment=bad).exists()


@pytest.mark.parametrize("body", [[], [rating("x")] * 101])
def test_too_few_or_too_many(body: list[object], client: Client, judge: Rater) -> None:
    reply = post(client, judge, *body)
    assert (reply.status_code, reply.json()["field"]) == (422, "comparisons")


def test_the_apps_above_hear_once_of_a_batch(
    client: Client, judge: Rater, hear: Any, django_capture_on_commit_callbacks: Any
) -> None:
    assignments, heard = of_one_study(judge, 3), hear(opinion_recorded)
    with django_capture_on_commit_callbacks(execute=True):
        post(client, judge, *map(rating, assignments))
    assert [each["study_id"] for each in heard] == [assignments[0].study_id]


@pytest.mark.both_databases(False)
def test_more_answers_take_no_more_queries(client: Client, judge: Rater) -> None:
    few, many = of_one_study(judge, 2), of_one_study(judge, 20)
    with CaptureQueriesContext(connection) as first:
        assert set(statuses(post(client, judge, *map(rating, few)))) == {201}
    with CaptureQueriesContext(connection) as second:
        assert set(statuses(post(client, judge, *map(rating, many)))) == {201}
    assert len(second) == len(first)
