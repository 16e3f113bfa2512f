"""The page of the audit log and its files, for staff accounts."""

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client

from arena.audit.recording import Kind, record
from arena.models import Membership, Role, StudyEvent
from tests import factories as make

pytestmark = pytest.mark.django_db

PAGE = "/operate/audit/"


@pytest.fixture
def staff(client: Client) -> Any:
    user = make.make_user(username="sam", is_staff=True)
    client.force_login(user)
    return user


def lines(client: Client, **asked: str) -> list[str]:
    sent = b"".join(client.get("/operate/audit.jsonl", asked)).decode()  # type: ignore[arg-type]
    return [json.loads(line)["note"] for line in sent.splitlines()]


def test_only_staff_see_it(client: Client) -> None:
    rater = make.make_member(make.make_study())
    Membership.objects.update(role=Role.OPERATOR)
    client.force_login(rater.user)
    assert [client.get(f"/operate/audit{end}").status_code for end in ("/", ".csv", ".jsonl")] == [403] * 3


def test_an_empty_log_says_so(client: Client, staff: Any) -> None:
    assert "Nothing was recorded yet." in client.get(PAGE).content.decode()


def test_lines_are_chosen_by_account_study_kind_and_day(client: Client, staff: Any) -> None:
    study, other = make.make_study(slug="rivers"), make.make_user(username="olga")
    record(Kind.PAUSED, staff, "Lunch <b>", study=study)
    record(Kind.RIGHT, other, "May now start paid runs.", account=staff)
    record(Kind.BACKUP, None, "Backup made.")
    page = client.get(PAGE).content.decode()
    assert "Lunch &lt;b&gt;" in page
    assert "the arena" in page
    assert lines(client, by="sam") == ["May now start paid runs.", "Lunch <b>"]
    StudyEvent.objects.get(kind="downloaded")  # the file is itself on record
    assert lines(client, study="rivers") == ["Lunch <b>"]
    assert lines(client, kind="backup") == ["Backup made."]
    assert lines(client, by="olga", until="2001-01-01") == []
    assert lines(client, by="olga", since="2001-01-01", until="9999-12-31") == ["May now start paid runs."]
    study.delete()
    assert lines(client, study="rivers") == ["Lunch <b>"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"by": "nobody"}, "No account has the name “nobody”."),
        ({"study": "nowhere"}, "No study has had the address “nowhere”."),
        ({"kind": "party"}, "Choose from the list."),
        ({"since": "soon"}, "Enter a day such as 31 Dec 2030."),
        ({"since": "2030-01-02", "until": "2030-01-01"}, "The last day is before the first."),
        ({"study": "a\0b"}, "Remove the NUL character"),
    ],
)
def test_a_wrong_filter_is_said_and_shows_no_line(
    client: Client, staff: Any, asked: dict[str, str], said: str
) -> None:
    record(Kind.BACKUP, None, "Backup made.")
    for address in (PAGE, "/operate/audit.csv"):
        reply = client.get(address, asked)
        assert reply.status_code == 422
        assert said in reply.content.decode()
        assert "Backup made." not in reply.content.decode()


def test_csv_has_a_row_for_each_line(client: Client, staff: Any) -> None:
    study = make.make_study(slug="rivers")
    record(Kind.ROLE, staff, "rater to operator", study=study, rater=make.make_member(study, slug="rita"))
    sent = b"".join(client.get("/operate/audit.csv")).decode("utf-8-sig")  # type: ignore[arg-type]
    [row] = csv.DictReader(io.StringIO(sent))
    named = {name: row[name] for name in ("kind", "by", "rater", "study", "note")}
    assert named == {
        "kind": "role",
        "by": "sam",
        "rater": "rita",
        "study": "rivers",
        "note": "rater to operator",
    }


def test_pages_keep_the_filter(client: Client, staff: Any) -> None:
    for number in range(51):
        record(Kind.BACKUP, None, f"Backup {number}.")
    page = client.get(PAGE, {"kind": "backup", "page": "2"}).content.decode()
    assert "Backup 0." in page
    assert 'href="?page=1&amp;kind=backup"' in page
