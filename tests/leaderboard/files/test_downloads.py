"""The operator's export page and its downloads."""

import io
import json
import zipfile
from typing import Any

import pytest
import time_machine
from django.test import Client

from arena.data import writing
from leaderboard.files import interchange
from leaderboard.refreshing import services
from tests import factories as make
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

PAGE = "/studies/small/export/"
FILE = "/studies/small/export/file/"


@pytest.fixture
def made() -> HandMade:
    made = HandMade("=alpha", "beta", slug="small", visibility="private")
    made.rate("=alpha", "beta", 1)
    made.rate("beta", "=alpha", 4)
    return made


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(make.make_user(is_staff=True))
    return client


def body(response: Any) -> bytes:
    return b"".join(response.streaming_content)


@pytest.mark.parametrize("visibility", ["private", "public"])
@pytest.mark.parametrize("path", [PAGE, f"{FILE}?what=completions&format=csv", "/studies/none/export/"])
def test_only_operators_come_in(made: HandMade, client: Client, path: str, visibility: str) -> None:
    made.study.visibility = visibility
    made.study.save()
    answer = client.get(path)
    assert answer.status_code == 302
    assert answer["Location"].startswith("/account/sign-in/?next=")
    client.force_login(make.make_member(made.study).user)  # type: ignore[arg-type]
    answer = client.get(path)
    assert answer.status_code == 403
    assert b"alpha" not in answer.content


def test_the_page_counts_rows_and_offers_every_form(made: HandMade, staff: Client) -> None:
    page = staff.get(PAGE).content.decode()
    for what in (
        "all",
        "contestants",
        "raters",
        "prompts",
        "completions",
        "pairs",
        "comparisons",
        "standings",
    ):
        for form in ("csv", "jsonl", "parquet"):
            assert f'href="{FILE}?what={what}&amp;format={form}"' in page
    rows = [cell.partition("<")[0] for cell in page.split('<td class="num">')[1:]]
    assert rows == ["", "2", "1", "1", "2", "0", "2", *[""] * 5]
    for what, forms in interchange.OTHERS.items():
        for form in forms:
            assert f'href="{FILE}?what={what}&amp;format={form}"' in page


@pytest.mark.parametrize("what", ["leaderboard", "arena", "preferences", "evalica"])
def test_files_for_other_programs_come_while_the_study_is_open(
    made: HandMade, staff: Client, what: str
) -> None:
    services.refresh(made.study)
    answer = staff.get(f"{FILE}?what={what}&format=jsonl")
    assert f'filename="small-{what}-' in answer["Content-Disposition"]
    assert json.loads(body(answer).splitlines()[0])


def test_a_page_without_warning_when_no_text_changed(made: HandMade, staff: Client) -> None:
    page = staff.get(PAGE).content.decode()
    assert "changed since" not in page


def test_the_page_says_what_an_operator_should_know(made: HandMade, staff: Client) -> None:
    made.study.simulated = True
    made.study.save()
    made.study.prompts.get().completions.filter(contestant__name="beta").update(is_current=False)
    page = staff.get(PAGE).content.decode()
    assert "made-up numbers, not opinions" in page
    assert "2 comparisons are about a text that was changed since" in page


def test_without_pyarrow_parquet_is_not_offered(
    made: HandMade, staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "has_parquet", lambda: False)
    assert "format=parquet" not in staff.get(PAGE).content.decode()
    answer = staff.get(FILE, {"what": "raters", "format": "parquet"})
    assert answer.status_code == 404
    assert "Parquet needs pyarrow: .venv/bin/pip install" in answer.content.decode()


@pytest.mark.parametrize(
    ("form", "media_type", "start"),
    [
        ("csv", "text/csv; charset=utf-8", b"\xef\xbb\xbfname,slug"),
        ("jsonl", "application/x-ndjson", b'{"name": "=alpha"'),
        ("parquet", "application/vnd.apache.parquet", b"PAR1"),
    ],
)
def test_a_table_is_an_attachment_of_a_telling_name(
    made: HandMade, staff: Client, form: str, media_type: str, start: bytes
) -> None:
    with time_machine.travel("2025-03-01T23:30:00Z", tick=False):
        staff.force_login(make.make_user(is_staff=True))
        answer = staff.get(FILE, {"what": "contestants", "format": form})
    assert answer.streaming
    assert answer["Content-Type"] == media_type
    assert answer["Content-Disposition"] == f'attachment; filename="small-contestants-2025-03-01.{form}"'
    assert body(answer).startswith(start)


def test_everything_is_a_zip_that_holds_the_folder(
    made: HandMade, staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "ROUNDS", 10)
    services.refresh(made.study)
    answer = staff.get(FILE, {"what": "all", "format": "jsonl"})
    assert answer["Content-Type"] == "application/zip"
    archive = zipfile.ZipFile(io.BytesIO(body(answer)))
    tables = ["comparisons", "completions", "contestants", "prompts", "raters"]
    record = ["for-the-record/standings.jsonl", "for-the-record/study.json"]
    assert sorted(archive.namelist()) == sorted([*(f"{name}.jsonl" for name in tables), *record])
    assert [json.loads(line)["rating"] for line in archive.read("comparisons.jsonl").splitlines()] == [1, 4]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"what": "votes", "format": "csv"}, "There is no such download; choose one from the list below."),
        ({"what": "raters", "format": "xlsx"}, "There is no such download; choose one from the list below."),
        ({}, "There is no such download; choose one from the list below."),
        ({"what": "standings", "format": "csv"}, "has no snapshot yet"),
    ],
)
def test_what_cannot_be_downloaded_is_said_on_the_page(
    made: HandMade, staff: Client, query: dict[str, str], sentence: str
) -> None:
    answer = staff.get(FILE, query)
    assert answer.status_code == 404
    assert sentence in answer.content.decode()


def test_an_unknown_study_is_not_found(staff: Client) -> None:
    assert staff.get("/studies/none/export/").status_code == 404


def test_the_study_leads_to_the_page(made: HandMade, client: Client) -> None:
    client.force_login(make.make_user(is_staff=True, is_superuser=True))
    for path in ("/studies/small/", "/operate/small/export/"):
        assert PAGE in client.get(path).content.decode()
