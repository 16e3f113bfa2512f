import io
import json
import zipfile

import pytest
import time_machine

from arena.data import export
from arena.files import writing
from arena.models import Comparison, StudyEvent
from leaderboard.files import interchange
from leaderboard.refreshing import services
from tests import factories as make
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

PAGE = "/studies/small/export/"
FILE = "/studies/small/export/file/"


@pytest.fixture(scope="module")
def shared(shared_rows):
    made = HandMade("=alpha", "beta", slug="small", visibility="private")
    made.rate("=alpha", "beta", 1)
    made.rate("beta", "=alpha", 4)
    return made


def body(response):
    return b"".join(response.streaming_content)


@pytest.mark.parametrize("visibility", ["private", "public"])
@pytest.mark.parametrize("path", [PAGE, f"{FILE}?what=completions&format=csv", "/studies/none/export/"])
def test_only_operators_come_in(made, client, path, visibility):
    made.change(visibility=visibility)
    answer = client.get(path)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/account/sign-in/?next=")
    client.force_login(make.make_member(made.study).user)  # type: ignore[arg-type]
    answer = client.get(path)
    assert answer.status_code == 403
    assert b"alpha" not in answer.content


def test_the_page_counts_rows_offers_every_form_and_says_what_an_operator_should_know(made, staff):
    page = staff.get(PAGE).content.decode()
    offered = dict.fromkeys(("all", *export.TABLES, "standings", "error_tags"), ("csv", "jsonl", "parquet"))
    for what, forms in (offered | interchange.OTHERS).items():
        for form in forms:
            assert f'href="{FILE}?what={what}&amp;format={form}"' in page
    rows = [cell.partition("<")[0] for cell in page.split('<td class="num">')[1:]]
    assert rows == ["", "1", "2", "1", "1", "0", "2", "0", "0", "2", "0", "0", "0", *[""] * 7]
    assert "changed since" not in page
    made.change(simulated=True)
    made.study.prompts.get().completions.filter(contestant__name="beta").update(is_current=False)
    page = staff.get(PAGE).content.decode()
    assert "Simulated ratings." in page
    assert "2 ratings are about an answer that was changed later" in page


@pytest.mark.parametrize("what", ["leaderboard", "arena", "preferences", "consensus", "evalica"])
def test_files_for_other_programs_come_while_the_study_is_open(made, staff, what):
    services.refresh(made.study)
    answer = staff.get(f"{FILE}?what={what}&format=jsonl")
    assert f'filename="small-{what}-' in answer["Content-Disposition"]
    assert json.loads(body(answer).splitlines()[0])


def test_without_pyarrow_parquet_is_not_offered(made, staff, monkeypatch):
    monkeypatch.setattr(writing, "has_parquet", lambda: False)
    assert "format=parquet" not in staff.get(PAGE).content.decode()
    answer = staff.get(FILE, {"what": "raters", "format": "parquet"})
    assert answer.status_code == 404
    assert "Parquet needs pyarrow: make parquet" in answer.content.decode()


@pytest.mark.parametrize(
    ("form", "media_type", "start"),
    [
        ("csv", "text/csv; charset=utf-8", b"\xef\xbb\xbfname,slug"),
        ("jsonl", "application/x-ndjson", b'{"name": "=alpha"'),
        ("parquet", "application/vnd.apache.parquet", b"PAR1"),
    ],
)
def test_a_table_is_an_attachment_of_a_telling_name(made, staff, form, media_type, start):
    with time_machine.travel("2025-03-01T23:30:00Z", tick=False):
        staff.force_login(make.make_user(is_staff=True))
        answer = staff.get(FILE, {"what": "contestants", "format": form})
    assert answer.streaming
    assert answer["Content-Type"] == media_type
    assert answer["Content-Disposition"] == f'attachment; filename="small-contestants-2025-03-01.{form}"'
    assert body(answer).startswith(start)


def test_everything_is_a_zip_that_holds_the_folder(made, staff, monkeypatch):

    services.refresh(made.study)
    answer = staff.get(FILE, {"what": "all", "format": "jsonl"})
    assert answer["Content-Type"] == "application/zip"
    archive = zipfile.ZipFile(io.BytesIO(body(answer)))
    tables = ["comparisons", "completions", "contestants", "prompts", "raters", "study"]
    record = ["for-the-record/standings"]
    assert sorted(archive.namelist()) == sorted(f"{name}.jsonl" for name in [*tables, *record])
    assert [json.loads(line)["rating"] for line in archive.read("comparisons.jsonl").splitlines()] == [1, 4]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"what": "votes", "format": "csv"}, "No such download. Choose one below."),
        ({"what": "raters", "format": "xlsx"}, "No such download. Choose one below."),
        ({}, "No such download. Choose one below."),
        ({"what": "standings", "format": "csv"}, "has no scores yet"),
    ],
)
def test_what_cannot_be_downloaded_is_said_on_the_page(made, staff, query, sentence):
    answer = staff.get(FILE, query)
    assert answer.status_code == staff.get("/studies/none/export/").status_code == 404
    assert sentence in answer.content.decode()


def test_the_study_leads_to_the_page(made, client):
    client.force_login(make.make_user(is_staff=True, is_superuser=True))
    for path in ("/operate/small/export/",):
        assert PAGE in client.get(path).content.decode()


@pytest.mark.parametrize(
    ("what", "title", "named"),
    [("all", "Everything", True), ("comparisons", "Ratings", True), ("evalica", "Games for evalica", False)],
)
def test_each_download_is_in_the_log_which_says_whether_it_names_people(made, staff, what, title, named):
    sign_in(made)
    staff.head(FILE, {"what": what, "format": "jsonl"})
    assert not StudyEvent.objects.exists()
    body(staff.get(FILE, {"what": what, "format": "jsonl"}))
    line = StudyEvent.objects.get(kind="exported", study=made.study)
    assert line.by is not None
    assert line.note == f"{title} as JSON Lines.{' Names people.' if named else ''}"


def sign_in(made):
    made.person.user = make.make_user()
    made.person.save()


def test_the_page_says_whose_ratings_a_file_holds_and_where_people_are_named(made, staff):
    assert "sign in" not in staff.get(PAGE).content.decode()
    sign_in(made)
    page = staff.get(PAGE).content.decode()
    assert "Everything, Raters, Ratings, Text scores, Checks hold the names by which raters sign in." in page
    assert "Left, right and winner of each rating. Ratings by people only." in page
    Comparison.objects.update(rater=made.judge("judy"))
    services.refresh(made.study)
    page = staff.get(PAGE).content.decode()
    assert "Left, right and winner of each rating. Ratings by JUDY only." in page
    assert body(staff.get(FILE, {"what": "evalica", "format": "csv"})).count(b"\n") == 3
