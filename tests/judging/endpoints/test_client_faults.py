"""The real client against an endpoint that misbehaves, and what becomes of the call where that differs.

tests.judging.runs.test_flow has one case of each kind in a whole run.
"""

import gzip
import json
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import cycle
from typing import Any

import pytest

from arena.models import Assignment, Comparison
from judging.endpoints import openai_client
from judging.endpoints.client import NoReplyError, Reply, Request
from judging.endpoints.openai_client import OpenAIClient
from judging.models import JudgeCall
from judging.runs.lifecycle import plan_run, start_run
from tests.factories import make_judge, make_small_study
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.working import judge_assignment

Drain = Callable[[], None]


def reply(model: ChatServer, answer: Answer, *, timeout: float = 30.0, path: str = "/v1") -> Reply:
    """What the client makes of an answer."""
    model.script = lambda body: answer
    request = Request("loopback", [{"role": "user", "content": "x"}], timeout)
    return OpenAIClient(model.url.removesuffix("/v1") + path, "none").ask(request)


def error(model: ChatServer, answer: Answer, **options: Any) -> NoReplyError:
    with pytest.raises(NoReplyError) as found:
        reply(model, answer, **options)
    return found.value


@pytest.fixture
def asked(arena: Any, model: ChatServer) -> Callable[..., JudgeCall]:
    """Ask about one pair once, with the given answer, and return the call record."""

    def ask(answer: Answer, **judge: Any) -> JudgeCall:
        model.script = lambda body: answer
        options = {"base_url": model.url, "timeout": 5.0, **judge}
        run = start_run(make_small_study(prompts=1, contestants=2), make_judge(**options))
        plan_run(run.pk)
        judge_assignment(Assignment.objects.get().pk)
        return JudgeCall.objects.select_related("run__judge").get()

    return ask


HTML = {"Content-Type": "text/html"}
GZIP = {"Content-Encoding": "gzip"}
NO_REPLY = {
    **{f"http_{status}": Answer(status=status, raw=b"<h1>oops</h1>") for status in (500, 502, 503, 529)},
    "timeout": Answer(delay=2),
    "connection": Answer(cut=True),
    "connection that is reset": Answer(reset=True),
    "malformed: a page with status 200": Answer(raw=b"<html>Sign in</html>", headers=HTML),
    "malformed: JSON that ends early": Answer(raw=b'{"choices": [{'),
    "malformed: nothing": Answer(raw=b""),
    "malformed: a choice that is a number": Answer(raw=b'{"choices": [5]}'),
    "malformed: a list": Answer(raw=b"[1]"),
    "malformed: a stream that ends early": Answer(
        raw=b'data: {"choices": [{"delta": {"content": "6"}}]}\n\n'
    ),
    "malformed: no gzip": Answer(raw=b"\x1f\x8bgarbage", headers=GZIP),
    "malformed: gzip that ends early": Answer(raw=gzip.compress(b"{}" * 50)[:-9], headers=GZIP),
    "malformed: packed in a way not asked for": Answer(headers={"Content-Encoding": "br"}),
    "malformed: bytes that are no UTF-8": Answer(raw=b'{"choices": "\xff\xfe"}'),
    "malformed: JSON nested very deeply": Answer(raw=b'{"choices": ' + b"[" * 100_000),
}


@pytest.mark.parametrize("name", NO_REPLY)
def test_what_is_no_reply_is_an_error_that_may_pass(model: ChatServer, name: str) -> None:
    found = error(model, NO_REPLY[name], timeout=0.4 if name == "timeout" else 30)
    assert (name.startswith(found.kind), found.retryable) == (True, True)
    assert str(found)
    assert name != "timeout" or str(found) == "no reply within 0.4 s"


SAID = b'{"error": {"message": "no"}}'
CHARSETS = (
    *("punycode", "hex", "rot13", "zlib", "base64", "idna", "unicode_escape", "utf-16", "undefined"),
    *("unknown", "x" * 500, "\xff"),
)
ODD_ERRORS = {
    **{name[:20]: Answer(raw=SAID, headers={"Content-Type": f"text/x; charset={name}"}) for name in CHARSETS},
    **{f"{n} digits": Answer(raw=SAID, headers={"retry-after-ms": "9" * n}) for n in (400, 5000)},
    "a date of many digits": Answer(raw=SAID, headers={"retry-after": "9" * 400}),
    "lists in lists": Answer(raw=b"[" * 100_000),
    "errors in errors": Answer(raw=b'{"error": ' * 600 + b"1" + b"}" * 600),
    "a number": Answer(raw=b"9" * 5000),
    "no UTF-8": Answer(raw=b"\xff\xfe\x00"),
    "no gzip": Answer(raw=b"\x1f\x8bgarbage", headers=GZIP),
    "packed in a way not asked for": Answer(headers={"Content-Encoding": "br"}),
    "without end": Answer(endless=0.0),
}


STATUSES = cycle([(401, "http_401"), (429, "rate_limited"), (503, "http_503")])


@pytest.mark.parametrize(("name", "status"), list(zip(ODD_ERRORS, STATUSES, strict=False)), ids=ODD_ERRORS)
def test_an_error_tells_its_status_whatever_headers_and_body_say(
    model: ChatServer, name: str, status: tuple[int, str]
) -> None:
    assert error(model, replace(ODD_ERRORS[name], status=status[0])).kind == status[1]


@pytest.mark.parametrize("status", [200, 500])
def test_no_stated_charset_takes_long(model: ChatServer, status: int) -> None:
    stated = {"Content-Type": "text/plain; charset=punycode"}
    body = b"\xffaaa-" + b"b" * 2**20
    started = time.monotonic()
    assert error(model, Answer(status=status, raw=body, headers=stated)).kind in ("http_500", "malformed")
    assert time.monotonic() - started < 5


def test_where_nobody_listens_nothing_is_sent() -> None:
    with pytest.raises(NoReplyError) as found:
        OpenAIClient("http://127.0.0.1:9/v1", "none").ask(Request("loopback", [], 5.0))
    assert (found.value.kind, found.value.retryable) == ("unreachable", True)


def test_retry_after_is_the_least_wait(asked: Callable[..., JudgeCall]) -> None:
    when = datetime.now(UTC) + timedelta(seconds=90)
    call = asked(Answer(status=429, headers={"Retry-After": format_datetime(when, usegmt=True)}, raw=b"{}"))
    assert (call.state, call.error_kind, call.given_up, call.assignment.state) == (
        "failed",
        "rate_limited",
        False,
        "open",
    )
    assert timedelta(seconds=-2) < call.retry_at - when < timedelta(seconds=30)
    assert call.assignment.run_assignments.get().due_at == call.retry_at
    assert not Comparison.objects.exists()


def test_a_connection_dropped_between_calls_is_no_loss(arena: Any, model: ChatServer, drain: Drain) -> None:
    model.script = lambda body: Answer("6\nBetter.", close=True)
    run = start_run(make_small_study(prompts=5, contestants=2), make_judge(base_url=model.url))
    drain()
    progress = JudgeCall.objects.progress(run)
    assert (progress.scored, progress.attempts_failed, len(model.requests)) == (5, 0, 5)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(model: ChatServer, status: int) -> None:
    with ChatServer() as elsewhere:
        location = {"Location": f"{elsewhere.url}/chat/completions"}
        found = error(model, Answer(status=status, headers=location, raw=b""))
        assert elsewhere.requests == []
    assert (found.kind, found.retryable) == (f"http_{status}", False)


def test_what_cannot_be_read_is_asked_for_once_more_at_most(
    arena: Any, model: ChatServer, drain: Drain
) -> None:
    model.script = lambda body: Answer(raw=b"<html>Sign in</html>", headers=HTML)
    start_run(make_small_study(prompts=1, contestants=2), make_judge(base_url=model.url))
    drain()
    assert len(model.requests) == 2
    assert JudgeCall.objects.filter(given_up=True).get().error.startswith("the reply is a web page: <html>")


def test_a_filter_is_a_refusal_that_quotes_no_key(
    asked: Callable[..., JudgeCall], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOP_API_KEY", "sk-key-of-the-judge")
    said = b'{"error": {"code": "content_filter", "message": "Filtered, sk-key-of-the-judge"}}'
    call = asked(Answer(status=400, raw=said), api_key_env="LOOP_API_KEY")
    outcome = (call.status, call.reason, call.raw_reply, call.refusal)
    assert outcome == ("unscored", "refused", "", "Filtered, [key]")


@pytest.mark.parametrize(
    ("path", "said", "hint"),
    [
        ("/v1/chat/completions", b"Not Found", "The address must end before /chat/completions."),
        ("", b'{"detail": "Not Found"}', "The address may lack /v1 at its end."),
        ("/v1", b"Not Found", "Not Found"),
        ("", b'{"error": {"message": "the model x does not exist"}}', "the model x does not exist"),
    ],
)
def test_404_says_what_may_be_wrong_with_the_address(
    model: ChatServer, path: str, said: bytes, hint: str
) -> None:
    assert str(error(model, Answer(status=404, raw=said), path=path)).startswith(hint)


def test_an_account_without_credit_pauses_its_run_at_once(asked: Callable[..., JudgeCall]) -> None:
    said = b'{"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}'
    call = asked(Answer(status=429, raw=said))
    assert (call.error_kind, call.run.state) == ("no_credit", "paused")
    assert "has no credit left (You exceeded your current quota)" in call.run.error


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (
            Answer(
                raw=gzip.compress(Answer("6\nÄhnlich, 好.").body()),
                headers={**GZIP, "Content-Type": "application/json; charset=latin-1"},
            ),
            "6\nÄhnlich, 好.",
        ),
        (Answer(raw=Answer("6\nBetter.").body().decode().encode("utf-16")), "6\nBetter."),
        (Answer("6", headers={"Content-Type": "text/plain"}), "6"),
        (Answer("6\n" + "Because. " * 20_000), "6\n" + "Because. " * 20_000),
    ],
    ids=["gzip and a stated charset", "another charset that can be told", "called a text", "long"],
)
def test_packed_encoded_and_long_replies_are_read(model: ChatServer, answer: Answer, text: str) -> None:
    assert reply(model, answer).text == text


TOO_LONG = f"the reply is longer than {openai_client.LONGEST_BODY:,} bytes"


def test_a_body_without_end_is_not_read_for_ever(model: ChatServer) -> None:
    assert str(error(model, Answer(endless=0.0))) == TOO_LONG
    assert error(model, Answer(status=500, endless=0.0)).kind == "http_500"
    assert error(model, Answer(endless=0.05), timeout=0.3).kind == "timeout"


def test_a_body_that_grows_when_unpacked_ends_at_the_same_bound(model: ChatServer) -> None:
    bomb = Answer(raw=gzip.compress(b" " * 2**26), headers=GZIP)
    tracemalloc.start()
    assert str(error(model, bomb)) == TOO_LONG
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 3 * openai_client.LONGEST_BODY  # one that is unpacked at once takes 64 MiB


def test_what_no_database_holds_is_replaced_and_another_model_recorded(
    asked: Callable[..., JudgeCall],
) -> None:
    choice = {"message": {"content": "6\nA\x00B \ud800"}, "finish_reason": "stop"}
    call = asked(Answer(raw=json.dumps({"choices": [choice], "model": "loopback-2-mini"}).encode()))
    assert (call.status, call.raw_reply) == ("scored", "6\nA�B �")
    assert Comparison.objects.get().raw_reply == "6\nA�B �"
    assert JudgeCall.objects.progress(call.run).models == {"loopback-2-mini": 1}


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        # Endpoints that do not count say 0, and some count thinking in the total alone.
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, (None, None)),
        ({"prompt_tokens": 100, "completion_tokens": 0}, (100, None)),
        ({"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}, (100, 7)),
        ({"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 500}, (100, 400)),
        ({"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 3}, (100, 7)),
        # Numbers that cannot be are unknown.
        *(
            ({"prompt_tokens": one, "completion_tokens": other}, (None, None))
            for one, other in (("many", True), (-1, {}), (2**40, []), (1.5, ""), (None, 10**30))
        ),
    ],
)
def test_tokens_that_are_charged_are_all_counted(
    model: ChatServer, usage: dict[str, Any], counted: tuple[int | None, int | None]
) -> None:
    choice = {"message": {"content": "6"}, "finish_reason": "stop"}
    found = reply(model, Answer(raw=json.dumps({"choices": [choice], "usage": usage}).encode()))
    assert (found.prompt_tokens, found.completion_tokens) == counted


def test_without_a_key_no_word_is_taken_for_one(model: ChatServer) -> None:
    assert str(error(model, Answer(status=400, raw=b'{"error": "none of these"}'))) == "none of these"
