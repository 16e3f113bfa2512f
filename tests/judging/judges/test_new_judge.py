"""A new judge: what it needs, its price, its key, and the test before it is saved."""

import json
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils.html import strip_tags

from arena.models import Rater
from judging.models import Judge, JudgeCall, Price
from judging.spending.budgets import set_budget
from tests.factories import make_judge, make_price, make_study, make_user
from tests.judging.endpoints.server import Answer, ChatServer

pytestmark = pytest.mark.django_db

NEW, TRY = "/judging/judges/new/", "/judging/judges/try/"


@pytest.fixture
def filled(staff: Client, model: ChatServer) -> dict[str, Any]:
    """The form as it opens, with what a new judge needs."""
    form = staff.get(NEW).context["form"]
    as_opened = {each.html_name: each.value() for each in form if each.value() not in (None, False)}
    return as_opened | {"name": "Loop 8B", "model": "loop-8b", "base_url": model.url}


def messages_of(reply: Any) -> str:
    return " ".join(str(message) for message in reply.context["messages"])


def test_four_fields_make_a_judge_and_its_set_up_goes_on(staff: Client, filled: dict[str, Any]) -> None:
    study = make_study()
    make_judge(slug="loop-8b")
    reply = staff.post(f"{NEW}?study={study.slug}", filled | {"api_key_env": "NOT_SET_API_KEY"}, follow=True)
    judge = Judge.objects.get(rater__name="Loop 8B")
    assert (judge.slug, judge.protocol, judge.points) == ("loop-8b-2", "likert", 8)
    assert reply.redirect_chain[0][0] == f"/judging/runs/new/?study={study.slug}&judge={judge.pk}"
    assert "The environment variable NOT_SET_API_KEY is not set where the arena runs." in messages_of(reply)
    assert "key missing" in staff.get("/judging/").content.decode()


def test_prices_are_kept_beside_the_model(staff: Client, filled: dict[str, Any]) -> None:
    one = staff.post(NEW, filled | {"prompt_price": "2.5"})
    assert "Enter both prices, or none." in one.content.decode()
    staff.post(NEW, filled | {"prompt_price": "2.5", "reply_price": "10", "currency": "EUR"})
    price = Price.objects.get()
    assert (price.model, price.prompt, price.completion, price.currency) == (
        "loop-8b",
        Decimal("2.5"),
        10,
        "EUR",
    )
    page = staff.get("/judging/judges/loop-8b/edit/").content.decode()
    assert 'value="2.5"' in page
    staff.post("/judging/judges/loop-8b/edit/", filled)
    staff.post(NEW, filled | {"name": "Another judge of the model"})
    assert Price.objects.get() == price
    moved = filled | {"prompt_price": "2.5", "reply_price": "10", "currency": "EUR", "model": "loop-9b"}
    cheap = make_price(model="loop-9b", prompt=1)
    staff.post("/judging/judges/loop-8b/edit/", moved)  # with the price of the model before
    assert [*Price.objects.filter(model="loop-9b")] == [cheap]


def test_a_price_for_all_places_is_shown_and_stays_one_price(staff: Client, filled: dict[str, Any]) -> None:
    make_price(model="loop-8b")
    staff.post(NEW, filled | {"prompt_price": "2", "reply_price": "8", "currency": "USD"})
    assert Price.objects.get().base_url == ""


def test_a_judge_that_readers_take_for_another_is_refused(staff: Client, filled: dict[str, Any]) -> None:
    make_judge(name="Heron")
    twin = make_judge()
    Rater.objects.filter(pk=twin.rater_id).update(name="heron")  # by an earlier version
    for name, why in (("HERON", "This name is taken"), ("\u202eHeron", "invisible character U+202E")):
        assert why in staff.post(NEW, filled | {"name": name}).content.decode()
    edit = f"/judging/judges/{twin.slug}/edit/"
    assert staff.post(edit, filled | {"name": "heron", "model": twin.model}).status_code == 302


def test_another_judge_can_be_copied(staff: Client) -> None:
    other = make_judge(name="First", base_url="http://127.0.0.1:9/v1", protocol="cot", timeout=7.0)
    form = staff.get(f"{NEW}?like={other.slug}").context["form"]
    taken = {name: form[name].value() for name in ("name", "base_url", "timeout", "protocol")}
    wanted = {"name": "First (2)", "base_url": other.base_url, "timeout": 7.0, "protocol": "likert"}
    assert taken == wanted


def test_the_task_comes_first_and_decides_the_protocols(staff: Client, model: ChatServer) -> None:
    study = make_study(tasks=["check", "score"])
    page = staff.get(f"{NEW}?study={study.slug}")
    form = page.context["form"]
    assert form["protocol"].value() == "requirements"
    offered = {name for _, names in form.fields["protocol"].choices for name, _ in names}
    assert offered == {"requirements", "requirements-alone", "requirements-at-once"}
    assert {"form", "points", "rates_criteria", "both_orders"}.isdisjoint(form.fields)
    assert f"?task=score&amp;study={study.slug}" in page.content.decode()
    given = {"name": "Loop", "model": "loop", "base_url": model.url, "samples": "1", "timeout": "9"}
    given |= {"provider": "openai", "concurrency": "1", "protocol": "direct-score", "active": "on"}
    assert staff.post(f"{NEW}?task=score", given).status_code == 302
    judge = Judge.objects.get()
    assert (judge.task, judge.form) == ("score", "score")
    edit = staff.get("/judging/judges/loop/edit/")
    assert edit.context["form"]["protocol"].value() == "direct-score"
    assert "What the judge does" not in edit.content.decode()


def test_a_test_shows_one_reply_and_how_it_was_read(
    staff: Client, filled: dict[str, Any], model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOP_API_KEY", "sk-very-secret")
    model.script = lambda body: Answer("2\n<b>A</b> is right, sk-very-secret.", tokens=(1000, 500))
    prices = {"prompt_price": "2", "reply_price": "8", "api_key_env": "LOOP_API_KEY", "name": ""}
    reply = staff.post(TRY, filled | prices)
    page = strip_tags(reply.content.decode())
    assert "Read as 2 of 8: A is better." in page
    assert "&lt;b&gt;A&lt;/b&gt; is right, [key]." in page
    assert "0.006 USD" in page
    assert "sk-very-secret" not in page
    assert reply.context["form"]["model"].value() == "loop-8b", "what was typed stays"
    assert len(model.requests) == 1
    assert not Judge.objects.exists()
    assert not JudgeCall.objects.exists()


TOKEN = {"token": "2", "logprob": -9, "top_logprobs": [{"token": "The", "logprob": -0.1}]}
CHOICE = {"message": {"content": "2"}, "finish_reason": "stop", "logprobs": {"content": [TOKEN]}}
LISTED = json.dumps({"choices": [CHOICE]}).encode()
SLOW = Answer(status=429, headers={"Retry-After": "20"}, raw=b'{"error": "slow"}')


@pytest.mark.parametrize(
    ("answer", "change", "words"),
    [
        (
            Answer("Both are lovely!"),
            {},
            "No rating could be read: unreadable. Try another protocol or answer scale.",
        ),
        (Answer("<think>\nHm", finish_reason="length"), {}, "while the model thought. Raise max tokens."),
        (Answer("<think>\nHm\n</think>"), {}, "The reply is thinking alone, with no answer after it."),
        (Answer("", finish_reason="content_filter"), {}, "content filter or the model refuses this question"),
        (Answer("2"), {"logprobs": "on"}, "asks for logprobs, and the endpoint sends none"),
        (Answer(raw=LISTED), {"logprobs": "on"}, "Hardly any of the likeliest tokens"),
        (Answer(raw=b'{"error": "no slot"}'), {}, "sends an error in place of a reply (no slot)."),
        (Answer(status=404, raw=b"?"), {"base_url": "/"}, "The address may lack /v1 at its end. ?)."),
        (SLOW, {}, "The endpoint asks you to wait 20 s (429: slow)."),
        (Answer("7"), {}, "so this judge prefers the wrong one"),
        (Answer("2", finish_reason="banana"), {}, "The endpoint ended its reply with “banana”."),
        (Answer("Ask yourself"), {"protocol": "metrics"}, "asks for no rating"),
        (Answer("7"), {"protocol": "rating", "form": "scores"}, "Read as 7 of 9 for the first answer."),
        (Answer("4"), {"protocol": "direct-score"}, "Read as 4 of 5."),
        (Answer("2"), {"protocol": "direct-score"}, "so this judge is wrong"),
        (Answer("Yes."), {"protocol": "requirements"}, "Read as met."),
        (Answer("1: NO"), {"protocol": "requirements-at-once"}, "Read as not met. The answer is right"),
        (Answer(status=401, raw=b'{"error": "Bad"}'), {}, "The endpoint needs a valid key (401: Bad)."),
        (Answer(status=400, raw=b'{"error": "Odd"}'), {}, "The endpoint rejects the request (400: Odd)."),
        (Answer(raw=b"<html>"), {}, "not like an OpenAI-compatible endpoint"),
        (Answer(delay=1), {"timeout": "0.1"}, "The endpoint gave no reply in time"),
        (Answer(), {"base_url": "http://127.0.0.1:9/v1"}, "The endpoint cannot be reached."),
        (Answer(), {"base_url": "ftp://x"}, "Enter an address like"),
        (Answer(), {"model": ""}, "Model: This field is required."),
        (Answer(), {"api_key_env": "NOT_SET_API_KEY"}, "NOT_SET_API_KEY is not set"),
        (Answer(), {"api_key_env": "SECRET_KEY"}, "a secret of the arena"),
    ],
)
def test_what_a_test_says(
    answer: Answer,
    change: dict[str, str],
    words: str,
    staff: Client,
    filled: dict[str, Any],
    model: ChatServer,
) -> None:
    model.script = lambda body: answer
    if change.get("base_url") == "/":
        change = {"base_url": model.url.removesuffix("/v1")}
    page = strip_tags(staff.post(TRY, filled | change, headers={"HX-Request": "true"}).content.decode())
    assert words in page


def test_a_test_is_paid_for_by_the_day(staff: Client, filled: dict[str, Any], model: ChatServer) -> None:
    set_budget(None, Decimal("0.00001"), "USD")
    page = staff.post(TRY, filled | {"prompt_price": "2", "reply_price": "8"}).content.decode()
    assert "The budget of the day of 0.00001 USD had no room for another call" in page
    assert model.requests == []


def test_tests_are_limited(staff: Client, filled: dict[str, Any], model: ChatServer) -> None:
    for _ in range(3):
        page = staff.post(TRY, filled).content.decode()
    assert "before you test again" in page
    assert "is not set" in staff.post(TRY, filled | {"api_key_env": "NOT_SET_API_KEY"}).content.decode()
    assert len(model.requests) == 1


def test_a_test_is_for_operators(client: Client, filled: dict[str, Any], model: ChatServer) -> None:
    client.force_login(make_user())
    assert client.post(TRY, filled).status_code == 403
    assert client.get(TRY).status_code == 405
    assert model.requests == []
