"""Every route that sets up or publishes a study: who may use it, what it refuses, and that it acts once."""

import json
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from arena.api.auth import issue_token, operator_token
from arena.api.idempotency import HEADER
from arena.api.urls import api
from arena.data.uploads import jobs
from arena.models import ImportJob, Invitation, KeptReply, Membership, Rater, Study, StudyEvent
from judging.endpoints.client import Reply
from judging.models import Author, Judge, TrialCall
from judging.runs import trial
from leaderboard.models import Release
from leaderboard.refreshing import services as leaderboard
from tests.factories import (
    make_author,
    make_contestant,
    make_import_job,
    make_judge,
    make_rater,
    make_study,
    make_user,
)
from tests.judging.endpoints.server import ChatServer
from tests.leaderboard.rows import HandMade, few_rounds

pytestmark = pytest.mark.django_db
CSV = "prompt,contestant,answer\nWhy?,Alpha,Because.\nWhy?,Beta,It is so.\nHow?,Alpha,So.\nHow?,Beta,Well.\n"
ADDRESS = "http://127.0.0.1:9/v1"


class Route(NamedTuple):
    """A request that is done, and what the same route refuses."""

    method: str
    path: str
    body: dict[str, Any]
    status: int = 200
    wrong: dict[str, Any] | None = None
    field: str = ""
    of_study: bool = True


ROUTES = [
    Route("POST", "/studies/", {"name": "New"}, 201, {"name": ""}, "name", of_study=False),
    Route("PATCH", "/studies/known/settings/", {"goal": 9}, 200, {"goal": 0}, "goal"),
    Route(
        "POST", "/studies/known/publish/", {"visibility": "public"}, 200, {"visibility": "x"}, "visibility"
    ),
    Route("POST", "/studies/open/state/", {"kind": "paused"}, 200, {"kind": "gone"}, "kind"),
    Route("POST", "/studies/known/imports/{job}/check/", {}, 200, {"files": [{"name": "x"}]}, "files.0.name"),
    Route("POST", "/studies/known/imports/{job}/apply/", {}, 200, {"leave_out": "x"}, "leave_out"),
    Route("POST", "/studies/known/imports/{job}/cancel/", {}),
    Route("POST", "/studies/known/invitations/", {"role": "viewer"}, 201, {"role": "king"}, "role"),
    Route(
        "POST", "/studies/known/models/", {"name": "New", "model": "m", "base_url": ADDRESS}, 201, {}, "name"
    ),
    Route("PATCH", "/studies/known/models/asked/", {"max_tokens": 9}, 200, {"base_url": "x"}, "base_url"),
    Route(
        *("POST", "/studies/open/releases/", {"version": "1.0", "authors": ["Ada Lovelace"]}, 201),
        *({"version": "1 0", "authors": ["Ada"]}, "version"),
    ),
    Route(
        *("POST", "/judges/", {"name": "New", "model": "m", "base_url": ADDRESS}, 201),
        *({"name": "New", "model": "m", "base_url": "nowhere"}, "base_url"),
        of_study=False,
    ),
    Route(
        "PATCH", "/judges/judy/settings/", {"max_tokens": 9}, 200, {"samples": 0}, "samples", of_study=False
    ),
    Route("POST", "/judges/judy/test/", {}, of_study=False),
]
by_path = pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")


class World(NamedTuple):
    staff: str
    other: str
    rater: str
    reader: str
    job: int

    def send(self, route: Route, token: str | None, body: object = None, key: str = "") -> Any:
        headers = ({"Authorization": f"Bearer {token}"} if token else {}) | ({HEADER: key} if key else {})
        sent = json.dumps(route.body if body is None else body)
        path = f"/api/v1{route.path.format(job=self.job)}"
        return Client().generic(route.method, path, sent, content_type="application/json", headers=headers)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tests that were paid for, of a judge whose model replies at once."""
    calls: list[str] = []

    def attempt(ask: object, what: str) -> tuple[Reply, float]:
        calls.append(what)
        return Reply("6", "stop", "loopback", prompt_tokens=10, completion_tokens=1), 0.1

    monkeypatch.setattr(trial, "attempt", attempt)
    return calls


@pytest.fixture
def world(asked: list[str]) -> World:
    study = make_study(slug="known", name="Known", is_draft=True)
    make_author(contestant=make_contestant(study=study, slug="asked", name="Asked"))
    made = HandMade("Alpha", "Beta", slug="open", name="Open")
    made.rate("Alpha", "Beta", 2)
    with few_rounds(10):
        leaderboard.refresh(made.study)
    make_judge(slug="judy", name="Judy")
    job = make_import_job(("answers.csv", CSV), study=study)
    jobs.check(job.pk)
    elsewhere = make_rater(user=make_user())
    Membership.objects.create(study=make_study(), rater=elsewhere, role="operator")
    staff = make_rater(user=make_user(is_staff=True))
    member = make_rater(user=make_user())
    Membership.objects.create(study=study, rater=member)
    return World(
        issue_token(staff, scopes=["operate"]),
        issue_token(elsewhere, scopes=["operate"]),
        issue_token(member),
        issue_token(staff, scopes=["read", "runs", "rate"]),
        job.pk,
    )


def test_the_table_has_every_route_that_sets_up() -> None:
    there = {
        (method, path)
        for path, methods in api.get_openapi_schema()["paths"].items()
        for method, told in methods.items()
        if {"setting up studies", "importing", "people", "models", "judges"} & {*told["tags"]}
        and method != "get"
    }
    assert len(there) == len([route for route in ROUTES if "releases" not in route.path]) + 1  # the upload


@by_path
def test_who_may(route: Route, world: World) -> None:
    before = StudyEvent.objects.count()
    assert world.send(route, None).status_code == 401
    assert world.send(route, world.rater).status_code == 403
    assert world.send(route, world.reader).status_code == 403
    reply = world.send(route, world.other)
    assert reply.status_code == (404 if route.of_study else 403)
    assert reply.json().keys() == {"detail", "field"}
    assert StudyEvent.objects.count() == before


@by_path
def test_what_is_refused(route: Route, world: World) -> None:
    if route.wrong is None:
        assert world.send(route, world.staff, {"colour": "red"}).status_code in (200, 422)
        return
    for wrong, field in ((route.wrong, route.field), ({**route.body, "colour": "red"}, "colour")):
        reply = world.send(route, world.staff, wrong)
        assert (reply.status_code, reply.json()["field"]) == (422, field)
        assert reply.json()["detail"]


@by_path
def test_a_repeated_request_acts_once(route: Route, world: World, asked: list[str]) -> None:
    rows = (Study, StudyEvent, Invitation, Author, Judge, ImportJob, Release, TrialCall)
    first = world.send(route, world.staff, key="wish")
    assert first.status_code == route.status, first.content
    counts = [model.objects.count() for model in rows]
    again = world.send(route, world.staff, key="wish")
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert [model.objects.count() for model in rows] == counts
    assert KeptReply.objects.get().status == route.status
    assert len(asked) <= 1
    other = world.send(route, world.staff, {**route.body, "goal": 1}, key="wish")
    assert other.status_code == 422
    events = StudyEvent.objects.exclude(by=None)
    assert not events or {event.by.is_staff for event in events} == {True}


def test_a_test_that_ended_without_a_reply_is_not_paid_for_again(world: World, asked: list[str]) -> None:
    route = ROUTES[-1]
    world.send(route, world.staff, key="wish")
    KeptReply.objects.update(status=None)  # as if the process had been killed
    assert world.send(route, world.staff, key="wish").status_code == 409
    assert len(asked) == 1


def upload(study: str, *files: tuple[str, str], token: str = "", **more: Any) -> Any:
    sent = [SimpleUploadedFile(name, content.encode()) for name, content in files]
    headers = {"Authorization": f"Bearer {token or operator_token()}", **more.pop("headers", {})}
    return Client().post(f"/api/v1/studies/{study}/imports/", {"files": sent, **more}, headers=headers)


def test_an_upload_is_checked_and_acts_once(world: World) -> None:
    assert Client().post("/api/v1/studies/known/imports/", {}).status_code == 401
    assert upload("known", ("a.csv", CSV), token=world.rater).status_code == 403
    assert upload("known", ("a.csv", CSV), token=world.other).status_code == 404
    assert (upload("known").status_code, upload("known").json()["field"]) == (422, "files")
    key = {"headers": {HEADER: "wish"}}
    first, again = upload("known", ("a.csv", CSV), **key), upload("known", ("a.csv", CSV), **key)
    assert (first.status_code, first.content) == (201, again.content)
    assert upload("known", ("a.csv", CSV + "Who?,Alpha,Me.\n"), **key).status_code == 422
    assert ImportJob.objects.count() == 2


def test_an_upload_above_the_limit(settings: Any, world: World) -> None:
    settings.IMPORT_MAX_MB = 0
    reply = upload("known", ("a.csv", CSV))
    assert (reply.status_code, reply.json()["field"]) == (413, "files")
    assert ImportJob.objects.count() == 1


def test_files_of_other_columns_are_mapped(world: World) -> None:
    made = upload("known", ("odd.csv", "q,who,what\nWhy?,Alpha,Because.\nWhy?,Beta,So.\n")).json()
    address = f"/studies/known/imports/{made['id']}/"
    jobs.check(made["id"])
    columns = {"q": "instruction", "who": "contestant", "what": "text"}
    choice = {"name": "odd.csv", "kind": "completions", "columns": columns}
    for wrong, field in (
        ({"columns": {"why": "prompt"}}, "files.0.columns"),
        ({"columns": {"q": "colour"}}, "files.0.columns"),
        ({"format": "colour"}, "files.0.format"),
        ({"sheet": "first"}, "files.0.sheet"),
    ):
        reply = ask("POST", f"{address}check/", {"files": [{**choice, **wrong}]})
        assert (reply.status_code, reply.json()["field"]) == (422, field)
    assert ask("POST", f"{address}check/", {"files": [choice]}).status_code == 200
    assert ask("POST", f"{address}check/", {"files": [choice]}).status_code == 409
    jobs.check(made["id"])
    told = ask("GET", address).json()
    assert (told["state"], told["report"]["ok"], told["files"][0]["meanings"]) == ("checked", True, columns)


def test_errors_say_where_they_are_and_can_be_left_out(world: World) -> None:
    made = upload("known", ("bad.csv", CSV + ",Alpha,Nothing.\n")).json()
    address = f"/studies/known/imports/{made['id']}/"
    jobs.check(made["id"])
    told = ask("GET", address).json()
    (error,) = told["report"]["errors"]
    assert (error["file"], error["line"]) == ("bad.csv", 6)
    assert error["reason"]
    assert told["report"]["rows_to_leave_out"] == 1
    assert ask("POST", f"{address}apply/", {}).status_code == 409
    assert ask("POST", f"{address}apply/", {"leave_out": True, "seen": "before"}).status_code == 409
    applied = ask("POST", f"{address}apply/", {"leave_out": True, "seen": told["seen"]})
    assert (applied.status_code, applied.json()["state"]) == (200, "applying")


def ask(method: str, path: str, body: object = None) -> Any:
    headers = {"Authorization": f"Bearer {operator_token()}"}
    sent = json.dumps({} if body is None else body)
    return Client().generic(method, f"/api/v1{path}", sent, content_type="application/json", headers=headers)


def test_a_judge_is_read_and_changed(world: World) -> None:
    body = {"name": "Dear", "model": "m", "base_url": ADDRESS, "prompt_price": "2.5", "reply_price": 10}
    made = ask("POST", "/judges/", {**body, "protocol": "requirements", "options": {"top_p": 0.5}}).json()
    assert (made["slug"], made["task"], made["options"]) == ("dear", "check", {"top_p": 0.5})
    assert made["price"] == {"prompt": "2.500000", "completion": "10.000000", "currency": "USD"}
    assert ask("GET", "/judges/dear/settings/").json() == made
    changed = ask("PATCH", "/judges/dear/settings/", {"temperature": None, "name": "Dearest"}).json()
    assert changed == made | {"temperature": None, "name": "Dearest"}
    assert [judge["slug"] for judge in ask("GET", "/judges/").json()] == ["dear", "judy"]


def test_the_models_of_a_study_are_listed_with_how_they_are_asked(world: World) -> None:
    (model,) = ask("GET", "/studies/known/models/").json()
    assert (model["slug"], model["endpoint"]["model"], model["answers"]) == ("asked", "loopback", 0)


def test_links_and_members(world: World) -> None:
    made = ask("POST", "/studies/known/invitations/", {"max_uses": 3, "last_day": "2100-01-01"})
    assert (made.status_code, made.json()["field"]) == (422, "last_day")
    made = ask("POST", "/studies/known/invitations/", {"max_uses": 3, "note": "class"}).json()
    assert (made["uses"], made["max_uses"], made["problem"]) == (0, 3, "")
    assert made["link"].startswith("http://testserver/")
    assert ask("GET", "/studies/known/invitations/").json() == [made]
    (member,) = ask("GET", "/studies/known/raters/").json()
    assert (member["role"], member["paused"], member["ratings"]) == ("rater", False, 0)


def test_a_study_from_a_file_to_its_leaderboard(
    messages: deque[Any], drain: Callable[[], None], model: ChatServer
) -> None:
    made = ask("POST", "/studies/", {"name": "From a file", "simulated": True})
    assert made.status_code == 201
    path = f"/studies/{made.json()['slug']}"
    number = upload(made.json()["slug"], ("answers.csv", CSV)).json()["id"]
    jobs.check(number)
    checked = ask("GET", f"{path}/imports/{number}/").json()
    assert (checked["state"], checked["report"]["ok"]) == ("checked", True)
    counts = {row["kind"]: row["added"] for row in checked["report"]["counts"]}
    assert (counts["prompts"], counts["completions"], counts["contestants"]) == (2, 4, 2)
    assert not Study.objects.get().prompts.exists()  # a check stores nothing
    assert ask("POST", f"{path}/imports/{number}/apply/", {"seen": checked["seen"]}).status_code == 200
    jobs.apply(number)
    assert ask("GET", f"{path}/imports/{number}/").json()["state"] == "applied"
    strengths = {"strengths": {"alpha": 1200, "beta": 800}, "noise": 0}
    judge = ask("POST", "/judges/", {"name": "Sim", "provider": "simulated", "simulation": strengths})
    assert judge.status_code == 201, judge.content
    published = ask("POST", f"{path}/publish/", {"visibility": "public"})
    assert (published.status_code, published.json()["state"]) == (200, "open")
    body = {"study": made.json()["slug"], "judge": judge.json()["slug"], "both_orders": True}
    assert ask("POST", "/judge-runs/estimate/", body).json()["pairs"] == 2
    run = ask("POST", "/judge-runs/", body)
    assert run.status_code == 201, run.content
    drain()
    assert ask("GET", f"/judge-runs/{run.json()['id']}").json()["scored"] == 4
    assert ask("POST", f"{path}/state/", {"kind": "closed"}).json()["state"] == "closed"
    with few_rounds(10):
        leaderboard.refresh(Study.objects.get())
    board = ask("GET", f"{path}/standings/?raters=judge:{judge.json()['slug']}").json()
    assert [row["contestant"] for row in board["standings"]] == ["Alpha", "Beta"]
    assert Rater.objects.get(kind="judge").simulated


@pytest.mark.parametrize("path", ["models", "raters"])
def test_lists_take_as_many_queries_whatever_their_length(world: World, path: str) -> None:
    study = Study.objects.get(slug="known")

    def queries() -> int:
        route = Route("GET", f"/studies/known/{path}/", {})
        with CaptureQueriesContext(connection) as asked:
            reply = world.send(route, world.staff)
        assert reply.status_code == 200
        lengths.append(len(reply.json()))
        return len(asked)

    lengths: list[int] = []
    before = queries()
    for _ in range(3):
        make_contestant(study=study)
        Membership.objects.create(study=study, rater=make_rater(user=make_user()))
    assert queries() == before
    assert lengths[1] == lengths[0] + 3
