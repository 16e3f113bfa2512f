"""Setting up a study over the API."""

from typing import Any

import pytest
from django.test import Client

from arena.api.auth import issue_token, operator_token
from arena.models import Membership, Study, StudyEvent
from arena.models.settings import SETTINGS
from arena.studies.api import SettingsIn, SettingsOut
from tests.factories import make_rater, make_small_study, make_study, make_user

pytestmark = pytest.mark.django_db


def token(**of_user: Any) -> str:
    return issue_token(make_rater(user=make_user(is_staff=True, **of_user)), scopes=["operate"])


def ask(method: str, path: str, body: object = None, token: str = "") -> Any:
    headers = {"Authorization": f"Bearer {token or operator_token()}"}
    options = {"content_type": "application/json", "headers": headers}
    return getattr(Client(), method)(f"/api/v1/studies/{path}", body or {}, **options)


def test_a_new_study_is_a_draft_of_whoever_made_it() -> None:
    reply = ask("post", "", {"name": "Summer 2026", "goal": 20, "tasks": ["score"]}, token())
    assert reply.status_code == 201
    said = reply.json()
    assert (said["slug"], said["state"], said["visibility"]) == ("summer-2026", "draft", "private")
    study = Study.objects.get()
    assert (study.goal, study.tasks, study.is_draft) == (20, ["score"], True)
    events = study.events.order_by("pk")
    assert [event.kind for event in events] == ["created", "setting", "setting"]
    assert {event.by.is_staff for event in events} == {True}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "Known"}, "name"),
        ({"name": "New", "slug": "known"}, "slug"),
        ({"name": "New", "slug": "-x"}, "slug"),
        ({"name": "New", "slug": "new"}, "slug"),
        ({"name": "New", "slug": "a b"}, "slug"),
        ({"name": "New", "visibility": "public"}, "visibility"),
        ({"name": "New", "tasks": ["score", "score"]}, "tasks"),
        ({"name": "New", "gold_share": 0.7}, "gold_share"),
        ({"name": "New", "goal": 9, "rater_limit": 8}, "rater_limit"),
        ({"name": "New", "colour": "red"}, "colour"),
    ],
)
def test_what_no_study_can_be(body: dict[str, Any], field: str) -> None:
    make_study(slug="known", name="Known")
    reply = ask("post", "", body)
    assert (reply.status_code, reply.json()["field"]) == (422, field)
    assert Study.objects.count() == 1


def test_every_setting_is_read_and_can_be_written() -> None:
    assert SettingsOut.model_fields.keys() == SETTINGS.keys()
    assert SettingsIn.model_fields.keys() == SETTINGS.keys() - {"is_draft"}
    study = make_small_study()
    told = ask("get", f"{study.slug}/settings/").json()
    assert {name: getattr(study, name) for name in SETTINGS} == told
    again = {name: value for name, value in told.items() if name != "is_draft"}
    assert ask("patch", f"{study.slug}/settings/", again).json() == told
    assert not StudyEvent.objects.exists()


def test_a_change_is_on_record_and_a_refused_one_changes_nothing() -> None:
    study, user = make_study(), make_user(is_staff=True)
    mine = issue_token(make_rater(user=user), scopes=["operate"])
    reply = ask("patch", f"{study.slug}/settings/", {"gold_share": 0.1, "goal": None}, mine)
    assert (reply.status_code, reply.json()["gold_share"]) == (200, 0.1)
    event = study.events.get()
    assert (event.by, event.note) == (user, "Hidden checks: 10%. Before: 0%.")
    reply = ask("patch", f"{study.slug}/settings/", {"gold_share": 0.2, "score_highest": 1}, mine)
    assert (reply.status_code, reply.json()["field"]) == (422, "score_highest")
    study.refresh_from_db()
    assert study.gold_share == 0.1


def test_publishing_pausing_and_closing() -> None:
    study = make_small_study(is_draft=True)
    paused = ask("post", f"{study.slug}/state/", {"kind": "paused"})
    assert (paused.status_code, paused.json()["detail"]) == (409, "The study is a draft. Publish it first.")
    published = ask("post", f"{study.slug}/publish/", {"visibility": "public", "licence": "CC-BY-4.0"})
    assert (published.status_code, published.json()["state"]) == (200, "open")
    assert ask("post", f"{study.slug}/publish/").status_code == 409
    for kind, state in (
        ("paused", "paused"),
        ("resumed", "open"),
        ("closed", "closed"),
        ("reopened", "open"),
    ):
        reply = ask("post", f"{study.slug}/state/", {"kind": kind, "note": "Why not"})
        assert (reply.status_code, reply.json()["state"]) == (200, state)
        assert ask("post", f"{study.slug}/state/", {"kind": kind}).status_code == 409
    kinds = list(study.events.order_by("pk").values_list("kind", flat=True))
    assert kinds[-4:] == ["paused", "resumed", "closed", "reopened"]


def test_an_operator_of_a_study_gives_it_no_new_address_and_sees_no_other() -> None:
    study, other = make_study(), make_study(visibility="public")
    rater = make_rater(user=make_user())
    Membership.objects.create(study=study, rater=rater, role="operator")
    mine = issue_token(rater, scopes=["operate"])
    assert ask("patch", f"{study.slug}/settings/", {"goal": 5}, mine).status_code == 200
    assert ask("patch", f"{study.slug}/settings/", {"slug": "moved"}, mine).status_code == 403
    assert ask("patch", f"{other.slug}/settings/", {"goal": 5}, mine).status_code == 404
    assert ask("post", "", {"name": "Mine"}, mine).status_code == 403
