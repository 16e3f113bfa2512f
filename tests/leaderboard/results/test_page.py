import io
import json
import os
import zipfile
from copy import deepcopy
from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.files.bundle import cache
from leaderboard.files.bundle.archive import Reader
from leaderboard.files.bundle.recomputing import recompute
from leaderboard.models import Snapshot
from leaderboard.refreshing import services
from tests import factories as make
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

PAGE = "/studies/made/results/"
VOTES = [
    *(f"{PAGE}arena.{form}" for form in ("jsonl", "csv", "note")),
    *(f"{PAGE}preferences.{form}" for form in ("jsonl", "csv", "note")),
    f"{PAGE}preferences.jsonl?conversational=1",
    *(f"{PAGE}consensus.{form}" for form in ("jsonl", "csv", "note")),
    f"{PAGE}evalica.csv",
    f"{PAGE}bundle.zip",
]
ROUNDS = 20


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    made = HandMade("Alpha", "Beta", "Gamma", slug="made", name="Of {mice} & men", categories=("coding", "x"))
    judge = made.judge("judy")
    for rating in (1, 2, 7):
        made.rate("Alpha", "Beta", rating)
        made.rate("Gamma", "Beta", rating, prompt=1)
        made.rate("Alpha", "Gamma", rating, rater=judge)
    services.refresh(made.study)
    return made


@pytest.fixture
def made(shared, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    return deepcopy(shared)


def close(made):
    made.change(closed_at=timezone.now())


def body(response):
    return b"".join(response.streaming_content) if response.streaming else response.content


@pytest.mark.parametrize("staff", [False, True])
@pytest.mark.parametrize("address", VOTES)
def test_votes_wait_until_the_study_is_closed(made, client, address, staff):
    if staff:
        client.force_login(make.make_user(is_staff=True))
    answer = client.get(address)
    assert answer.status_code == 403
    assert "when rating ends" in answer.content.decode()
    close(made)
    answer = client.get(address)
    assert answer.status_code == 200
    assert len(body(answer)) > 50


def test_no_file_is_offered_before_the_leaderboard_shows_ratings(made, client):
    snapshot = Snapshot.objects.newest(made.study)
    snapshot.slices.all().delete()
    text = client.get(PAGE).content.decode()
    assert "so it has no files" in text
    assert "leaderboard.csv" not in text


def test_leaderboard_json_is_public_conditional_and_named(made, client):
    made.change(licence="CC BY/4.0")
    answer = client.get("/studies/made/leaderboard.json?method=bradley-terry&ties=off")
    content = answer.json()
    assert set(content) == {"full", "coding", "x"}
    assert content["full"]["Alpha"]["ties_mode"] == "off"
    assert content["full"]["Alpha"]["method"] == "bradley-terry"
    assert f"made-leaderboard-CC-BY-4.0-{timezone.now():%Y-%m-%d}.json" in answer["Content-Disposition"]
    assert client.get("/studies/made/leaderboard.csv").content.startswith(b"\xef\xbb\xbfcategory,contestant,")


def test_raters_without_a_ranked_game_are_404(made, client):
    close(made)
    silent = made.judge("silent")
    made.rate("Alpha", "Beta", None, reason="refused", rater=silent)
    services.refresh(made.study)
    page = client.get(PAGE).content.decode()
    assert ">JUDY</option>" in page
    assert ">SILENT</option>" not in page
    assert client.get("/studies/made/leaderboard.json?raters=judge:silent").status_code == 404


def test_the_bundle_is_packed_once_and_computes_again(made, client, tmp_path):
    close(made)
    answer = client.get(f"{PAGE}bundle.zip")
    name = answer.headers["Content-Disposition"].split('"')[1]
    assert f"recompute {name}<" in client.get(PAGE).content.decode()
    content = body(answer)
    assert recompute(Reader(io.BytesIO(content))).verdict.is_equal
    kept = list((tmp_path / "bundles").iterdir())
    assert len(kept) == 1
    assert body(client.get(f"{PAGE}bundle.zip")) == content
    assert "zip, " in client.get(PAGE).content.decode()
    made.rate("Alpha", "Beta", 8, prompt=1)
    services.refresh(made.study)
    other = body(client.get(f"{PAGE}bundle.zip"))
    assert zipfile.ZipFile(io.BytesIO(other)).read("README.md") != zipfile.ZipFile(io.BytesIO(content)).read(
        "README.md"
    )
    assert len(list((tmp_path / "bundles").iterdir())) == 1, "that of the older snapshot is gone"


def test_a_bundle_of_another_database_is_not_taken_for_this_ones(made, client, tmp_path):
    close(made)
    content = body(client.get(f"{PAGE}bundle.zip"))
    (kept,) = (tmp_path / "bundles").iterdir()
    kept.write_bytes(b"of the database that was here before")
    Snapshot.objects.update(created_at=timezone.now() - timedelta(days=1))
    found = body(client.get(f"{PAGE}bundle.zip"))
    assert zipfile.ZipFile(io.BytesIO(found)).namelist() == zipfile.ZipFile(io.BytesIO(content)).namelist()


def test_what_dead_processes_and_deleted_studies_left_is_removed(made, client, tmp_path):
    close(made)
    folder = tmp_path / "bundles"
    folder.mkdir()
    own = made.study.pk
    names = f"{own}.1.zip.aa.part", f"{own}.1.zip.bb.part", "999999.1.zip", f"{own}-1-1-1.zip"
    old, new, gone, before = (folder / name for name in names)
    for path in (old, new, gone, before):
        path.write_bytes(b"x")
    os.utime(old, (0, 0))
    client.get(f"{PAGE}bundle.zip")
    assert [path.exists() for path in (old, new, gone, before)] == [False, True, False, False]


def test_one_bundle_is_packed_at_a_time_and_none_while_the_board_is_behind(made, client):
    close(made)
    with cache._making:
        answer = client.get(f"{PAGE}bundle.zip")
    assert answer.status_code == 503
    assert answer["Retry-After"] == "60"
    assert "being packed right now" in answer.content.decode()
    close(made)
    made.study.touch()
    answer = client.get(f"{PAGE}bundle.zip")
    assert answer.status_code == 409
    assert "refresh the study" in answer.content.decode()


def test_the_citation_names_what_makes_numbers_findable(made, client):
    page = client.get(PAGE)
    citation = page.context["page"].citation
    snapshot = Snapshot.objects.get()
    for text in (citation.bibtex, citation.text):
        assert f"method version {snapshot.methodology}" in text
        assert "http://testserver/studies/made/" in text
    assert r"Of \textbraceleft{}mice\textbraceright{} \& men" in citation.bibtex
    assert citation.bibtex.count("{") == citation.bibtex.count("}")
    assert "simulated" not in citation.text


def test_the_number_of_queries_does_not_grow_and_simulated_ratings_are_named(
    made, client, django_assert_max_num_queries
):
    close(made)
    with django_assert_max_num_queries(12):
        client.get(PAGE)
    with django_assert_max_num_queries(10):
        client.get("/studies/made/leaderboard.json")
    close(made)
    made.person.simulated = True
    made.person.save()
    services.refresh(made.study)
    assert "simulated ratings" in client.get(PAGE).context["page"].citation.text
    rows = [json.loads(line) for line in body(client.get(f"{PAGE}arena.jsonl")).splitlines()]
    assert {row["simulated"] for row in rows if row["rater_kind"] == "person"} == {True}
