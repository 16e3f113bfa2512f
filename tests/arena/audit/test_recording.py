"""What is recorded, and that it stays."""

import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from structlog.contextvars import clear_contextvars

from arena.api.auth import _signed, issue_token, operator_token
from arena.audit.recording import Kind, record
from arena.models import ApiToken, Membership, Role, StudyEvent
from arena.monitoring.logs import begin_command, current_command
from arena.monitoring.redacting import keep_secret
from tests import factories as make

pytestmark = pytest.mark.django_db


def last() -> StudyEvent:
    found = StudyEvent.objects.order_by("pk").last()
    assert found is not None
    return found


@pytest.fixture
def staff(client: Client) -> Any:
    user = make.make_user(username="sam", is_staff=True, is_superuser=True)
    client.force_login(user)
    return user


@pytest.mark.both_databases
def test_a_line_is_neither_changed_nor_deleted() -> None:
    """The trigger "event_append_only"."""
    user, study = make.make_user(), make.make_study()
    record(Kind.PAUSED, user, "Lunch", study=study)
    rows = StudyEvent.objects.all()
    changes: list[dict[str, Any]] = [
        {"note": "Dinner"},
        {"kind": "resumed"},
        {"command": "c"},
        {"by_number": 1_000_000},
    ]
    changes += [{"by": make.make_user()}, {"study": make.make_study()}, {"account": user}, {"request": "r"}]
    for change in changes:
        with pytest.raises(IntegrityError, match="what is in the log stays"), transaction.atomic():
            rows.update(**change)
    with pytest.raises(IntegrityError, match="what is in the log stays"), transaction.atomic():
        rows._raw_delete(rows.db)
    rows.update(note="[removed]")
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.update(note="[removed] again")


@pytest.mark.both_databases
def test_who_and_where_stay_known_when_accounts_and_studies_are_deleted() -> None:
    user, study = make.make_user(), make.make_study(slug="rivers")
    number = user.pk
    record(Kind.PAUSED, user, study=study)
    study.delete()
    user.delete()
    line = last()
    assert (line.study, line.study_slug, line.by) == (None, "rivers", None)
    assert line.who == f"former account {number}"


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_flush_empties_the_log_and_the_trigger_is_back() -> None:
    record(Kind.BACKUP, None)
    call_command("flush", verbosity=0, interactive=False)
    assert not StudyEvent.objects.exists()
    record(Kind.BACKUP, None)
    with pytest.raises(IntegrityError), transaction.atomic():
        StudyEvent.objects.update(note="x")


def test_a_secret_is_hidden_and_the_request_named(client: Client, staff: Any) -> None:
    keep_secret("very-secret-key")
    record(Kind.PAUSED, staff, "The key is very-secret-key.")
    assert last().note == "The key is [hidden]."
    study = make.make_study()
    reply = client.post(reverse("operate-state", args=[study.slug]), {"kind": "paused", "note": "Lunch"})
    line = last()
    assert (line.kind, line.by, line.study, line.note) == ("paused", staff, study, "Lunch")
    assert line.request == reply["X-Request-ID"]


def test_keys_are_on_record_without_their_text(client: Client, staff: Any) -> None:
    client.post(reverse("operate-keys"), {"rater": "", "label": "cluster", "scopes": ["read"]})
    key = ApiToken.objects.get()
    assert (last().note, last().by, last().rater) == (f"Key {key.pk} created, for read.", staff, key.rater)
    client.post(reverse("operate-revoke", args=[key.pk]))
    client.post(reverse("operate-revoke", args=[key.pk]))
    assert StudyEvent.objects.filter(note=f"Key {key.pk} revoked.", by=staff).count() == 1
    token = issue_token(key.rater)
    assert token not in " ".join(StudyEvent.objects.values_list("note", flat=True))
    call_command("api_token", key.rater.slug, "--revoke")
    assert (last().note, last().by) == (f"Key {ApiToken.objects.latest('pk').pk} revoked.", None)


@pytest.fixture
def command() -> Iterator[str]:
    """What is said of a command, while one is under way."""
    begin_command("export")
    yield current_command()
    clear_contextvars()


def test_commands_are_named_with_the_account_of_the_machine(command: str, tmp_path: Path) -> None:
    assert re.fullmatch(r"[^:]+: manage\.py export", command)
    prompts, out = tmp_path / "prompts.jsonl", tmp_path / "out.csv"
    prompts.write_text('{"id": "rain", "instruction": "Write a line about rain."}\n')
    call_command("import_data", "rivers", str(prompts), stdout=StringIO())
    call_command("import_data", "rivers", str(prompts), stdout=StringIO())
    call_command("import_data", "rivers", str(prompts), dry_run=True, stdout=StringIO())
    call_command("export", "rivers", what="comparisons", format="csv", out=str(out))
    call_command("operator", stdout=StringIO())
    lines = StudyEvent.objects.order_by("pk")
    assert {line.who for line in lines} == {command}
    assert [(line.kind, line.study_slug, line.note) for line in lines] == [
        ("imported", "rivers", "In a new study: 1 prompt."),
        ("imported", "rivers", "New: nothing."),
        ("exported", "rivers", "With --what comparisons --format csv."),
        ("password", "", "A new one, shown once."),
    ]


def test_what_a_command_has_the_arena_do_is_the_commands(command: str) -> None:
    token = operator_token()
    clear_contextvars()
    assert _signed(token)
    assert record(Kind.RUN, None).who == command
    assert record(Kind.RUN, make.make_user(username="ada")).who == "ada"


@pytest.mark.parametrize("name", ["serve", "worker"])
def test_what_the_arena_does_by_itself_is_no_command(name: str) -> None:
    begin_command(name)
    assert record(Kind.RUN, None).who == "the arena"


def test_downloads_of_what_people_rated(client: Client, staff: Any) -> None:
    study = make.make_study(slug="rivers")
    client.get(reverse("operate-rater-file", args=["rivers", "csv"]) + "?comments=1")
    assert (last().kind, last().note) == ("downloaded", "raters.csv, with comments.")
    assert last().study == study


def test_links_to_join(client: Client, staff: Any) -> None:
    study = make.make_study()
    client.post(reverse("operate-people", args=[study.slug]), {"role": "operator", "max_uses": "3"})
    link = study.invitations.get()
    assert last().note == f"Link {link.pk} created: for the role operator, for 3 people at most."
    client.post(reverse("operate-withdraw", args=[study.slug, link.pk]))
    assert (last().note, last().by) == (f"Link {link.pk} withdrawn.", staff)


def test_studies_made_and_deleted(client: Client, staff: Any) -> None:
    client.post(reverse("operate-new"), {"name": "Rivers", "slug": "rivers"})
    assert (last().kind, last().note) == ("created", "With the address rivers.")
    client.post(reverse("operate-delete", args=["rivers"]), {"typed": "Rivers"})
    assert (last().kind, last().study_slug, last().by) == ("deleted", "rivers", staff)


def test_what_is_changed_in_the_admin(client: Client, staff: Any) -> None:
    account = make.make_user(username="zoe")
    change = reverse("admin:auth_user_change", args=[account.pk])
    sent = {"username": "zoe", "is_active": "on", "is_staff": "on", "date_joined_0": "2030-01-01"}
    sent |= {"date_joined_1": "10:00:00"}
    assert client.post(change, sent).status_code == 302
    assert (last().kind, last().by, last().account) == ("admin", staff, account)
    assert "Staff status" in last().note
    assert last().note.endswith("It is active, staff now.")
    assert "zoe" not in last().note
    chosen = {"action": "delete_selected", "_selected_action": [account.pk], "post": "yes"}
    client.post(reverse("admin:auth_user_changelist"), chosen)
    assert not get_user_model().objects.filter(pk=account.pk).exists()
    assert (last().note, last().by) == (f"User {account.pk}: deleted.", staff)


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.RATER])
def test_sign_ins_of_operators_alone(client: Client, role: Role) -> None:
    user = make.make_user(username="ada", password="right-one-9")
    make.make_member(make.make_study(), user=user)
    Membership.objects.update(role=role)
    for password in [*["wrong-one-9"] * 12, "right-one-9"]:
        client.post(reverse("account_login"), {"username": "ada", "password": password})
    kinds = [event.kind for event in StudyEvent.objects.order_by("pk")]
    known = role == Role.OPERATOR
    assert kinds == ([*["sign_in_failed"] * 10, "locked_out"] if known else [])
    other = Client(REMOTE_ADDR="127.0.0.2")
    right = {"username": "ada", "password": "right-one-9"}
    assert other.post(reverse("account_login"), right).status_code == 302
    if known:
        assert (last().kind, last().by, last().account) == ("signed_in", user, user)
    assert "wrong-one" not in str(list(StudyEvent.objects.values()))
