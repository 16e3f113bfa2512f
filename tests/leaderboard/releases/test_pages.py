"""Pages and API of releases: who may see them, what they show, and what operators do there."""

import json

import pytest
import yaml

from arena.api.auth import issue_token
from arena.models import Membership, Role
from leaderboard.models import Release
from leaderboard.refreshing import services as snapshots
from leaderboard.releases.services import correct
from tests import factories
from tests.leaderboard.releases.releasing import make_board, release

pytestmark = pytest.mark.django_db

HOSTILE = "<img src=x onerror=alert(1)>"
API = ("", "1/", "2/changes/1/")


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    made = make_board(licence="CC-BY-4.0", simulated=True)
    release(
        made,
        authors=["Ada Lovelace <0000-0002-1825-0097>"],
        licence="CC-BY-4.0",
        changelog=f"First.\n\n{HOSTILE}",
    )
    release(made, "1.1")
    return made


@pytest.fixture
def operator(made, client):
    rater = factories.make_member(made.study)
    Membership.objects.filter(rater=rater).update(role=Role.OPERATOR)
    client.force_login(rater.user)
    return rater.user


def statuses(client):
    return {client.get(f"/api/v1/studies/made/releases/{path}").status_code for path in API}


def test_a_release_is_seen_by_those_who_see_the_board(made, client):
    assert statuses(client) == {200}
    made.study.visibility = "private"
    made.study.save()
    assert statuses(client) == {404}
    rater = factories.make_member(made.study)
    client.force_login(rater.user)
    assert client.get("/studies/made/releases/1/").status_code == 404
    Membership.objects.filter(rater=rater).update(role=Role.VIEWER)
    assert client.get("/studies/made/releases/1/").status_code == 200
    token = issue_token(factories.make_rater(user=factories.make_user(is_staff=True)))
    answer = client.get("/api/v1/studies/made/releases/1/", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200


def test_a_study_without_a_release_says_so(client):
    factories.make_study(slug="new", visibility="public")
    assert "No release yet." in client.get("/studies/new/releases/").content.decode()


def test_the_page_shows_what_was_frozen_and_escapes_it(made, client):
    page = client.get("/studies/made/releases/1/").content.decode()
    stored = Release.objects.get(number=1)
    for text in (
        "Made, version 1.0",
        "Leaderboard by People",
        stored.sha256,
        "@misc{likert-arena-made-1.0,",
        "https://orcid.org/0000-0002-1825-0097",
        "A newer release exists",
        "Simulated ratings say nothing about real models.",
        "methodology/#ranks-groups-and-probabilities",
        "&lt;img src=x onerror",
    ):
        assert text in page
    assert HOSTILE not in page
    found = yaml.safe_load(client.get("/studies/made/releases/1/citation.cff").content)
    assert (found["license"], found["url"]) == ("CC-BY-4.0", "http://testserver/studies/made/releases/1/")


def test_a_correction_changes_the_etag(made, client):
    path = "/studies/made/releases/1/"
    tag = client.get(path)["ETag"]
    assert correct(1, made.study, "10.5281/zenodo.7", "", factories.make_user(is_staff=True))
    again = client.get(path, headers={"If-None-Match": tag})
    assert again.status_code == 200
    assert "https://doi.org/10.5281/zenodo.7" in again.content.decode()


def test_the_bundle_waits_until_the_study_is_closed(made, client):
    made.study.closed_at = None
    made.study.save()
    answer = client.get("/studies/made/releases/1/bundle.zip")
    assert answer.status_code == 403
    assert "when rating ends" in answer.content.decode()
    assert Release.objects.get(number=1).sha256 in answer.content.decode()


def test_the_board_names_the_newest_release_and_says_when_it_is_newer(made, client):
    for path in ("/studies/made/", "/studies/made/results/"):
        page = client.get(path).content.decode()
        assert "Same as release" in page
        assert "/studies/made/releases/2/" in page
    made.rate("Alpha", "Beta", 3)
    snapshots.refresh(made.study)
    assert "Newer than release" in client.get("/studies/made/").content.decode()


def test_the_api_has_everything_of_a_release(made, client):
    listed = client.get("/api/v1/studies/made/releases/").json()
    assert [each["version"] for each in listed["items"]] == ["1.1", "1.0"]
    found = client.get("/api/v1/studies/made/releases/1/").json()
    assert listed["items"][1].items() <= found.items()
    assert found["authors"] == [{"name": "Ada Lovelace", "orcid": "0000-0002-1825-0097", "affiliation": ""}]
    assert [board["raters"] for board in found["boards"]] == ["people", "judge:strict"]
    assert [row["rank"] for row in found["boards"][0]["standings"]] == [1, 2, 3]
    assert found["provenance"][0]["people"] == 6
    stored = Release.objects.get(number=1)
    assert (found["judges"], found["sha256"], found["size"]) == (stored.judges, stored.sha256, stored.size)
    assert "127.0.0.1" not in json.dumps(found)
    assert yaml.safe_load(found["cff"])["version"] == "1.0"


class TestOperators:
    def test_a_release_is_made_from_the_form(self, made, client, operator):
        form = client.get("/operate/made/releases/").content.decode()
        assert 'value="CC-BY-4.0"' in form
        given = {"version": "2.0", "authors": "Ada <x>\r\n\r\nAlan Turing", "licence": "", "doi": ""}
        for _ in range(2):
            answer = client.post("/operate/made/releases/", given)
            assert (answer.status_code, answer["Location"]) == (302, "/studies/made/releases/3/")
        stored = Release.objects.get(version="2.0")
        assert [author["name"] for author in stored.authors] == ["Ada", "Alan Turing"]

    def test_wrong_fields_are_named_and_kept(self, made, client, operator):
        given = {"version": "1.1", "authors": "Alan", "doi": "x", "changelog": HOSTILE}
        answer = client.post("/operate/made/releases/", given)
        page = answer.content.decode()
        assert answer.status_code == 422
        assert "“x” is not a DOI" in page
        assert HOSTILE not in page
        assert "&lt;img src=x" in page
        answer = client.post("/operate/made/releases/", {**given, "doi": ""})
        assert "Release 2 of this study is version 1.1; choose another." in answer.content.decode()
        assert Release.objects.count() == 2

    def test_numbers_that_are_behind_are_refused(self, made, client, operator, monkeypatch):
        monkeypatch.setattr("celery.current_app.send_task", lambda *args, **options: None)
        made.rate("Alpha", "Beta", 3)
        answer = client.post("/operate/made/releases/", {"version": "2.0", "authors": "Ada"})
        assert answer.status_code == 409
        assert "1 rating came in since" in answer.content.decode()

    def test_a_doi_is_filled_in_later(self, made, client, operator):
        given = {"doi": "10.5281/zenodo.7", "changelog": "First."}
        assert client.post("/operate/made/releases/1/", given).status_code == 302
        assert Release.objects.get(number=1).doi == "10.5281/zenodo.7"
        assert client.post("/operate/made/releases/1/", {"doi": "7"}).status_code == 422
        assert client.get("/operate/made/releases/9/").status_code == 404

    def test_others_may_not(self, made, client):
        client.force_login(factories.make_member(made.study).user)
        for path in ("", "1/"):
            assert client.post(f"/operate/made/releases/{path}", {}).status_code == 404

    def test_the_page_of_deletion_names_the_releases(self, made, staff):
        page = staff.get("/operate/made/state/delete/").content.decode()
        assert "This also deletes 2 releases." in page
        assert "version 1.0 of" in page
