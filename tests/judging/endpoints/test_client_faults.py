"""The real client against an endpoint that misbehaves: what is stored of it, one way after the other.

Beside tests.judging.runs.test_flow, which has the plain cases: refusals, empty and cut off replies, bad keys.
"""

import gzip
import json
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from arena.models import Assignment, Comparison
from judging.endpoints import openai_client
from judging.endpoints.client import NoReplyError, Request
from judging.endpoints.openai_client import OpenAIClient
from judging.models import JudgeCall, JudgeRun
from judging.runs.calls import judge_assignment
from judging.runs.lifecycle import plan_run, start_run
from tests.factories import make_judge, make_small_study
from tests.judging.endpoints.server import Answer, ChatServer

Drain = Callable[[], None]


@pytest.fixture
def asked(arena: Any, model: ChatServer) -> Callable[..., JudgeCall]:
    """Ask about one pair once, with the given answer, and return the call record."""

    def ask(answer: Answer, **judge: Any) -> JudgeCall:
        model.script = lambda body: answer
        options = {"base_url": model.url, "timeout": 5.0, **judge}
        run = start_run(make_small_study(prompts=1, contestants=2), make_judge(**options))
        plan_run(run.pk)
        judge_assignment(Assignment.objects.get().pk)
        return JudgeCall.objects.get()

    return ask


def assert_waits(call: JudgeCall, kind: str) -> None:
    """The call has failed with this kind, is recorded, and its assignment waits for the next try."""
    assert (call.state, call.error_kind, call.given_up) == ("failed", kind, False)
    assert call.retry_at is not None
    assert call.finished_at is not None
    assert call.assignment.state == "open"
    assert not Comparison.objects.exists()


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_the_least_wait(asked: Callable[..., JudgeCall], form: str) -> None:
    when = datetime.now(UTC) + timedelta(seconds=90)
    header = "90" if form == "seconds" else format_datetime(when, usegmt=True)
    call = asked(Answer(status=429, headers={"Retry-After": header}, raw=b"{}"))
    assert_waits(call, "rate_limited")
    assert timedelta(seconds=-2) < call.retry_at - when < timedelta(seconds=30)
    assert call.assignment.run_assignments.get().due_at == call.retry_at


@pytest.mark.parametrize("header", ["soon", "31536000"])
def test_a_retry_after_that_means_nothing_is_left_out_and_one_of_a_year_cut(
    asked: Callable[..., JudgeCall], settings: Any, header: str
) -> None:
    call = asked(Answer(status=429, headers={"Retry-After": header}, raw=b"{}"))
    assert_waits(call, "rate_limited")
    longest = 5 if header == "soon" else settings.JUDGE_RETRY_MAX_SECONDS
    assert call.retry_at - datetime.now(UTC) <= timedelta(seconds=longest + 1)  # clocks may step back


@pytest.mark.parametrize(
    ("answer", "judge", "kind"),
    [
        *[
            (Answer(status=status, raw=b"<h1>oops</h1>"), {}, f"http_{status}")
            for status in (500, 502, 503, 529)
        ],
        (Answer(delay=2), {"timeout": 0.2}, "timeout"),
        (Answer(cut=True), {}, "connection"),
        (Answer(reset=True), {}, "connection"),
        (Answer(), {"base_url": "http://127.0.0.1:9/v1"}, "unreachable"),
    ],
)
def test_what_passes(
    asked: Callable[..., JudgeCall], answer: Answer, judge: dict[str, Any], kind: str
) -> None:
    call = asked(answer, **judge)
    assert_waits(call, kind)
    assert kind != "timeout" or call.error == "no reply within 0.2 s"


def test_a_connection_dropped_between_calls_is_no_loss(arena: Any, model: ChatServer, drain: Drain) -> None:
    model.script = lambda body: Answer("6\nBetter.", close=True)
    run = start_run(make_small_study(prompts=5, contestants=2), make_judge(base_url=model.url))
    drain()
    progress = JudgeCall.objects.progress(run)
    assert (progress.scored, progress.attempts_failed, len(model.requests)) == (5, 0, 5)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(asked: Callable[..., JudgeCall], status: int) -> None:
    with ChatServer() as elsewhere:
        location = {"Location": f"{elsewhere.url}/chat/completions"}
        call = asked(Answer(status=status, headers=location, raw=b""))
        assert elsewhere.requests == []
    assert_waits(call, f"http_{status}")
    call.run.refresh_from_db()
    assert "sends the request on" in call.run.error


HTML = {"Content-Type": "text/html"}
MALFORMED = {
    "a page with status 200": Answer(raw=b"<html>Sign in</html>", headers=HTML),
    "JSON that ends early": Answer(raw=b'{"choices": [{'),
    "nothing": Answer(raw=b""),
    "no choices": Answer(raw=b'{"id": "x"}'),
    "an empty list of choices": Answer(raw=b'{"choices": []}'),
    "choices that are no list": Answer(raw=b'{"choices": {"0": {}}}'),
    "a choice without a message": Answer(raw=b'{"choices": [{"index": 0}]}'),
    "a choice that is a number": Answer(raw=b'{"choices": [5]}'),
    "null": Answer(raw=b"null"),
    "a text": Answer(raw=b'"text"'),
    "a list": Answer(raw=b"[1]"),
    "a stream that ends early": Answer(raw=b'data: {"choices": [{"delta": {"content": "6"}}]}\n\n'),
    "bytes that are no gzip": Answer(raw=b"\x1f\x8bgarbage", headers={"Content-Encoding": "gzip"}),
    "gzip that ends early": Answer(raw=gzip.compress(b"{}" * 50)[:-9], headers={"Content-Encoding": "gzip"}),
    "a way to compress that was not asked for": Answer(headers={"Content-Encoding": "br"}),
    "bytes that are no UTF-8": Answer(raw=b'{"choices": "\xff\xfe"}'),
    "JSON nested very deeply": Answer(raw=b'{"choices": ' + b"[" * 100_000),
}


@pytest.mark.parametrize("answer", MALFORMED.values(), ids=MALFORMED.keys())
def test_what_is_no_chat_completion_is_tried_again(asked: Callable[..., JudgeCall], answer: Answer) -> None:
    call = asked(answer)
    assert_waits(call, "malformed")
    assert call.raw_reply == ""
    assert call.error


def test_what_cannot_be_read_is_asked_for_once_more_at_most(
    arena: Any, model: ChatServer, drain: Drain
) -> None:
    model.script = lambda body: Answer(raw=b"<html>Sign in</html>", headers=HTML)
    start_run(make_small_study(prompts=1, contestants=2), make_judge(base_url=model.url))
    drain()
    assert len(model.requests) == 2
    assert JudgeCall.objects.filter(given_up=True).get().error.startswith("the reply is a web page: <html>")


STREAM = b'data: {"choices": [{"delta": {"content": "6"}}]}\n\ndata: [DONE]\n\n'
FILTERED = b'{"error": {"code": "content_filter", "message": "Filtered, sk-key-of-the-judge"}}'


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Answer(raw=STREAM, headers={"Content-Type": "text/event-stream"}), ("scored", "", "6", "")),
        (Answer("6", headers={"Content-Type": "text/plain"}), ("scored", "", "6", "")),
        (
            Answer(raw=Answer("6\n\u00fc").body().replace(b"\\u00fc", b"\xfc")),
            ("scored", "", "6\n\ufffd", ""),
        ),
        (
            Answer(status=400, raw=FILTERED),
            ("unscored", "refused", "", "Filtered, [key]"),
        ),
    ],
    ids=["a stream", "a text", "no UTF-8", "a content filter's status"],
)
def test_what_a_model_has_replied_is_kept_in_whatever_form_it_comes(
    asked: Callable[..., JudgeCall], answer: Answer, outcome: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOP_API_KEY", "sk-key-of-the-judge")
    call = asked(answer, api_key_env="LOOP_API_KEY")
    assert (call.status, call.reason, call.raw_reply, call.refusal) == outcome


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
    asked: Callable[..., JudgeCall], model: ChatServer, path: str, said: bytes, hint: str
) -> None:
    call = asked(Answer(status=404, raw=said), base_url=model.url.removesuffix("/v1") + path)
    call.run.refresh_from_db()
    assert hint in call.error
    assert hint in call.run.error


def test_an_account_without_credit_pauses_its_run_at_once(asked: Callable[..., JudgeCall]) -> None:
    said = b'{"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}'
    call = asked(Answer(status=429, raw=said))
    call.run.refresh_from_db()
    assert (call.error_kind, call.run.state) == ("no_credit", "paused")
    assert "has no credit left (You exceeded your current quota)" in call.run.error


GZIPPED = {"Content-Encoding": "gzip", "Content-Type": "application/json; charset=latin-1"}


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (Answer(raw=gzip.compress(Answer("6\nÄhnlich, 好.").body()), headers=GZIPPED), "6\nÄhnlich, 好."),
        (Answer(raw=Answer("6\nBetter.").body().decode().encode("utf-16")), "6\nBetter."),
    ],
    ids=["gzip and a stated charset", "another charset that can be told"],
)
def test_packed_and_encoded_replies_are_read(
    asked: Callable[..., JudgeCall], answer: Answer, text: str
) -> None:
    call = asked(answer)
    assert (call.status, call.raw_reply) == ("scored", text)


def test_a_body_without_end_is_not_read_for_ever(model: ChatServer) -> None:
    model.script = lambda body: Answer(endless=0.0)
    error = refused(model, timeout=30)
    assert (error.kind, error.retryable) == ("malformed", True)
    assert str(error) == f"the reply is longer than {openai_client.LONGEST_BODY:,} bytes"


def test_a_body_that_grows_when_unpacked_ends_at_the_same_bound(model: ChatServer) -> None:
    bomb = gzip.compress(b" " * 2**26)
    model.script = lambda body: Answer(raw=bomb, headers={"Content-Encoding": "gzip"})
    refused(model, timeout=30)  # imports what asking needs
    tracemalloc.start()
    error = refused(model, timeout=30)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert str(error) == f"the reply is longer than {openai_client.LONGEST_BODY:,} bytes"
    assert most < 3 * openai_client.LONGEST_BODY  # one that is unpacked at once takes 64 MiB


def test_an_error_page_without_end_or_in_drops_is_not_read_for_ever(model: ChatServer) -> None:
    model.script = lambda body: Answer(status=500, endless=0.0)
    assert refused(model, timeout=30).kind == "malformed"
    model.script = lambda body: Answer(endless=0.05)
    assert refused(model, timeout=0.3).kind == "timeout"


def refused(model: ChatServer, timeout: float) -> NoReplyError:
    """The error that asking the model directly ends with."""
    request = Request("loopback", [{"role": "user", "content": "x"}], timeout)
    with pytest.raises(NoReplyError) as error:
        OpenAIClient(model.url, "none").ask(request)
    return error.value


def test_a_long_reply_within_the_bound_is_kept_whole(asked: Callable[..., JudgeCall]) -> None:
    text = "6\n" + "Because. " * 20_000
    call = asked(Answer(text))
    assert (call.status, call.rating, len(call.raw_reply)) == ("scored", 6, len(text))


def test_what_no_database_holds_is_replaced(asked: Callable[..., JudgeCall]) -> None:
    body = json.dumps({"choices": [{"message": {"content": "6\nA\x00B \ud800"}, "finish_reason": "stop"}]})
    call = asked(Answer(raw=body.encode()))
    assert (call.status, call.raw_reply) == ("scored", "6\nA�B �")
    assert Comparison.objects.get().raw_reply == "6\nA�B �"


@pytest.mark.parametrize("text", ["-1\nx", "99999999999999999999\nx"])
def test_a_number_outside_the_scale_is_no_rating(asked: Callable[..., JudgeCall], text: str) -> None:
    call = asked(Answer(text))
    assert (call.state, call.status) == ("replied", "unscored")
    assert (call.reason, call.rating) == ("out_of_range", None)
    assert Comparison.objects.get().raw_reply == text


STRANGE = {
    "prompt_tokens": ["many", -1, 2**40, 1.5, None],
    "completion_tokens": [True, {}, [], "", 10**30],
}


def test_numbers_of_tokens_that_cannot_be_are_unknown(asked: Callable[..., JudgeCall]) -> None:
    for values in zip(*STRANGE.values(), strict=True):
        usage = dict(zip(STRANGE, values, strict=True))
        message = {"message": {"content": "6"}, "finish_reason": "stop"}
        call = asked(Answer(raw=json.dumps({"choices": [message], "usage": usage}).encode()))
        assert (call.prompt_tokens, call.completion_tokens) == (None, None)
        assert call.status == "scored"
        JudgeRun.objects.all().delete()
        Comparison.objects.all().delete()
        Assignment.objects.all().delete()


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, (None, None)),
        ({"prompt_tokens": 100, "completion_tokens": 0}, (100, None)),
        ({"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}, (100, 7)),
        ({"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 500}, (100, 400)),
        ({"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 3}, (100, 7)),
    ],
)
def test_tokens_that_are_charged_are_all_counted(
    asked: Callable[..., JudgeCall], usage: dict[str, int], counted: tuple[int | None, int | None]
) -> None:
    """Endpoints that do not count say 0, and some count thinking in the total alone."""
    message = {"message": {"content": "6"}, "finish_reason": "stop"}
    call = asked(Answer(raw=json.dumps({"choices": [message], "usage": usage}).encode()))
    assert (call.prompt_tokens, call.completion_tokens) == counted


def test_another_model_than_asked_is_recorded(asked: Callable[..., JudgeCall]) -> None:
    call = asked(Answer("6\nBetter.", model="loopback-2-mini"))
    assert (call.status, call.model_returned) == ("scored", "loopback-2-mini")
    assert call.run.judge.model == "loopback"
    assert JudgeCall.objects.progress(call.run).models == {"loopback-2-mini": 1}


def test_without_a_key_no_word_is_taken_for_one(asked: Callable[..., JudgeCall]) -> None:
    assert asked(Answer(status=400, raw=b'{"error": "none of these"}')).error == "none of these"
