import json

import pytest
from django.utils import timezone

from arena.api.auth import issue_token
from arena.people.rater_data import pseudonym
from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.refreshing import services
from tests.factories import make_rater, make_user
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db
ROUNDS = 20


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    made = HandMade("Alpha", "Beta", "Gamma", slug="made", name="Made", categories=("coding", "poems"))
    judge = made.judge("judy", simulated=True)
    for rating in (1, 2, 7):
        made.rate("Alpha", "Beta", rating)
        made.rate("Beta", "Gamma", rating, prompt=1)
        made.rate("Alpha", "Beta", rating, rater=judge, first_score=1, second_score=2.5)
    made.rate("Alpha", "Gamma", None, reason="empty", rater=judge)
    services.refresh(made.study)
    return made


def close(made):
    made.change(closed_at=timezone.now())


def read(client, path, token="", **headers):
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return client.get(f"/api/v1/{path}", headers=headers)


PUBLIC = [
    "studies/",
    "studies/made/standings/",
    "studies/made/leaderboard/",
    "studies/made/contestants/",
    "studies/made/snapshots/",
    "studies/made/tables/ratings/",
    "studies/made/comparisons/",
]


@pytest.mark.parametrize("path", PUBLIC)
def test_public_studies_need_no_token_and_private_ones_do_not_exist(made, client, path):
    close(made)
    answer = read(client, path)
    assert answer.status_code == 200
    assert read(client, path, "arena_wrong").status_code == 401, "a wrong token is never taken for none"
    again = read(client, path, **{"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    made.change(visibility="private")
    hidden = read(client, path, **{"If-None-Match": answer["ETag"]})
    assert hidden.status_code == (200 if path == "studies/" else 404)
    operator = issue_token(make_rater(user=make_user(is_staff=True)))
    assert read(client, path, operator).status_code == 200
    rater = issue_token(make_rater(kind="judge"))
    assert read(client, path, rater).status_code == hidden.status_code


@pytest.mark.parametrize("path", [*PUBLIC, "studies/nowhere/standings/", "comparisons/"])
def test_head_is_get_without_the_body(made, client, path):
    got, head = read(client, path), client.head(f"/api/v1/{path}")
    assert (head.status_code, head.content) == (got.status_code, b"")
    assert head["Content-Length"] == str(len(got.content))
    assert head.get("ETag") == got.get("ETag")
    assert client.head("/api/v1/studies/", SCRIPT_NAME="/arena").status_code == 200
    if "ETag" in head:
        again = client.head(f"/api/v1/{path}", headers={"If-None-Match": head["ETag"]})
        assert again.status_code == 304


def test_the_leaderboard_is_that_of_the_file_and_other_tables_are_not_there(made, client):
    query = "?raters=judge:judy&ties=off&method=bradley-terry"
    found = read(client, f"studies/made/leaderboard/{query}").json()
    assert found == client.get(f"/studies/made/leaderboard.json{query}").json()
    assert found["full"]["Alpha"]["simulated"] is True
    assert read(client, "studies/made/leaderboard/?raters=x").status_code == 404
    answer = read(client, "studies/made/tables/standings/?raters=judge:x")
    assert answer.status_code == 404
    assert "raters judge:x" in answer.json()["detail"]
    assert read(client, "studies/made/tables/other/").status_code == 422
    assert read(client, "snapshots/999999/tables/data/").status_code == 404


@pytest.mark.parametrize(
    ("kind", "query", "place"),
    [
        ("standings", "?method=davidson&ties=off", {"raters": "people", "ties": "off", "method": "davidson"}),
        ("matrices", "?category=coding", {"raters": "people", "ties": "on", "category": "coding"}),
        ("ratings", "?raters=judge:judy", {"raters": "judge:judy"}),
        ("correlation", "?raters=judge:judy&ties=off&method=elo", {"raters": "judge:judy"}),
        ("agreement", "", {"raters": "people"}),
        ("length", "?category=poems", {"raters": "people", "category": "poems"}),
        ("data", "?raters=judge:judy", {"raters": ""}),
    ],
)
def test_tables_are_those_of_the_snapshot(made, client, kind, query, place):
    close(made)
    snapshot = Snapshot.objects.get()
    wanted = {"raters": "", "ties": "", "category": "", "method": "", **place}
    stored = SnapshotSlice.objects.get(snapshot=snapshot, kind=kind, **wanted)
    for path in ("studies/made", f"snapshots/{snapshot.pk}"):
        found = read(client, f"{path}/tables/{kind}/{query}").json()
        assert found == {"snapshot": snapshot.pk, "kind": kind, **wanted, "content": stored.content}


def test_votes_come_page_by_page_once_the_study_is_closed(made, client, django_assert_max_num_queries):
    answer = read(client, "studies/made/comparisons/")
    assert answer.status_code == 403
    assert "when rating ends" in answer.json()["detail"]
    operator = issue_token(make_rater(user=make_user(is_staff=True)))
    assert read(client, "studies/made/comparisons/", operator).status_code == 403
    close(made)
    found, after = [], 0
    while after is not None:
        page = read(client, f"studies/made/comparisons/?limit=4&after={after}").json()
        found += page["items"]
        after = page["next"]
    assert len(found) == 10
    assert [vote["id"] for vote in found] == sorted(vote["id"] for vote in found)
    assert (found[0]["first"], found[0]["second"], found[0]["rating"]) == ("Alpha", "Beta", 1)
    assert found[0]["rater"] == pseudonym(made.study, made.person.pk)
    assert (found[2]["rater"], found[2]["simulated"], found[2]["second_score"]) == ("judy", True, 2.5)
    assert (found[-1]["rating"], found[-1]["reason"]) == (None, "empty")
    assert "Ada" not in json.dumps(found)
    assert len(read(client, "studies/made/comparisons/?raters=people&category=poems").json()["items"]) == 3
    assert read(client, "studies/made/comparisons/?raters=x").status_code == 404
    with django_assert_max_num_queries(7):
        read(client, "studies/made/comparisons/")


def test_contestants_are_listed(made, client):
    found = read(client, "studies/made/contestants/?limit=2").json()
    assert found["count"] == 3
    assert found["items"][0] == {
        "name": "Alpha",
        "slug": made.contestants["Alpha"].slug,
        "kind": "model",
        "family": "",
        "organisation": "",
        "licence": "",
        "size": "",
        "retired": False,
        "provisional": False,
    }


SETTING_UP = {"setting up studies", "importing", "people", "models", "judges", "battles"}
"""Tags of operations for operators alone."""


def test_the_document_says_where_no_token_is_needed(client):
    document = client.get("/api/v1/openapi.json").json()
    for path, operations in document["paths"].items():
        for operation in operations.values():
            is_open = {} in operation["security"]
            reads = operation in (operations.get("get"),) and not SETTING_UP & {*operation["tags"]}
            assert is_open == (reads and ("/studies/" in path or "/snapshots/" in path)), path
            assert operation["summary"]
            assert set(operation["responses"]) >= {"401", "403"}
            if is_open:
                assert "304" in operation["responses"]
