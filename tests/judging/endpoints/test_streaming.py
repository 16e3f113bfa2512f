"""Answers while they are written, by endpoints that stream well, badly, or not at all."""

import time
from typing import Any

import pytest

from judging.endpoints.client import NoReplyError, Reply, Request
from judging.endpoints.openai_client import OpenAIClient
from judging.endpoints.streaming import LONGEST_LINE, StoppedError, Taking
from tests.judging.endpoints.server import Answer, ChatServer, Streamed

KEY = "sk-0123456789abcdef"


def streamed(
    model: ChatServer, answer: Answer, *, hung: float = 5.0, key: str = "none"
) -> tuple[Reply, list[str]]:
    """The reply, and the pieces of it that came before."""
    model.script = lambda body: answer
    pieces: list[str] = []
    reply = OpenAIClient(model.url, key).stream(_request(), pieces.append, hung)
    return reply, pieces


def _request() -> Request:
    return Request("loopback", [{"role": "user", "content": "x"}], 30.0)


def failed(model: ChatServer, answer: Answer, **options: Any) -> tuple[NoReplyError, list[str]]:
    """The error, and the pieces that came before it."""
    model.script = lambda body: answer
    pieces: list[str] = []
    with pytest.raises(NoReplyError) as found:
        OpenAIClient(model.url, "none").stream(_request(), pieces.append, options.get("hung", 5.0))
    return found.value, pieces


WORDS = ("One ", "two, ", "thrée ", "four.")
TEXT = "".join(WORDS)


def test_words_come_before_the_end_and_the_reply_counts_its_tokens(model: ChatServer) -> None:
    model.script = lambda body: Streamed(pieces=WORDS, pause=0.2)
    came: list[tuple[float, str]] = []
    begun = time.monotonic()

    def take(piece: str) -> None:
        came.append((time.monotonic() - begun, piece))

    reply = OpenAIClient(model.url, "none").stream(_request(), take, 5.0)
    assert "".join(piece for _, piece in came) == reply.text == TEXT
    assert len(came) > 1
    assert came[0][0] < came[-1][0]
    assert (reply.finish_reason, reply.prompt_tokens, reply.completion_tokens) == ("stop", 100, 10)
    [asked] = model.requests
    assert (asked["stream"], asked["stream_options"]) == (True, {"include_usage": True})


ONE = b'data: {"choices": [{"delta": {"content": "One"}}]}'
DONE = b"data: [DONE]"
OTHER = b'data: {"choices": [{"index": 1, "delta": {"content": "no"}}]}'
THOUGHT = b'data: {"choices": [{"delta": {"reasoning_content": "Hm."}}]}'
PARTS = b'data: {"choices": [{"delta": {"content": [{"type": "text", "text": "One"}]}}]}'
EVENTS = {
    "line ends of Windows": b"\r\n\r\n".join([ONE, DONE, b""]),
    "comments and names of events": b"\n\n".join([b": hello", b"event: x\nid: 1\n" + ONE, DONE, b""]),
    "no blanks": b"\n\n".join([ONE.replace(b" ", b""), DONE, b""]),
    "thinking apart": b"\n\n".join([THOUGHT, ONE, DONE, b""]),
    "parts": b"\n".join([PARTS, DONE, b""]),
    "another choice beside": b"\n\n".join([OTHER, ONE, DONE, b""]),
    "a mark at the beginning": b"\n\n".join([b"\xef\xbb\xbf" + ONE, DONE, b""]),
}


@pytest.mark.parametrize("raw", EVENTS.values(), ids=EVENTS)
def test_forms_of_streams(model: ChatServer, raw: bytes) -> None:
    reply, pieces = streamed(model, Streamed(raw=raw))
    assert (reply.text, pieces) == ("One", ["One"])


def test_bytes_that_are_no_text_are_marked(model: ChatServer) -> None:
    raw = b'data: {"choices": [{"delta": {"content": "One\xff"}}]}\n\ndata: [DONE]\n\n'
    assert "".join(streamed(model, Streamed(raw=raw))[1]) == "One\ufffd"


def test_a_character_in_two_reads_is_whole() -> None:
    came: list[str] = []
    event = 'data: {"choices": [{"delta": {"content": "é😀"}}]}\n\n'.encode()
    Taking(came.append, "", 5.0).read(event[at : at + 1] for at in range(len(event)))
    assert came == ["é😀"]


def test_a_packed_stream_comes_in_pieces(model: ChatServer) -> None:
    reply, pieces = streamed(model, Streamed(pieces=WORDS, pause=0.2, packed=True))
    assert reply.text == "".join(pieces) == TEXT
    assert len(pieces) == len(WORDS)
    assert model.headers[-1]["Accept-Encoding"] == "identity"


def test_plain_json_is_one_piece(model: ChatServer) -> None:
    reply, pieces = streamed(model, Answer("One two."))
    assert (reply.text, pieces) == ("One two.", ["One two."])


def test_an_end_without_done_is_one_where_it_has_a_reason(model: ChatServer) -> None:
    assert streamed(model, Streamed(done=False, usage=False))[0].text == "Both are fine."
    error, pieces = failed(model, Streamed(done=False, end="", usage=False))
    assert (error.kind, "".join(pieces)) == ("malformed", "Both are fine.")


def test_nothing_is_waited_for_after_done(model: ChatServer) -> None:
    begun = time.monotonic()
    assert streamed(model, Streamed(hang=20.0), hung=20.0)[0].text == "Both are fine."
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Streamed(pieces=WORDS, cut=True), "connection"),
        (Answer(status=500, raw=b'{"error": {"message": "oops"}}'), "http_500"),
        (Answer(status=429, raw=b"{}"), "rate_limited"),
        (Answer(raw=b"<html>no</html>"), "malformed"),
        (Streamed(raw=b'data: {"error": {"message": "overloaded", "code": 503}}\n\n'), "http_503"),
        (
            Streamed(
                raw=b'data: {"choices": [{"delta": {"content": "One"}}]}\n\ndata: {"error": "gone"}\n\n'
            ),
            "error",
        ),
        (Streamed(raw=b"data: " + b"x" * (LONGEST_LINE + 70_000)), "malformed"),
    ],
    ids=["cut", "500", "429", "page", "error", "error behind words", "endless line"],
)
def test_failures(model: ChatServer, answer: Answer, kind: str) -> None:
    assert failed(model, answer)[0].kind == kind


def test_what_came_before_a_cut_was_handed_on(model: ChatServer) -> None:
    assert failed(model, Streamed(pieces=WORDS, pause=0.15, cut=True))[1] == list(WORDS[:3])


@pytest.mark.parametrize("raw", [None, b": still here\n" * 40], ids=["silence", "comments"])
def test_a_model_that_hangs_is_given_up(model: ChatServer, raw: bytes | None) -> None:
    hanging = (
        Streamed(end="", usage=False, done=False, hang=30.0) if raw is None else Streamed(raw=raw, pause=0.1)
    )
    begun = time.monotonic()
    error, _ = failed(model, hanging, hung=1.0)
    assert error.kind == "timeout"
    assert time.monotonic() - begun < 15


def test_who_takes_the_words_can_end_the_request(model: ChatServer) -> None:
    model.script = lambda body: Streamed(pieces=["word "] * 200, pause=0.05)

    def take(piece: str) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        OpenAIClient(model.url, "none").stream(_request(), take, 5.0)


def test_endpoints_are_asked_for_less_where_they_refuse_more(model: ChatServer) -> None:
    def picky(body: dict[str, Any]) -> Answer:
        if "stream_options" in body:
            return Answer(status=400, raw=b'{"error": {"message": "unknown field stream_options"}}')
        return Streamed()

    model.script = picky
    assert OpenAIClient(model.url, "none").stream(_request(), lambda piece: None, 5.0).text
    model.script = lambda body: (
        Answer(status=422, raw=b'{"error": {"message": "stream is not supported"}}')
        if "stream" in body
        else Answer("Plain.")
    )
    assert OpenAIClient(model.url, "none").stream(_request(), lambda piece: None, 5.0).text == "Plain."
    assert failed(model, Answer(status=400, raw=b'{"error": {"message": "no"}}'))[0].kind == "http_400"


def test_a_key_that_an_endpoint_repeats_is_no_part_of_the_answer(model: ChatServer) -> None:
    pieces = ("Your key is sk-01", "2345678", "9abcdef. And ", "sk-0")
    reply, came = streamed(model, Streamed(pieces=pieces, pause=0.15), key=KEY)
    assert "".join(came) == reply.text == "Your key is [key]. And sk-0"
