"""A budgeted run over API and command: estimate, start, stop at the budget, raise it, resume."""

import re
from collections import deque
from contextlib import suppress
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from arena.api.auth import rater_token
from judging.management.commands import judge as judge_command
from judging.models import JudgeCall, JudgeRun
from tests.factories import make_judge, make_price, make_run, make_small_study
from tests.judging.elsewhere import request
from tests.judging.endpoints.server import Answer, ChatServer


def send(client: Client, method: str, path: str = "", body: object = None, token: str | None = None) -> Any:
    return request(client, token, f"/judge-runs/{path}", body, method)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, drain: Any) -> None:
    """The workers' turn comes whenever the command waits."""
    monkeypatch.setattr(judge_command, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(judge_command, "sleep", lambda seconds: drain())


def command(*arguments: object) -> str:
    output = StringIO()
    with suppress(SystemExit):  # of a run that paused
        call_command("judge", *[str(each) for each in arguments], stdout=output)
    return output.getvalue()


@pytest.mark.django_db
def test_an_estimate_over_the_api(client: Client) -> None:
    make_price()
    study, judge = make_small_study(prompts=2, contestants=2), make_judge(max_tokens=100)
    body = {"study": study.slug, "judge": judge.slug, "both_orders": True, "budget": "0.004"}
    reply = send(client, "POST", "estimate/", body)
    assert reply.status_code == 200
    found = reply.json()
    assert (found["pairs"], found["assignments"], found["looked_at"]) == (2, 4, 4)
    assert found["calls"] == {"about": "4", "at_most": "4"}
    assert found["reply_tokens"] == {"about": "400", "at_most": "400"}
    assert Decimal(found["cost"]["about"]) < Decimal(found["cost"]["at_most"])
    assert found["currency"] == "USD"
    assert found["prices"] == [
        {"model": "loopback", "prompt": "2.000000", "completion": "8.000000", "currency": "USD"}
    ]
    usual, most = (Decimal(found["cost"][name]) / 4 for name in ("about", "at_most"))
    assert most < Decimal("0.004")
    assert found["covered"] == int((Decimal("0.004") - most) / usual) + 1
    assert not JudgeRun.objects.exists()


@pytest.mark.django_db
def test_what_cannot_be_started_has_no_estimate(client: Client) -> None:
    study, judge = make_small_study(), make_judge()
    body = {"study": study.slug, "judge": judge.slug}
    for path in ("", "estimate/"):
        reply = send(client, "POST", path, {**body, "budget": 1})
        assert (reply.status_code, reply.json()["field"]) == (409, "judge")
        assert "A budget needs a price for loopback" in reply.json()["detail"]
        for budget in (0, -1, "NaN", "Infinity", "lots", 1.0000001, 10**9):
            assert send(client, "POST", path, {**body, "budget": budget}).status_code == 422
        assert send(client, "POST", path, {**body, "kind": "some"}).status_code == 422
        assert send(client, "POST", path, {**body, "study": "none"}).status_code == 404
        assert send(client, "POST", path, body, rater_token(judge.rater)).status_code == 403
    assert not JudgeRun.objects.exists()


@pytest.mark.django_db
def test_orders_are_those_of_the_judge_unless_told_otherwise(client: Client, messages: deque[Any]) -> None:
    study, judge = make_small_study(prompts=1, contestants=2), make_judge(both_orders=True)
    body = {"study": study.slug, "judge": judge.slug}
    assert send(client, "POST", "estimate/", body).json()["assignments"] == 2
    assert send(client, "POST", "estimate/", {**body, "both_orders": False}).json()["assignments"] == 1
    assert send(client, "POST", "", body).json()["both_orders"]


@pytest.mark.django_db
def test_pause_resume_cancel_and_change_the_budget(client: Client, messages: deque[Any]) -> None:
    make_price()
    study, judge = make_small_study(), make_judge()
    started = send(client, "POST", "", {"study": study.slug, "judge": judge.slug, "budget": "2"}).json()
    assert (started["budget"], started["currency"], started["cost"]) == ("2", "USD", "0")
    run = started["id"]
    assert send(client, "POST", f"{run}/resume/").status_code == 409
    paused = send(client, "POST", f"{run}/pause/").json()
    assert paused["state"] == "paused"
    assert send(client, "POST", f"{run}/pause/").json()["detail"] == f"Run {run} is not queued or running."
    changed = send(client, "PATCH", str(run), {"budget": 3.5}).json()
    assert (Decimal(changed["budget"]), changed["state"]) == (Decimal("3.5"), "paused")
    assert send(client, "PATCH", str(run), {}).status_code == 422
    assert send(client, "PATCH", str(run), {"budget": None}).json()["budget"] is None
    assert send(client, "POST", f"{run}/resume/").json()["state"] == "queued"
    assert send(client, "POST", f"{run}/cancel/").json()["state"] == "cancelled"
    for refused in ("cancel", "pause", "resume"):
        assert send(client, "POST", f"{run}/{refused}/").status_code == 409
    assert send(client, "PATCH", str(run), {"budget": 4}).status_code == 409
    for path, body in (("pause/", None), ("resume/", None), ("cancel/", None)):
        assert send(client, "POST", f"999/{path}", body).status_code == 404
        assert send(client, "POST", f"{run}/{path}", body, rater_token(judge.rater)).status_code == 403
    assert send(client, "PATCH", "999", {"budget": 4}).status_code == 404
    assert send(client, "PATCH", str(run), {"budget": 4}, rater_token(judge.rater)).status_code == 403


def test_a_dry_run_starts_nothing(arena: Any, model: ChatServer) -> None:
    make_price()
    study, judge = make_small_study(prompts=2, contestants=2), make_judge(base_url=model.url)
    text = command(study.slug, "--judge", judge.slug, "--both-orders", "--budget", "5", "--dry-run")
    assert "starts nothing" in text
    assert "Questions        4\n" in text
    assert "Calls            4\n" in text
    assert "loopback: 2.00 USD per million input tokens, 8.00 per million output tokens" in text
    assert "Budget 5.00 USD  probably enough for all" in text
    assert not JudgeRun.objects.exists()
    assert not model.requests


def test_the_command_overrules_the_orders_of_a_judge(arena: Any) -> None:
    study, judge = make_small_study(prompts=1, contestants=2), make_judge(both_orders=True)
    for option, count in (("", 2), ("--both-orders", 2), ("--no-both-orders", 1)):
        text = command(*f"{study.slug} --judge {judge.slug} --dry-run {option}".split())
        assert re.search(rf"Calls +{count}\n", text)


def test_a_run_stops_at_its_budget_and_goes_on_there(arena: Any, model: ChatServer, quick: None) -> None:
    """In the middle of a protocol of several steps, and no reply that is there is asked for again."""
    make_price(completion=1000)
    model.script = lambda body: Answer("3")
    study = make_small_study(prompts=2, contestants=3)
    judge = make_judge(base_url=model.url, protocol="metrics", max_tokens=20)
    text = command(study.slug, "--judge", judge.slug, "--budget", "0.05")
    run = JudgeRun.objects.get()
    assert run.state == "paused"
    assert 0 < run.purse.spent <= Decimal("0.05")
    assert run.purse.reserved == 0
    made = JudgeCall.objects.filter(state="replied").count()
    assert len(model.requests) == made < 8
    assert "The budget of 0.05 USD had no room for another call" in text
    assert f"Continue with: python manage.py judge --resume {run.pk} --budget AMOUNT" in text
    assert "Not asked" in text
    text = command("--resume", run.pk, "--budget", "1")
    run.refresh_from_db()
    assert (run.state, run.purse.budget, run.error) == ("finished", 1, "")
    assert len(model.requests) == 2 + 6
    assert run.purse.spent == sum(call.cost or 0 for call in run.calls.all()) == 8 * Decimal("0.0102")
    assert "6/6 done: 6 rated" in text
    assert "cost 0.0816 of 1.00 USD" in text


def test_the_command_pauses_and_cancels(arena: Any, messages: deque[Any]) -> None:
    study, judge = make_small_study(), make_judge()
    run = make_run(study=study, judge=judge, state="running")
    assert f"Run {run.pk} is paused." in command("--pause", run.pk)
    assert f"Run {run.pk} is cancelled." in command("--cancel", run.pk)
    for what, sentence in (
        (("--cancel", run.pk), "has ended"),
        (("--resume", 999), "No judge run has the number 999"),
    ):
        with pytest.raises(CommandError, match=sentence):
            command(*what)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["x"], "Name a study and a judge"),
        (["x", "--judge", "y", "--budget", "lots"], '"lots" is not an amount'),
        (["x", "--judge", "y", "--budget", "nan"], "more than 0"),
        (["x", "--judge", "y", "--budget", "-1"], "more than 0"),
        (["--resume", "1", "--pause", "1"], "not allowed with"),
        (["x", "--judge", "y", "--kind", "some"], "invalid choice"),
    ],
)
def test_arguments_that_make_no_sense(arguments: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        command(*arguments)
