"""From a confirmation to proposals, with a loopback model; double clicks, failures and dead processes."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from arena.models import Prompt, Question, Study
from judging.models import Endpoint, Judge, ProposalCall
from judging.proposing import services
from tests import factories as make
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.working import work_off

PAGE = "/judging/proposals/rivers/"
REPLY = json.dumps(
    [
        {"question": "Is it <b>short</b>?", "labels": ["Style"], "required": True},
        {"question": "Is it true?", "labels": ["Content"], "required": False},
    ]
)


@pytest.fixture
def study(db: None) -> Study:
    return make.make_small_study(prompts=3, contestants=1, slug="rivers", tasks=["check"])


@pytest.fixture
def judge(db: None, model: ChatServer) -> Any:
    model.script = lambda body: Answer(REPLY, tokens=(1000, 500))
    make.make_price()
    return make.make_judge(base_url=model.url)


def confirmation(client: Client, judge: Any, **query: Any) -> dict[str, str]:
    """What the page with the cost would send."""
    page = client.get(PAGE, {"judge": judge.pk, "number": "2", **query})
    assert page.status_code == 200
    return {"judge": str(judge.pk), "prompts": page.context["ids"], "batch": str(page.context["batch"])}


def states() -> list[str]:
    return list(ProposalCall.objects.order_by("pk").values_list("state", flat=True))


def test_the_cost_is_shown_and_each_prompt_is_asked_once(
    study: Study,
    judge: Any,
    staff: Client,
    model: ChatServer,
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    shown = staff.get(PAGE, {"judge": judge.pk, "number": "2"}).content.decode()
    assert "at most" in shown
    assert "Ask about 2 prompts" in shown
    assert not ProposalCall.objects.exists()
    sent = confirmation(staff, judge)
    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(2):
            assert staff.post(PAGE, sent)["Location"] == PAGE
    assert work_off(services.door) == 2
    staff.post(PAGE, sent)  # again, after the end
    assert work_off(services.door) == 0
    assert len(model.requests) == 2
    call = ProposalCall.objects.earliest("pk")
    assert (call.state, call.proposed, call.raw_reply) == ("replied", 2, REPLY)
    # By hand: 1000 tokens at 2 and 500 at 8 a million.
    assert (call.cost, call.currency) == (Decimal("0.006"), "USD")
    assert call.messages == model.requests[0]["messages"]
    waiting = Question.objects.filter(prompt=call.prompt).order_by("pk")
    assert list(waiting.values_list("text", "labels", "required", "proposed_by", "is_accepted")) == [
        ("Is it <b>short</b>?", ["Style"], True, "loopback", False),
        ("Is it true?", ["Content"], False, "loopback", False),
    ]
    assert not Question.objects.asked().exists()
    listed = staff.get(PAGE).content.decode()
    assert "1 prompt without requirements" in listed
    assert "<b>short" not in listed
    assert confirmation(staff, judge)["prompts"].count(",") == 0  # the one that is left
    one = confirmation(staff, judge, prompt=call.prompt_id)
    assert one["prompts"] == str(call.prompt_id)  # may be asked anew, by itself


def start(judge: Any, study: Study, number: int = 1) -> ProposalCall:
    services.start(judge, list(study.prompts.all()[:number]), uuid4(), None)
    return ProposalCall.objects.latest("pk")


@pytest.mark.parametrize("status", [401, 403, 404, 302])
def test_a_refusal_that_all_would_meet_ends_the_rest(
    study: Study, judge: Any, model: ChatServer, staff: Client, status: int
) -> None:
    model.script = lambda body: Answer(status=status, raw=b'{"error": {"message": "no such thing"}}')
    services.start(judge, list(study.prompts.all()), uuid4(), None)
    assert work_off(services.door) == 1
    assert (states(), len(model.requests)) == (["failed"] * 3, 1)
    last = ProposalCall.objects.latest("pk")
    assert last.error.startswith("Not asked. The endpoint ")
    assert last.error in staff.get(PAGE).content.decode()
    model.script = lambda body: Answer(REPLY)
    assert services.start(judge, list(study.prompts.all()), uuid4(), None) == 3  # once it is put right
    work_off(services.door)
    assert states()[3:] == ["replied"] * 3


def test_no_confirmation_asks_about_more_than_are_shown(study: Study, judge: Any, staff: Client) -> None:
    Prompt.objects.bulk_create(
        Prompt(study=study, external_id=f"more-{number}", turns=["Why?"]) for number in range(198)
    )
    ids = ",".join(str(pk) for pk in study.prompts.values_list("pk", flat=True))
    sent = {"judge": str(judge.pk), "prompts": ids, "batch": str(uuid4())}
    assert "Nothing was asked." in staff.post(PAGE, sent, follow=True).content.decode()
    assert not ProposalCall.objects.exists()


def test_a_reply_without_a_list_is_kept(study: Study, judge: Any, model: ChatServer) -> None:
    model.script = lambda body: Answer("I will not.")
    call = start(judge, study)
    work_off(services.door)
    call.refresh_from_db()
    assert (call.state, call.proposed, call.raw_reply) == ("replied", 0, "I will not.")
    assert call.error == "The reply holds no list of requirements."


def test_limits_of_the_judge_hold(study: Study, judge: Any, model: ChatServer) -> None:
    Endpoint.objects.update(requests_per_minute=1)
    judge.refresh_from_db()
    start(judge, study, 2)
    assert work_off(services.door) == 1
    assert states() == ["replied", "waiting"]
    assert services.stop(study) == 1
    assert states() == ["replied"]


def test_who_may_ask_and_what_is_refused(
    study: Study, judge: Any, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    operator = make.make_member(study)
    study.memberships.update(role="operator")
    for user, status in ((None, 302), (operator.user, 403)):
        if user:
            client.force_login(user)
        for address in (PAGE, f"{PAGE}stop/"):
            assert client.post(address).status_code == status
    client.force_login(make.make_user(is_staff=True))
    assert client.get("/judging/proposals/lakes/").status_code == 404
    assert client.get(PAGE, {"judge": judge.pk, "number": "201"}).status_code == 422
    said = client.post(PAGE, {"judge": judge.pk, "prompts": "x", "batch": "y"}, follow=True)
    assert "Nothing was asked" in said.content.decode()
    other = make.make_small_study(prompts=1, contestants=1)
    sent = confirmation(client, judge) | {"prompts": str(other.prompts.get().pk)}
    client.post(PAGE, sent)
    Endpoint.objects.update(api_key_env="NO_SUCH_API_KEY")
    shown = client.get(PAGE, {"judge": judge.pk, "number": "2"})
    assert "NO_SUCH_API_KEY is not set" in shown.content.decode()
    Judge.objects.update(active=False)
    refused = client.post(PAGE, sent | {"prompts": str(study.prompts.first().pk)}, follow=True)  # type: ignore[union-attr]
    assert "is inactive" in refused.content.decode()
    assert not ProposalCall.objects.exists()
