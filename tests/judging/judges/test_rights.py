"""Who may have models asked: services, pages and API refuse the others, who may still look and estimate."""

import json
from collections import deque
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.test import Client

from arena.api.auth import issue_token
from judging.judges.rights import NotAllowedError, may_ask_models, set_right
from judging.models import Judge, JudgeRun, Price, ProposalCall
from judging.proposing import services as proposing
from judging.runs import lifecycle
from judging.runs.trial import try_out
from judging.spending import budgets
from tests.factories import make_judge, make_rater, make_small_study, make_user
from tests.judging.judges.test_pages import FORM

pytestmark = pytest.mark.django_db

REFUSED = "Ask a superuser for the right to start paid runs."


@pytest.fixture
def without() -> User:
    account: User = make_user(is_staff=True, paid_runs=False)
    return account


@pytest.fixture
def careful(client: Client, without: User) -> Client:
    """The browser of a member of staff who may not spend."""
    client.force_login(without)
    return client


def test_services_have_no_model_asked_for_an_account_without_the_right(without: User, run: JudgeRun) -> None:
    study, judge = make_small_study(prompts=1), make_judge(slug="other")
    Price.objects.create(model=run.judge.model, prompt=1, completion=1)
    budgets.change_budget(run, Decimal(2))
    lifecycle.pause_run(run)
    for refused in (
        lambda: lifecycle.start_run(study, judge, created_by=without),
        lambda: lifecycle.start_run(study, judge, remote=True, created_by=without),
        lambda: lifecycle.resume_run(run, without),
        lambda: budgets.change_budget(run, Decimal(3), without),
        lambda: budgets.change_budget(run, None, without),
        lambda: proposing.start(judge, list(study.prompts.all()), uuid4(), without),
        lambda: try_out(judge, None, without),
    ):
        with pytest.raises(NotAllowedError, match=REFUSED):
            refused()
    run.refresh_from_db()
    assert (run.state, run.purse.budget) == ("paused", 2)
    assert (JudgeRun.objects.count(), ProposalCall.objects.count()) == (1, 0)
    assert budgets.change_budget(run, Decimal(1), without).budget == 1


def test_a_simulated_judge_needs_no_right(without: User, messages: deque[Any]) -> None:
    study = make_small_study(prompts=1, contestants=2, simulated=True)
    strengths = {each.slug: 0 for each in study.contestants.all()}
    judge = make_judge(provider=Judge.Provider.SIMULATED, simulation={"strengths": strengths})
    run = lifecycle.start_run(study, judge, created_by=without)
    assert lifecycle.pause_run(run)
    assert lifecycle.resume_run(run, without)


@pytest.mark.parametrize("who", ["paid_runs", "is_superuser"])
def test_the_right_and_a_superuser_start_runs(who: str, messages: deque[Any]) -> None:
    account = make_user(is_staff=True, **{"paid_runs": False, who: True})
    assert lifecycle.start_run(make_small_study(prompts=1), make_judge(), created_by=account)
    account.is_active = False
    account.save()
    assert not may_ask_models(User.objects.get(pk=account.pk))


def test_a_token_has_no_more_rights_than_its_account(client: Client, without: User, run: JudgeRun) -> None:
    key = issue_token(make_rater(user=without), scopes=["runs"])
    study, judge = make_small_study(prompts=1), make_judge(slug="other")
    lifecycle.pause_run(run)

    def send(place: str, body: object = None, method: str = "post") -> Any:
        sent = {"content_type": "application/json", "headers": {"Authorization": f"Bearer {key}"}}
        return getattr(client, method)(f"/api/v1/judge-runs/{place}", json.dumps(body or {}), **sent)

    asked = {"study": study.slug, "judge": judge.slug}
    for reply in (send("", asked), send(f"{run.pk}/resume/"), send(f"{run.pk}", {"budget": None}, "patch")):
        assert (reply.status_code, REFUSED in reply.json()["detail"]) == (403, True)
    assert send("estimate/", asked).status_code == 200
    assert JudgeRun.objects.get().state == "paused"


def test_pages_say_why_and_keep_what_is_allowed(careful: Client, run: JudgeRun) -> None:
    study, judge = make_small_study(prompts=1), make_judge(slug="other")
    asked = {"study": study.slug, "judge": judge.pk}
    assert "You cannot start this run." in careful.get("/judging/runs/preview/", asked).content.decode()
    refused = careful.post("/judging/runs/new/", asked)
    assert refused.status_code == 422
    assert REFUSED in refused.content.decode()
    lifecycle.pause_run(run)
    page = careful.get(f"/judging/runs/{run.pk}/").content.decode()
    assert ">Resume<" not in page
    assert "lower its budget" in page
    assert REFUSED in careful.post(f"/judging/runs/{run.pk}/resume/", follow=True).content.decode()
    assert "Test connection" not in careful.get("/judging/judges/new/").content.decode()
    assert REFUSED in careful.post("/judging/judges/try/", FORM | {"api_key_env": ""}).content.decode()
    address = f"/judging/proposals/{study.slug}/"
    assert "You cannot ask." in careful.get(address, {"judge": judge.pk, "number": 1}).content.decode()
    sent = {"judge": judge.pk, "batch": uuid4(), "prompts": str(study.prompts.get().pk)}
    assert REFUSED in careful.post(address, sent, follow=True).content.decode()


def test_an_active_run_keeps_its_judges_and_prices(careful: Client, staff: Client, run: JudgeRun) -> None:
    """Another address, key or price would undo what somebody else decided to spend."""
    slug, form = run.judge.slug, {**FORM, "api_key_env": ""}
    changed = {**form, "slug": slug, "base_url": "http://127.0.0.1:7/v1"}
    new = {**form, "slug": "new", "name": "New", "model": run.judge.model, "base_url": run.judge.base_url}
    Price.objects.create(model=run.judge.model, base_url=run.judge.base_url, prompt=1, completion=1)
    cheap = {"prompt_price": "0.01", "reply_price": "0.01", "currency": "USD"}
    careful.force_login(make_user(is_staff=True, paid_runs=False))
    for address, sent in ((f"/judging/judges/{slug}/edit/", changed), ("/judging/judges/new/", new | cheap)):
        refused = careful.post(address, sent)
        assert refused.status_code == 422
        assert "A run is going on" in refused.content.decode()
    assert (Judge.objects.get().base_url, Price.objects.get().prompt) == (run.judge.base_url, 1)
    assert careful.post("/judging/judges/new/", {**form, "slug": "other", "name": "Other"}).status_code == 302
    lifecycle.cancel_run(run)
    assert careful.post(f"/judging/judges/{slug}/edit/", changed).status_code == 302


def test_who_may_not_spend_sends_no_key_to_another_place(careful: Client, staff: Client) -> None:
    known = make_judge(base_url="http://127.0.0.1:7/v1", api_key_env="LOOP_API_KEY")
    careful.force_login(make_user(is_staff=True, paid_runs=False))
    edit, new = f"/judging/judges/{known.slug}/edit/", "/judging/judges/new/"
    for address, sent in (
        (edit, {"base_url": "http://127.0.0.1:8/v1"}),
        (edit, {"api_key_env": "OTHER_API_KEY", "base_url": known.base_url}),
        (new, {"slug": "new", "base_url": "http://127.0.0.1:8/v1"}),
    ):
        refused = careful.post(address, {**FORM, **sent})
        assert refused.status_code == 422
        assert " yet. " + REFUSED in refused.content.decode()
    known.refresh_from_db()
    assert (known.base_url, known.asks.api_key_env, Judge.objects.count()) == (
        "http://127.0.0.1:7/v1",
        "LOOP_API_KEY",
        1,
    )
    same = {**FORM, "slug": "new", "name": "New", "base_url": f"{known.base_url}/"}
    assert careful.post(new, same).status_code == 302
    careful.force_login(make_user(is_staff=True))
    assert careful.post(edit, {**FORM, "base_url": "http://127.0.0.1:8/v1"}).status_code == 302


def test_superusers_give_and_take_the_right(client: Client, without: User) -> None:
    address = f"/judging/rights/{without.pk}/"
    client.force_login(make_user(is_staff=True))
    assert client.post(address, {"given": "1"}).status_code == 403
    assert ">Give<" not in client.get("/judging/rights/").content.decode()
    with pytest.raises(PermissionDenied):
        set_right(without, without, given=True)
    client.force_login(make_user(is_staff=True, is_superuser=True))
    for sent, may in (({"given": "1"}, True), ({}, False)):
        client.post(address, sent)
        assert may_ask_models(User.objects.get(pk=without.pk)) is may
    assert "Nothing was changed" in client.post(address, follow=True).content.decode()
    assert client.post(f"/judging/rights/{make_user().pk}/", {"given": "1"}).status_code == 404
