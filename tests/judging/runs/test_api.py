"""Judge runs over the API, and the command that uses it."""

from collections import deque
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from arena.api.auth import issue_token, rater_token
from judging.management.commands import judge as judge_command
from judging.models import Judge, JudgeRun, Purse
from judging.runs.lifecycle import plan_run
from judging.worker.arena_client import ArenaClient, ArenaReply, ArenaUnreachableError
from tests.factories import make_judge, make_rater, make_small_study, make_study, make_user
from tests.judging.elsewhere import request
from tests.judging.endpoints.server import Answer, ChatServer


def post(client: Client, token: str | None, body: object) -> Any:
    return request(client, token, "/judge-runs/", body)


@pytest.mark.django_db
def test_start_and_watch(client: Client, messages: deque[Any]) -> None:
    study, judge = make_small_study(prompts=2, contestants=2), make_judge()
    reply = post(client, None, {"study": study.slug, "judge": judge.slug, "limit": 1})
    assert reply.status_code == 201
    started = reply.json()
    assert (started["state"], started["assigned"], started["limit"]) == ("queued", 0, 1)
    plan_run(started["id"])
    shown = request(client, None, f"/judge-runs/{started['id']}", method="GET").json()
    assert (shown["state"], shown["assigned"], shown["waiting"]) == ("running", 1, 1)
    Purse.objects.update(reserved=Decimal("0.00000001"))
    spent = request(client, None, f"/judge-runs/{started['id']}", method="GET").json()
    assert spent["reserved"] == "0.00000001"  # never 1E-8
    for number in ("999", "9" * 30):
        assert request(client, None, f"/judge-runs/{number}", method="GET").status_code == 404


@pytest.mark.django_db
def test_only_operators_start_runs(client: Client, messages: deque[Any]) -> None:
    study, judge = make_small_study(), make_judge()
    body = {"study": study.slug, "judge": judge.slug}
    person = make_rater(user=make_user())
    operator = make_rater(user=make_user(is_staff=True))
    for token, status in (
        ("nonsense", 401),
        (rater_token(judge.rater), 403),
        (issue_token(judge.rater), 403),
        (issue_token(person), 403),
        (issue_token(operator), 403),
        (issue_token(operator, scopes=["runs"]), 201),
    ):
        assert post(client, token, body).status_code == status
    assert JudgeRun.objects.get().created_by == operator.user


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "status", "sentence"),
    [
        ({"study": "nothing"}, 404, 'No study has the short name "nothing".'),
        ({"judge": "nobody"}, 404, 'No judge has the short name "nobody".'),
        ({"limit": 0}, 422, "limit"),
        ({"limit": 2.5}, 422, "limit"),
        ({"pairs": 5}, 422, "pairs"),
        ({"study": "a\0"}, 422, "study"),
        ({"judge": "a\0"}, 422, "judge"),
    ],
)
def test_bad_requests_are_explained(
    change: dict[str, Any], status: int, sentence: str, client: Client, messages: deque[Any]
) -> None:
    make_study(slug="known")
    make_judge(slug="known")
    reply = post(client, None, {"study": "known", "judge": "known", **change})
    assert reply.status_code == status
    assert sentence in reply.json()["detail"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("judge", "study", "sentence"),
    [
        ({"active": False}, {}, "is inactive"),
        ({}, {"closed_at": timezone.now()}, "is closed"),
        ({"api_key_env": "UNSET_API_KEY"}, {}, "The environment variable UNSET_API_KEY"),
        ({"provider": "simulated", "base_url": ""}, {}, "may only rate simulated studies"),
        ({"provider": "simulated", "base_url": ""}, {"simulated": True}, "has no strength for"),
    ],
)
def test_who_cannot_start(
    judge: dict[str, Any], study: dict[str, Any], sentence: str, client: Client
) -> None:
    check_refused(client, make_small_study(**study), make_judge(**judge), sentence)


@pytest.mark.django_db
def test_a_judge_never_mixes_wordings_or_with_an_imported_one_of_its_slug(client: Client) -> None:
    study, judge = make_small_study(), make_judge(slug="gpt-4")
    make_rater(study=study, kind="judge", slug="gpt-4")
    check_refused(client, study, judge, "imported ratings of another judge gpt-4")
    Judge.objects.update(prompt_hash="0" * 64)
    check_refused(client, make_small_study(), judge, "wording")


def check_refused(client: Client, study: Any, judge: Judge, sentence: str) -> None:
    reply = post(client, None, {"study": study.slug, "judge": judge.slug})
    assert reply.status_code == 409
    assert sentence in reply.json()["detail"]
    assert reply.json()["field"] == ("study" if study.is_closed else "judge")
    assert not JudgeRun.objects.exists()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_command, "POLL_SECONDS", 0.01)


def test_the_command_starts_a_run_and_shows_its_end(
    arena: Any,
    model: ChatServer,
    messages: deque[Any],
    quick: None,
    monkeypatch: pytest.MonkeyPatch,
    drain: Any,
) -> None:
    study, judge = make_small_study(prompts=2, contestants=3), make_judge(base_url=model.url)
    monkeypatch.setattr(judge_command, "sleep", lambda seconds: drain())  # the workers' turn
    output = StringIO()
    call_command("judge", study.slug, "--judge", judge.slug, "--limit", "4", "--both-orders", stdout=output)
    text = output.getvalue()
    assert "8/8 done: 8 rated" in text
    assert "is finished." in text
    assert "Tokens     800 input, 80 output" in text
    model.script = lambda body: Answer(status=401, raw=b'{"error": "Bad key"}')
    output = StringIO()
    with pytest.raises(SystemExit, match="1"):
        call_command("judge", study.slug, "--judge", judge.slug, stdout=output)
    run = JudgeRun.objects.order_by("pk").last()
    assert run is not None
    said = f"Run {run.pk} is paused. The endpoint needs a valid key (401: Bad key). Nothing was lost."
    assert said in output.getvalue()
    assert f"Continue with: python manage.py judge --resume {run.pk}" in output.getvalue()


def test_the_command_waits_for_an_arena_that_is_restarted(
    arena: Any,
    model: ChatServer,
    messages: deque[Any],
    quick: None,
    monkeypatch: pytest.MonkeyPatch,
    drain: Any,
) -> None:
    study, judge = make_small_study(), make_judge(base_url=model.url)
    get, troubles = ArenaClient.get, [ArenaReply(503, {}), ArenaReply(500, {}), None]

    def restarting(self: ArenaClient, path: str) -> ArenaReply:
        if not troubles:
            drain()
            return get(self, path)
        if trouble := troubles.pop():
            return trouble
        raise ArenaUnreachableError("No arena answers at http://127.0.0.1:9")

    monkeypatch.setattr(ArenaClient, "get", restarting)
    output = StringIO()
    call_command("judge", study.slug, "--judge", judge.slug, stdout=output)
    assert "is finished." in output.getvalue()


def test_the_command_waits_no_longer_than_it_has_patience(
    arena: Any, model: ChatServer, messages: deque[Any], quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, judge = make_small_study(), make_judge(base_url=model.url)
    monkeypatch.setattr(judge_command, "PATIENCE_SECONDS", -1)
    monkeypatch.setattr(ArenaClient, "get", lambda self, path: ArenaReply(503, {"detail": "busy"}))
    with pytest.raises(
        CommandError, match=r"The arena answers busy. Run \d+ continues when the arena is back\."
    ):
        call_command("judge", study.slug, "--judge", judge.slug, stdout=StringIO())


@pytest.mark.django_db
def test_the_command_without_an_arena(settings: Any) -> None:
    settings.ARENA_URL = "http://127.0.0.1:9"
    with pytest.raises(
        CommandError, match=r"No arena answers at http://127.0.0.1:9 .*Start it with make run"
    ):
        call_command("judge", "x", "--judge", "y")


def test_the_command_names_what_does_not_exist(arena: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match='No study has the short name "x"'):
        call_command("judge", "x", "--judge", "y")
    make_study(slug="x")
    with pytest.raises(CommandError, match='No judge has the short name "y"'):
        call_command("judge", "x", "--judge", "y")
    # Another secret key signs in a way that the arena does not know.
    monkeypatch.setattr(judge_command, "operator_token", lambda: "signed_by:somebody:else")
    with pytest.raises(CommandError, match="does not accept this command's signature"):
        call_command("judge", "x", "--judge", "y")


def test_ctrl_c(arena: Any, model: ChatServer, messages: deque[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    study, judge = make_small_study(), make_judge(base_url=model.url)

    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(judge_command, "sleep", interrupt)
    output = StringIO()
    call_command("judge", study.slug, "--judge", judge.slug, stdout=output)
    run = JudgeRun.objects.get()
    assert run.is_active
    assert f"Run {run.pk} continues in the arena" in output.getvalue()
