"""The client of the API against something that is no arena, or a hostile one."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from judging import arena_client
from judging.arena_client import ArenaClient, ArenaUnreachableError
from judging.remote.arena import Arena, ArenaBusyError
from judging.remote.journal import Entry

ENTRY = Entry("Tf0vEjYz3sOeVQwK", 1, "rate", "likert", "0" * 64, "likert", 8, "far-1")


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
        Thread(target=server.serve_forever, daemon=True).start()
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


def test_a_long_sentence_is_cut(answering: Callable[[bytes], ArenaClient]) -> None:
    reply = answering(json.dumps({"detail": "x" * 10_000}).encode()).get("/judges/far/")
    assert reply.detail == "x" * 600


@pytest.mark.parametrize("lease", [None, "soon", [], {}, 10**400])
def test_an_odd_lease_does_not_end_the_worker(
    answering: Callable[[bytes], ArenaClient], lease: object
) -> None:
    body = json.dumps({"assignment": ENTRY.assignment, "lease_seconds": lease}).encode()
    with pytest.raises(ArenaBusyError, match="renews a lease in a way unknown here"):
        Arena(answering(body), "far", "box").renew(ENTRY)
