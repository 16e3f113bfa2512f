"""The pages of models that write: who may do what, and from a form to a run."""

from typing import Any

import pytest
from django.test import Client

from arena.models import Study, StudyEvent
from judging.models import Author, Endpoint, Price, WritingCall, WritingRun
from judging.writing import services
from judging.writing.wanted import Wanted
from tests import factories as make
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.working import work_off

PAGE = "/judging/writing/rivers/"
LOOP = f"{PAGE}model/loop/"


@pytest.fixture(autouse=True)
def study(db: None, monkeypatch: pytest.MonkeyPatch) -> Study:
    return make.make_small_study(prompts=3, contestants=1, slug="rivers")


def settings_of(server: ChatServer, **changed: Any) -> dict[str, Any]:
    given = {"name": "Loop", "model": "loopback", "base_url": server.url, "timeout": 5, "concurrency": 2}
    return {**given, "max_tokens": 100, "options": "{}", "prompt_price": 2, "reply_price": 8, **changed}


def test_from_a_form_to_answers(staff: Client, model: ChatServer) -> None:
    assert "No model of this study" in staff.get(PAGE).content.decode()
    assert staff.post(f"{PAGE}new/", settings_of(model))["Location"] == LOOP
    author = Author.objects.get()
    assert (author.endpoint.concurrency, Price.objects.get().completion) == (2, 8)
    shown = staff.get(LOOP, {"limit": "2", "budget": "0.1"}).content.decode()
    assert "about 0.0" in shown
    assert not WritingRun.objects.exists()
    assert staff.post(LOOP, {"limit": "2", "budget": "0.1"})["Location"] == LOOP
    run = WritingRun.objects.get()
    waiting = staff.get(f"/judging/writing-runs/{run.pk}/progress/")
    assert "HX-Refresh" not in waiting.headers
    model.script = lambda body: Answer("Long", finish_reason="length")
    work_off(services.door)
    assert "HX-Refresh" in staff.get(f"/judging/writing-runs/{run.pk}/progress/").headers
    shown = staff.get(LOOP).content.decode()
    assert "2 of 2 written" in shown
    assert "Cut at the token limit" in shown
    kinds = set(StudyEvent.objects.values_list("kind", flat=True))
    assert {"judge", "run"} <= kinds


def test_a_run_is_cancelled_and_its_failures_are_told(staff: Client, model: ChatServer, study: Study) -> None:
    author = make.make_author(contestant=make.make_contestant(study=study, slug="loop"), base_url=model.url)
    run = Wanted().start(author)
    staff.post(f"/judging/writing-runs/{run.pk}/cancel/")
    assert not WritingCall.objects.exists()
    assert "cancelled" in staff.get(LOOP).content.decode()
    model.script = lambda body: Answer(status=401, raw=b'{"error": {"message": "<b>no</b>"}}')
    Wanted().start(author)
    work_off(services.door)
    shown = staff.get(LOOP).content.decode()
    assert "needs a valid key" in shown
    assert "<b>no" not in shown


def test_replies_that_are_no_answers_are_shown_and_asked_again(
    staff: Client, model: ChatServer, study: Study
) -> None:
    author = make.make_author(contestant=make.make_contestant(study=study, slug="loop"), base_url=model.url)
    model.script = lambda body: Answer(None, refusal="No.")
    Wanted().start(author)
    work_off(services.door)
    shown = staff.get(LOOP).content.decode()
    assert "3 of them after a reply that was refused, filtered or empty" in shown
    assert "3 × The endpoint refused to answer." in shown
    assert "3 refused, filtered or empty" in staff.get(PAGE).content.decode()
    staff.post(LOOP, {"kind": "again"})
    assert WritingCall.objects.filter(state="waiting").count() == 3


def test_settings_are_changed_by_name_or_refused(staff: Client, model: ChatServer, study: Study) -> None:
    people = make.make_contestant(study=study, kind="people", name="Writers")
    for wrong, why in (
        ({"options": '{"stream": true}'}, "must not set stream"),
        ({"max_tokens": 0}, "Max tokens"),
        ({"name": people.name}, "stands for people"),
        ({"prompt_price": ""}, "Enter both prices"),
        ({"base_url": "nowhere"}, "Enter an address"),
    ):
        refused = staff.post(f"{PAGE}new/", settings_of(model, **wrong))
        assert refused.status_code == 422
        assert why in refused.content.decode()
    assert not Author.objects.exists()
    staff.post(f"{PAGE}new/", settings_of(model))
    staff.post(f"{LOOP}edit/", settings_of(model, model="other", temperature=0.3))
    author = Author.objects.get()
    assert (author.endpoint.model, author.temperature, Endpoint.objects.count()) == ("other", 0.3, 1)


def test_who_may_see_and_start(client: Client, model: ChatServer, study: Study) -> None:
    author = make.make_author(contestant=make.make_contestant(study=study, slug="loop"), base_url=model.url)
    run = Wanted(limit=1).start(author)
    member = make.make_member(study)
    study.memberships.update(role="operator")
    pages = [PAGE, f"{PAGE}new/", LOOP, f"{LOOP}edit/", f"/judging/writing-runs/{run.pk}/progress/"]
    for user, status in ((None, 302), (member.user, 403)):
        if user:
            client.force_login(user)
        assert {client.get(page).status_code for page in pages} == {status}
        assert client.post(f"/judging/writing-runs/{run.pk}/cancel/").status_code == status
        assert client.post(LOOP, {"limit": "1"}).status_code == status
    client.force_login(make.make_user(is_staff=True, paid_runs=False))
    refused = client.post(LOOP, {"limit": "1"})
    assert (refused.status_code, "Ask a superuser" in refused.content.decode()) == (422, True)
    bound = client.post(f"{PAGE}new/", settings_of(model, name="Other", api_key_env="SOME_API_KEY"))
    assert "Ask a superuser" in bound.content.decode()
    name = author.contestant.name
    for changed in (
        client.post(f"{LOOP}edit/", settings_of(model, temperature=1)),
        client.post(f"{PAGE}new/", settings_of(model, name=name, temperature=1)),  # the same model
        client.post(f"{PAGE}new/", settings_of(model, name="Other", vocabulary=7)),
        client.post(LOOP, {"limit": "9" * 20}),
    ):
        assert changed.status_code == 422
    assert (WritingRun.objects.count(), Author.objects.count()) == (1, 1)
    assert client.get("/judging/writing/lakes/").status_code == 404
