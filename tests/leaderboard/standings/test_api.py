import pytest
from celery import current_app

from arena.api.auth import issue_token
from leaderboard.models import ComputedView, Snapshot
from leaderboard.refreshing import computing, services
from leaderboard.snapshots import on_demand
from tests.factories import make_rater, make_study, make_user
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db
ROUNDS = 20


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    made = HandMade("Alpha", "Beta", slug="made", name="Made")
    judge = made.judge("judy", simulated=True)
    for rating in (1, 2, 7):
        made.rate("Alpha", "Beta", rating)
        made.rate("Alpha", "Beta", rating, rater=judge)
    services.refresh(made.study)
    return made


@pytest.fixture
def token():
    return issue_token(make_rater(kind="judge"))


@pytest.fixture
def operator():
    return issue_token(make_rater(user=make_user(is_staff=True)))


def read(client, token, path):
    return client.get(f"/api/v1/{path}", headers={"Authorization": f"Bearer {token}"})


def test_studies_are_the_public_ones_and_all_for_operators(client, made, token, operator):
    make_study(slug="hidden", name="Hidden")
    listed = read(client, token, "studies/").json()
    assert listed == {
        "items": [
            {
                "slug": "made",
                "name": "Made",
                "description": "",
                "visibility": "public",
                "closed": False,
                "simulated": True,
                "points": 8,
                "snapshot": Snapshot.objects.get().pk,
            }
        ],
        "count": 1,
    }
    listed = read(client, operator, "studies/?limit=1").json()
    assert [study["slug"] for study in listed["items"]] == ["hidden"]
    assert listed["count"] == 2
    (second,) = read(client, operator, "studies/?offset=1").json()["items"]
    assert second["slug"] == "made"


def test_standings_that_no_snapshot_holds_come_when_they_are_computed(client, made, token, monkeypatch):
    monkeypatch.setattr(current_app, "send_task", lambda *args, **options: None)
    query = "band=3-6&contestants=models&level=97.5&resample=games"
    waiting = read(client, token, f"studies/made/standings/?{query}")
    assert (waiting.status_code, waiting["Retry-After"]) == (202, "2")
    assert waiting.json() == {"detail": on_demand.Pending("wanted").sentence}
    assert computing.compute_next(made.study.pk)
    found = read(client, token, f"studies/made/standings/?{query}")
    assert found.json() == client.get(f"/studies/made/standings.json?{query}").json()
    used = found.json()["parameters"]
    assert (used["tie_band"], used["interval"], used["resample"]) == ("3-6", 97.5, "games")
    read(client, token, "studies/made/standings/?band=3-6")
    on_demand.fail(ComputedView.objects.get(state="wanted"), "MemoryError")
    reply = read(client, token, "studies/made/standings/?band=3-6")
    assert (reply.status_code, reply.json()) == (503, {"detail": on_demand.Pending("failed").sentence})


@pytest.mark.parametrize("query", ["", "?raters=judge:judy&ties=off&category=coding&method=bradley-terry"])
def test_standings_are_those_of_the_board(client, made, token, query):
    reply = read(client, token, f"studies/made/standings/{query}")
    board = client.get(f"/studies/made/standings.json{query}").json()
    assert reply.status_code == 200
    assert reply.json() == board
    assert board["parameters"]["rounds"]
    assert {row["contestant"] for row in board["standings"]} == {"Alpha", "Beta"}


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("studies/nothing/standings/", 'Unknown study "nothing".'),
        ("studies/hidden/standings/", 'Unknown study "hidden".'),
        ("studies/hidden/snapshots/", 'Unknown study "hidden".'),
        ("studies/made/standings/?ties=hal", 'This leaderboard has no ties "hal". It has: on, off.'),
        ("studies/made/standings/?raters=judge:x", 'This leaderboard has no raters "judge:x".'),
        ("studies/empty/standings/", "This study has no scores yet."),
        ("snapshots/999999/", "Unknown snapshot 999999."),
        (f"snapshots/{'9' * 30}/", f"Unknown snapshot {'9' * 30}."),
    ],
)
def test_what_is_not_there_is_said(client, made, token, path, sentence):
    make_study(slug="hidden")
    make_study(slug="empty", visibility="public")
    reply = read(client, token, path)
    assert reply.status_code == 404
    assert reply.json()["detail"].startswith(sentence)


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("studies/?limit=0", "limit"),
        ("studies/?limit=1000", "limit"),
        ("studies/?offset=99999999999999999999", "offset"),
        ("studies/a%00b/standings/", "slug"),
        (f"studies/{'x' * 81}/snapshots/", "slug"),
        ("studies/made/standings/?category=a%00b", "category"),
        ("studies/made/standings/?catgory=coding", "catgory"),
        ("studies/made/standings/?ties=on&ties=off", "ties"),
        ("studies/made/snapshots/?limit=5&raters=all", "raters"),
        ("snapshots/x/", "snapshot_id"),
        (f"snapshots/{'9' * 5000}/", "snapshot_id"),
    ],
)
def test_bad_parameters_are_named(client, made, token, path, field):
    reply = read(client, token, path)
    assert (reply.status_code, reply.json()["field"]) == (422, field)


def test_snapshots_newest_first_and_one_in_full(client, made, token):
    made.rate("Alpha", "Beta", 8)
    services.refresh(made.study)
    listed = read(client, token, "studies/made/snapshots/").json()
    newest, older = listed["items"]
    assert (listed["count"], newest["comparisons"], older["comparisons"]) == (2, 7, 6)
    shown = read(client, token, f"snapshots/{newest['id']}/").json()
    assert {name: shown[name] for name in newest} == newest
    snapshot = Snapshot.objects.get(pk=newest["id"])
    assert shown["parameters"] == snapshot.parameters
    assert shown["watermark"] == snapshot.watermark
    assert len(shown["slices"]) == snapshot.slices.count() > 4
    assert {"kind": "standings", "raters": "people", "ties": "on", "category": "", "method": "elo"} in shown[
        "slices"
    ]


def test_snapshots_of_private_studies_are_for_operators(client, made, token, operator):
    made.change(visibility="private")
    path = f"snapshots/{Snapshot.objects.get().pk}/"
    for read_path in (path, "studies/made/standings/", "studies/made/snapshots/"):
        assert read(client, token, read_path).status_code == 404
        assert read(client, operator, read_path).status_code == 200


def test_reading_takes_a_few_queries(client, made, token, django_assert_max_num_queries):
    for _ in range(5):
        make_study(visibility="public")
    with django_assert_max_num_queries(4):
        assert read(client, token, "studies/").json()["count"] == 6
    with django_assert_max_num_queries(5):
        assert read(client, token, "studies/made/snapshots/").json()["count"] == 1
