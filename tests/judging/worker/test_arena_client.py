"""The client of the API against something that is no arena, or a hostile one."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR
from threading import Semaphore, Thread
from typing import Any

import pytest

from judging.worker import arena_client
from judging.worker.arena import Arena, ArenaBusyError
from judging.worker.arena_client import ArenaClient, ArenaUnreachableError
from judging.worker.journal import Entry

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
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield answer
        server.shutdown()


class FakeArena(ThreadingHTTPServer):
    """Echoes comparisons, alone and in batches; counts connections, and can refuse batches or close."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Echo)
        self.connections = 0
        self.batches: list[list[Any]] = []
        self.refuses = 0
        self.closes = False
        self.closed = Semaphore(0)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FakeArena

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1

    def finish(self) -> None:
        super().finish()
        self.server.closed.release()

    def do_GET(self) -> None:
        self._reply(200, {})
        if self.server.closes:
            self.server.closes = False
            self.close_connection = True
            self.connection.shutdown(SHUT_RDWR)

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        several = self.path.endswith("/batch/")
        batch = given["comparisons"] if several else [given]
        self.server.batches.append(batch)
        if several and self.server.refuses:
            self._reply(self.server.refuses, {"detail": "Not now.", "field": "assignment"})
        elif several:
            self._reply(200, {"results": [{"status": 201, "body": each} for each in batch]})
        else:
            self._reply(201, given)

    def _reply(self, status: int, body: object) -> None:
        sent = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def arena() -> Iterator[FakeArena]:
    with FakeArena() as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
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


def test_connections_are_used_again_unless_the_server_closed_them(arena: FakeArena) -> None:
    client = ArenaClient("arena_x", arena.url)
    for _ in range(3):
        assert client.get("/judges/far/").status == 200
    assert arena.connections == 1
    arena.closes = True  # after the next reply, without a word
    assert client.get("/judges/far/").status == 200
    arena.closed.acquire()
    assert client.get("/judges/far/").status == 200
    assert arena.connections == 2


def test_many_answers_go_in_few_requests(arena: FakeArena) -> None:
    replies = ArenaClient("arena_x", arena.url).submit([{"assignment": str(n)} for n in range(205)])
    assert [reply.body for reply in replies] == [{"assignment": str(n)} for n in range(205)]
    assert [len(batch) for batch in arena.batches] == [100, 100, 5]


def test_no_request_is_longer_than_the_arena_reads(arena: FakeArena) -> None:
    replies = ArenaClient("arena_x", arena.url).submit([{"raw_reply": "x" * 900_000}] * 5)
    assert [reply.status for reply in replies] == [201] * 5
    assert [len(batch) for batch in arena.batches] == [2, 2, 1]


@pytest.mark.parametrize(
    ("refuses", "statuses", "batches"), [(413, [201, 201], [2, 1, 1]), (503, [503, 503], [2])]
)
def test_a_batch_that_is_refused_as_a_whole_is_sent_one_by_one_unless_the_moment_was_bad(
    arena: FakeArena, refuses: int, statuses: list[int], batches: list[int]
) -> None:
    arena.refuses = refuses
    replies = ArenaClient("arena_x", arena.url).submit([{"assignment": "a"}, {"assignment": "b"}])
    assert [reply.status for reply in replies] == statuses
    assert not any(reply.refuses_answer for reply in replies)
    assert [len(batch) for batch in arena.batches] == batches


def test_every_answer_of_a_batch_learns_that_there_is_no_arena() -> None:
    replies = ArenaClient("arena_x", "http://127.0.0.1:9").submit([{"assignment": "a"}] * 3)
    assert [type(reply) for reply in replies] == [ArenaUnreachableError] * 3


def test_a_long_sentence_is_cut(answering: Callable[[bytes], ArenaClient]) -> None:
    reply = answering(json.dumps({"detail": "x" * 10_000}).encode()).get("/judges/far/")
    assert reply.detail == "x" * 600


@pytest.mark.parametrize("lease", [None, "soon", [], {}, 10**400])
def test_odd_leases_do_not_end_the_worker(answering: Callable[[bytes], ArenaClient], lease: object) -> None:
    body = json.dumps({"assignment": ENTRY.assignment, "lease_seconds": lease}).encode()
    with pytest.raises(ArenaBusyError, match="does not understand the arena's lease"):
        Arena(answering(body), "far", "box").renew(ENTRY)
