"""The client of the API against something that is no arena, or a hostile one."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from judging.worker import arena_client
from judging.worker.arena import hand_in
from judging.worker.arena_client import ArenaClient, ArenaReply, ArenaUnreachableError


@pytest.fixture
def answering() -> Iterator[Callable[..., ArenaClient]]:
    """A client of a server that gives every request the same body, with status 200.

    ``missing`` bytes more than are sent are promised, as by a server that dies on the way.
    """
    body, promised = b"", 0

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            if promised:
                self.send_header("Content-Length", str(promised))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - the server wants this name

        def log_message(self, *args: Any) -> None:
            """Nothing."""

    def answer(given: bytes, missing: int = 0) -> ArenaClient:
        nonlocal body, promised
        body, promised = given, len(given) + missing if missing else 0
        return ArenaClient("arena_x", f"http://127.0.0.1:{server.server_port}")

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield answer
        server.shutdown()


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"\xff", b"[" * 100_000, b"{" + b'"a":{' * 100_000])
def test_what_is_no_object_is_an_empty_one(answering: Callable[[bytes], ArenaClient], body: bytes) -> None:
    assert answering(body).get("/judges/far/").body == {}


def test_a_reply_without_end_is_not_read_to_it(
    answering: Callable[[bytes], ArenaClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arena_client, "LONGEST_REPLY", 1000)
    assert answering(b'{"a": 1}' + b" " * 10_000).get("/judges/far/").body == {"a": 1}
    assert answering(b'{"a": "' + b"x" * 10_000 + b'"}').get("/judges/far/").body == {}


@pytest.mark.parametrize("body", [b"", b'{"assignment": "Tf0', b"{}"])
def test_half_a_reply_is_none(answering: Callable[..., ArenaClient], body: bytes) -> None:
    with pytest.raises(ArenaUnreachableError, match="IncompleteRead"):
        answering(body, missing=7).post("/assignments/", {})


class Taking:
    """Takes results in place of an arena, but no request about more than so many, or longer than it reads."""

    def __init__(self, most: int = 100) -> None:
        self.most = most
        self.batches: list[int] = []

    def __call__(self, body: bytes) -> ArenaReply:
        replies = json.loads(body)["replies"]
        self.batches.append(len(replies))
        if len(replies) > self.most or len(body) > 2_500_000:
            return ArenaReply(413, {"detail": "Too long."})
        outcomes = [{"assignment": each["assignment"], **each.get("failure", {})} for each in replies]
        return ArenaReply(200, {"results": outcomes})


def test_many_results_go_in_few_requests() -> None:
    taking = Taking()
    found = list(hand_in(taking, [{"assignment": str(number)} for number in range(205)]))
    assert [each["assignment"] for each in found] == [str(number) for number in range(205)]
    assert taking.batches == [100, 100, 5]


def test_no_request_is_longer_than_the_arena_reads() -> None:
    taking = Taking()
    long = [{"assignment": str(number), "reply": "x" * 900_000} for number in range(5)]
    assert len(list(hand_in(taking, long))) == 5
    assert taking.batches == [2, 2, 1]


def test_a_batch_that_is_refused_is_handed_in_one_by_one_and_what_cannot_be_read_has_failed() -> None:
    taking = Taking(most=1)
    found = list(hand_in(taking, [{"assignment": "a"}, {"assignment": "b", "reply": "x" * 3_000_000}]))
    failed = {
        "kind": "refused_answer",
        "detail": "the arena refuses the reply: Too long.",
        "retryable": False,
    }
    assert found == [{"assignment": "a"}, {"assignment": "b", **failed}]
    assert taking.batches == [1, 1, 1]


def test_a_long_sentence_is_cut(answering: Callable[[bytes], ArenaClient]) -> None:
    reply = answering(json.dumps({"detail": "x" * 10_000}).encode()).get("/judges/far/")
    assert reply.detail == "x" * 600
