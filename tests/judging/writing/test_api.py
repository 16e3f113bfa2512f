"""Runs of models that write, over the API; the model is asked nothing here."""

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from arena.api.auth import issue_token, operator_token
from arena.models import Study
from judging.models import Author, WritingCall, WritingRun
from tests import factories as make

pytestmark = pytest.mark.django_db

URL = "/api/v1/writing-runs/"
LOOP = {"study": "rivers", "contestant": "loop"}


@pytest.fixture
def author(monkeypatch: pytest.MonkeyPatch) -> Author:
    make.make_price()
    study = make.make_small_study(prompts=3, contestants=1, slug="rivers")
    return make.make_author(contestant=make.make_contestant(study=study, slug="loop"), max_tokens=100)


def post(client: Client, path: str = "", body: object = None, token: str | None = None) -> Any:
    headers = {"Authorization": f"Bearer {token or operator_token()}"}
    return client.post(f"{URL}{path}", json.dumps(body), content_type="application/json", headers=headers)


def test_a_run_is_estimated_started_watched_and_cancelled(author: Author, client: Client) -> None:
    taken = post(client, "estimate/", LOOP).json()
    assert (taken["wanted"], taken["calls"], taken["currency"]) == (3, {"about": "3", "at_most": "3"}, "USD")
    assert float(taken["cost"]["about"]) < float(taken["cost"]["at_most"])
    assert not WritingRun.objects.exists()
    reply = post(client, "", {**LOOP, "limit": 2, "budget": "0.5"})
    assert reply.status_code == 201
    run = reply.json()
    assert (run["state"], run["kind"], run["wanted"], run["left"]) == ("running", "write", 2, 2)
    assert (float(run["budget"]), run["finished_at"], run["errors"]) == (0.5, None, [])
    WritingCall.objects.filter(pk=WritingCall.objects.latest("pk").pk).update(
        state="replied", error_kind="refused", error="No."
    )
    shown = client.get(f"{URL}{run['id']}", headers={"Authorization": f"Bearer {operator_token()}"}).json()
    assert (shown["unanswered"], shown["errors"]) == (1, [{"error": "No.", "count": 1}])
    cancelled = post(client, f"{run['id']}/cancel/").json()
    assert (cancelled["state"], cancelled["dropped"], cancelled["left"]) == ("cancelled", 1, 0)
    again = post(client, f"{run['id']}/cancel/")
    assert (again.status_code, again.json()["detail"]) == (409, f"Run {run['id']} has ended.")


@pytest.mark.parametrize(
    ("change", "status", "sentence"),
    [
        ({"study": "nowhere"}, 404, 'No study has the short name "nowhere".'),
        ({"contestant": "other"}, 404, 'The study "rivers" has no model "other" that can be asked.'),
        ({"kind": "read"}, 409, "Probe it first"),
        ({"kind": "read", "again": True}, 422, "again is for a run that writes"),
        ({"references": True}, 422, "references is for a run that reads"),
        ({"limit": 0}, 422, "limit"),
        ({"budget": "0"}, 422, "budget"),
        ({"judge": "x"}, 422, "judge"),
    ],
)
def test_bad_requests_are_explained(
    author: Author, client: Client, change: dict[str, Any], status: int, sentence: str
) -> None:
    for path in ("", "estimate/"):
        reply = post(client, path, {**LOOP, **change})
        assert reply.status_code == status
        assert sentence in json.dumps(reply.json(), ensure_ascii=False).replace('\\"', '"')


def test_a_closed_study_is_what_is_refused(author: Author, client: Client) -> None:
    Study.objects.update(closed_at=timezone.now())
    for path in ("", "estimate/"):
        reply = post(client, path, LOOP)
        assert (reply.status_code, reply.json()["field"]) == (409, "study")


def test_a_run_needs_the_right_of_its_account(author: Author, client: Client) -> None:
    for user, status in (
        (make.make_user(is_staff=True, paid_runs=False), 403),
        (make.make_user(is_staff=True), 201),
    ):
        token = issue_token(make.make_rater(user=user), scopes=["runs"])
        assert post(client, "", LOOP, token).status_code == status
    assert WritingRun.objects.get().created_by == user
    assert post(client, "99/cancel/").status_code == 404
