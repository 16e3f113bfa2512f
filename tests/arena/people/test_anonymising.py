"""Taking a person's details away: nothing names them any more, and what they rated stays."""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from arena.api.auth import digest
from arena.models import (
    Answer,
    ApiToken,
    Comparison,
    Flag,
    ImportJob,
    Invitation,
    Membership,
    Rater,
    Role,
    Score,
    Study,
    StudyEvent,
)
from arena.people.anonymising import GONE, anonymise, why_not
from tests import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

NAMES = {
    "username": "zebulon",
    "email": "zeb@example.org",
    "first_name": "Zebulon",
    "last_name": "Quartermain",
    "password": "a-good-password",
}


@pytest.fixture
def study() -> Study:
    return make.make_small_study(name="Rivers", slug="rivers")


@pytest.fixture
def rater(study: Study) -> Rater:
    """Somebody whose name stands wherever it can stand."""
    user = make.make_user(**NAMES)
    rater = make.make_member(study, user=user, name="Zebulon Quartermain", slug="zebulon")
    pair = make.make_pair(prompt=study.prompts.first())
    assignment = make.make_assignment(pair=pair, rater=rater, skip_reason="flagged: other")
    make.make_comparison(pair=pair, rater=rater, rationale="The first one is right.", rating=2, seconds=4)
    text = make.make_completion(prompt=study.prompts.first())
    said = {"completion": text, "rater": rater, "rationale": "As Zebulon says.", "external_id": "zebulon-1"}
    make.make_score(**said, extra={"by": "zebulon"}, raw_reply="Zebulon")
    make.make_answer(**said, extra={"by": "zebulon"}, raw_reply="Zebulon")
    Flag.objects.create(assignment=assignment, reason="other", comment="Broken for me")
    ApiToken.objects.create(rater=rater, digest=digest("a key"), label="zebulon's laptop")
    Invitation.objects.create(study=study, note="For Zebulon, the geologist")
    StudyEvent.objects.create(study=study, kind="rater_paused", rater=rater, note="ZEBULON asked for a pause")
    staff = make.make_user(is_staff=True)
    LogEntry.objects.log_actions(staff.pk, [rater], CHANGE, "Renamed zebulon.", single_object=True)
    LogEntry.objects.log_actions(staff.pk, [user], CHANGE, [{"changed": {"name": "zeb@example.org"}}])
    make.make_import_job(("zebulon.jsonl", "{}"), study=study)
    ImportJob.objects.update(report={"notes": ["rater zebulon is new"], "records": 1})
    client = Client()
    client.post(reverse("account_login"), {"username": "zebulon", "password": "wrong"})
    client.post(reverse("account_login"), {"username": "zebulon", "password": NAMES["password"]})
    assert "_auth_user_id" in client.session
    del client.cookies["sessionid"]  # the browser stays known
    client.post(reverse("account_login"), {"username": "zebulon", "password": "wrong"})
    EmailAddress.objects.create(user=user, email="zeb@example.org", verified=True)
    SocialAccount.objects.create(user=user, provider="oidc", uid="zebulon")
    return rater


def dumped() -> str:
    """Everything the database holds, as text."""
    out = io.StringIO()
    call_command("dumpdata", "--all", stdout=out)
    return out.getvalue().lower()


def left(names: list[str]) -> list[str]:
    """Lines of a dump in which one of the names still stands."""
    rows = json.loads(dumped())
    return [str(row) for row in rows if any(name in json.dumps(row).lower() for name in names)]


def test_no_row_of_the_database_names_the_person_any_more(rater: Rater) -> None:
    assert len(left(["zebulon"])) > 8  # the dump shows what is looked for
    anonymise(rater, None, keep_comments=False)
    assert left(["zebulon", "quartermain", "zeb@"]) == []
    assert Comparison.objects.get().rationale == ""
    assert Flag.objects.get().comment == GONE


def test_the_account_is_gone_with_its_sessions_and_keys(rater: Rater) -> None:
    user = rater.user
    client = make.make_client(user)
    anonymise(rater, None)
    assert client.get(reverse("own-details")).status_code == 302
    assert not type(user).objects.filter(pk=user.pk).exists()
    assert not ApiToken.objects.exists()
    again = client.post(reverse("account_login"), {"username": "zebulon", "password": NAMES["password"]})
    assert again.status_code == 200
    assert "_auth_user_id" not in client.session


def test_what_was_rated_stays_as_it_was(rater: Rater) -> None:
    columns = ("pk", "pair", "rater", "rating", "swapped", "seconds", "created_at", "purpose", "is_current")
    before = list(Comparison.objects.values(*columns))
    counters = list(Study.objects.values_list("revision", flat=True))
    anonymise(rater, None)
    assert list(Comparison.objects.values(*columns)) == before
    assert list(Study.objects.values_list("revision", flat=True)) == counters
    assert Membership.objects.filter(rater=rater).exists()
    assert Comparison.objects.get().rationale == "The first one is right."
    assert (Score.objects.get().value, Answer.objects.get().value) == (3, "yes")
    assert Answer.objects.get().rationale == "As Zebulon says."


@pytest.mark.parametrize("made", [make.make_score, make.make_answer])
def test_whoever_only_scored_or_checked_has_a_part_in_the_study(study: Study, made: Any) -> None:
    rater = make.make_rater(user=make.make_user())
    made(completion=study.prompts.get(pk=study.prompts.first().pk).completions.first(), rater=rater)
    event = StudyEvent.objects.create(study=study, kind=StudyEvent.Kind.PAUSED, note=f"For {rater.name}.")
    assert why_not(rater, make.make_user()).startswith("This person also rates in studies of other")
    anonymise(rater, None)
    event.refresh_from_db()
    assert event.note == f"For {GONE}."


def test_the_name_says_that_somebody_was_there(rater: Rater, study: Study) -> None:
    after = anonymise(rater, make.make_user(is_staff=True))
    assert after.name.startswith("former rater ")
    assert after.slug == after.name.replace(" ", "-")
    assert after.anonymised_at is not None
    event = study.events.get(kind="anonymised")
    assert (event.rater, event.note) == (rater, "")
    assert event.by is not None
    again = anonymise(rater, None)
    assert (again.name, again.anonymised_at) == (after.name, after.anonymised_at)
    assert study.events.filter(kind="anonymised").count() == 1


def test_other_people_are_left_alone(rater: Rater, study: Study) -> None:
    other = make.make_member(study, user=make.make_user(username="zebulonia"), name="Zebulonia")
    note = Invitation.objects.create(study=study, note="For zebulonia")
    client = Client()
    assert other.user is not None
    client.force_login(other.user)
    anonymise(rater, None)
    note.refresh_from_db()
    other.refresh_from_db()
    assert (note.note, other.name) == ("For zebulonia", "Zebulonia")
    assert client.get(reverse("rate")).status_code == 200


def test_notes_of_studies_the_person_has_no_part_in_are_left_alone(study: Study) -> None:
    link = Invitation.objects.create(study=study, note="to be sent")
    notes = [
        StudyEvent.objects.create(study=one, kind=StudyEvent.Kind.PAUSED, note="Until the prompts are there.")
        for one in (study, make.make_study())
    ]
    for name in ("the", "be"):
        anonymise(make.make_member(study, user=make.make_user(username=name), name=name), None)
    assert StudyEvent.objects.get(pk=notes[0].pk).note == f"Until {GONE} prompts are there."
    assert StudyEvent.objects.get(pk=notes[1].pk).note == "Until the prompts are there."
    link.refresh_from_db()
    assert link.note == "to be sent", "a name of two letters empties no note of others"


@pytest.mark.both_databases(False)
def test_who_may_remove_whose_details(rater: Rater, study: Study) -> None:
    operator = make.make_member(study)
    Membership.objects.filter(rater=operator).update(role=Role.OPERATOR)
    staff, judge = make.make_user(is_staff=True), make.make_rater(kind="judge")
    assert why_not(rater, operator.user) == ""
    assert why_not(rater, staff) == ""
    assert "account menu" in why_not(operator, operator.user)
    assert "staff account" in why_not(make.make_member(study, user=make.make_user(is_staff=True)), staff)
    assert "no personal details" in why_not(judge, staff)
    with pytest.raises(ValueError, match="no personal details"):
        anonymise(judge, None)
    Membership.objects.create(study=make.make_study(), rater=rater)
    assert "studies of other operators" in why_not(rater, operator.user)
    assert "already" in why_not(anonymise(rater, staff), staff)


@pytest.fixture
def page(rater: Rater) -> str:
    return reverse("operate-remove-details", args=["rivers", rater.pk])


@pytest.mark.both_databases(False)
def test_the_operator_has_to_type_the_name(rater: Rater, page: str) -> None:
    client = make.make_client(make.make_user(is_staff=True))
    assert "Zebulon Quartermain" in client.get(page).content.decode()
    refused = client.post(page, {"typed": "zebulon", "comments": "keep"})
    assert refused.status_code == 422
    assert "Nothing was changed" in refused.content.decode()
    assert Rater.objects.get(pk=rater.pk).anonymised_at is None
    assert client.post(page, {"typed": "Zebulon Quartermain", "comments": "blank"}).status_code == 302
    assert Rater.objects.get(pk=rater.pk).anonymised_at is not None
    assert Comparison.objects.get().rationale == ""
    assert "already been removed" in client.get(page).content.decode()


def test_people_remove_their_own_details_with_their_password(rater: Rater, study: Study) -> None:
    client = Client()
    assert rater.user is not None
    client.force_login(rater.user)
    page = reverse("own-details")
    refused = client.post(page, {"password": "wrong", "comments": "blank"})
    assert refused.status_code == 422
    assert "This is not your password" in refused.content.decode()
    done = client.post(page, {"password": NAMES["password"], "comments": "blank"}, follow=True)
    assert "Your details are removed" in done.content.decode()
    assert left(["zebulon", "quartermain"]) == []
    event = study.events.get(kind="anonymised")
    assert (event.by, event.note) == (None, "Asked for by the person.")
    assert client.get(page).status_code == 302


@pytest.mark.both_databases(False)
def test_staff_are_told_why_they_cannot_and_somebody_without_a_study_can_go_too() -> None:
    staff = make.make_client(make.make_user(is_staff=True))
    response = staff.post(reverse("own-details"), {"password": "pw", "comments": "keep"})
    assert response.status_code == 403
    assert "This is a staff account" in response.content.decode()
    client, sent = (
        make.make_client(make.make_user(**NAMES)),
        {"password": NAMES["password"], "comments": "keep"},
    )
    assert client.post(reverse("own-details"), sent).status_code == 302
    assert left(["zebulon"]) == []


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    def run(*arguments: str, typed: str = "") -> str:
        out = io.StringIO()
        monkeypatch.setattr("builtins.input", lambda prompt: typed)
        call_command("anonymise_rater", *arguments, stdout=out)
        return out.getvalue()

    return run


@pytest.mark.both_databases(False)
def test_without_a_terminal_nothing_changes(rater: Rater, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(CommandError, match="No name was typed"):
        call_command("anonymise_rater", "zebulon", stdout=io.StringIO())
    assert Rater.objects.get(pk=rater.pk).name == rater.name


@pytest.mark.both_databases(False)
def test_the_command_asks_for_the_name(rater: Rater, command: Callable[..., str]) -> None:
    with pytest.raises(CommandError, match="The name is different"):
        command("zebulon", typed="zebulon")
    assert "former rater" in command("zebulon", typed="Zebulon Quartermain")
    assert left(["quartermain"]) == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [(["nobody"], "Unknown person"), (["nobody", "--study", "rivers"], "in the study rivers")],
)
def test_the_command_says_whom_it_does_not_find(
    study: Study, command: Callable[..., str], arguments: list[str], problem: str
) -> None:
    with pytest.raises(CommandError, match=problem):
        command(*arguments, "--yes")


def test_an_imported_rater_goes_by_the_study(study: Study, command: Callable[..., str]) -> None:
    imported = make.make_rater(study=study, slug="worker-9", name="Worker Nine")
    row: Any = make.make_comparison(
        pair=make.make_pair(prompt=study.prompts.first()), rater=imported, external_id="worker-9/1"
    )
    command("worker-9", "--study", "rivers", "--yes")
    row.refresh_from_db()
    assert row.external_id == ""
    assert left(["worker-9", "worker nine"]) == []
