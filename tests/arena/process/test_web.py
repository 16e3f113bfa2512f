"""Clients that send or read in pieces, slowly or never: nobody else waits for them."""

import hashlib
import io
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from http.client import HTTPConnection
from types import SimpleNamespace
from typing import Any

import pytest
from django.http import parse_cookie
from waitress.adjustments import Adjustments

from arena.monitoring.logs import begin_request, current_request
from arena.process import web
from arena.process.web import Connection, FairQueue, Request, WebServer

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
LARGE = b"x" * 5_000_000
GET = b"GET /%s HTTP/1.1\r\nHost: a\r\n\r\n"

SLOW = {
    "head": b"POST / HT",
    "body": HEAD % 9 + b"12",
    "chunks": b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n12",
    "reply": GET % b"bytes",
    "stream": GET % b"stream",
    "file": GET % b"file",
}


def said_of(body: bytes) -> bytes:
    return f"{len(body)} {hashlib.sha256(body).hexdigest()}".encode()


def read(client: socket.socket, said: bytes) -> None:
    """Read until it was said."""
    heard = b""
    while said not in heard:
        piece = client.recv(1000)
        assert piece, heard
        heard += piece


class Application:
    def __init__(self) -> None:
        self.go_on = threading.Event()

    def __call__(self, environ: dict[str, Any], start: Callable[..., object]) -> Any:
        begin_request("")
        what = environ["PATH_INFO"][1:]
        if what == "wait":
            self.go_on.wait(10)
        if what in ("bytes", "stream", "file"):
            start("200 OK", [("Content-Length", str(len(LARGE)))])
            pieces = [LARGE] if what == "bytes" else iter([LARGE[:50_000]] * 100)
            return environ["wsgi.file_wrapper"](io.BytesIO(LARGE)) if what == "file" else pieces
        said = said_of(environ["wsgi.input"].read()) + environ["SCRIPT_NAME"].encode()
        start("200 OK", [("Content-Length", str(len(said)))])
        return [said]


@pytest.fixture
def application() -> Application:
    return Application()


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch, application: Application) -> Iterator[WebServer]:
    """A server with two threads, in a thread."""
    settings.WEB_THREADS = 2
    monkeypatch.setattr(web, "_LOOK_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = WebServer(application, listener)
        running = threading.Thread(target=server.run, args=(0.5,))
        running.start()
        yield server
        application.go_on.set()
        server.leave()
        running.join()
        server.task_dispatcher.shutdown()
        server.close()


Connect = Callable[..., socket.socket]


@pytest.fixture
def connect(server: WebServer) -> Iterator[Connect]:
    with ExitStack() as stack:

        def connect(source: str = "127.0.0.1") -> socket.socket:
            client = stack.enter_context(socket.socket())
            client.settimeout(10)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.bind((source, 0))
            client.connect(("127.0.0.1", int(server.effective_port)))
            return client

        yield connect


def read_to_the_end(client: socket.socket) -> int:
    """How many bytes come until the server closes."""
    found = 0
    with suppress(ConnectionResetError):
        while piece := client.recv(100_000):
            found += len(piece)
    return found


@pytest.mark.parametrize("kind", SLOW)
def test_thirty_slow_clients_keep_nobody_waiting(server: WebServer, connect: Connect, kind: str) -> None:
    for _ in range(30):
        connect().sendall(SLOW[kind])
    client = HTTPConnection("127.0.0.1", int(server.effective_port), timeout=10)
    for body in (b"", b"one", b"x" * 300_000):
        client.request("POST", "/", body)
        assert client.getresponse().read() == said_of(body)
    client.close()


@pytest.mark.parametrize("kind", SLOW)
def test_too_slow_a_client_is_cut_off(monkeypatch: pytest.MonkeyPatch, connect: Connect, kind: str) -> None:
    monkeypatch.setattr(web, "PATIENCE_SECONDS", 0)
    client = connect()
    client.sendall(SLOW[kind])
    time.sleep(0.3)
    assert read_to_the_end(client) < len(LARGE)


def test_who_comes_while_others_are_cut_off_is_answered(
    monkeypatch: pytest.MonkeyPatch, connect: Connect
) -> None:
    """Their connections get the numbers of those that were closed."""
    monkeypatch.setattr(web, "_LOOK_SECONDS", 0)
    monkeypatch.setattr(Connection, "is_too_slow", lambda each, now: each.addr[0] == "127.0.0.2")
    for _ in range(100):
        for _ in range(3):
            connect("127.0.0.2").sendall(SLOW["head"])
        client = connect()
        client.sendall(GET % b"")
        read(client, said_of(b""))
        client.close()


def test_what_arrives_in_pieces_is_whole(connect: Connect) -> None:
    client = connect()
    for piece in (HEAD[:20], HEAD[20:] % 9, b"12", b"3456789"):
        client.sendall(piece)
        time.sleep(0.02)
    read(client, said_of(b"123456789"))
    client.sendall(HEAD % 3 + b"one" + HEAD % 3 + b"tw")
    read(client, said_of(b"one"))
    client.sendall(b"o")
    read(client, said_of(b"two"))


def test_who_asks_first_is_told_to_go_on(connect: Connect) -> None:
    client = connect()
    client.sendall((HEAD % 3).replace(b"Host", b"Expect: 100-continue\r\nHost"))
    assert client.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.sendall(b"one")
    read(client, said_of(b"one"))


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 3\r\nContent-Length: 3",
        b"Content-Length: " + b"9" * 5000,
        b"Content-Length: " + b"0" * 5000 + b"3",
        b"Content-Length: -3",
        b"Content-Length : 3",
        b"Transfer-Encoding: xchunked",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5",
        b"Content-Length: 5\r\nTransfer-Encoding: chunked",
        b"X: \0",
    ],
)
@pytest.mark.parametrize("body", [b"", b"0\r\n\r\n"])
def test_a_body_never_becomes_a_request(connect: Connect, head: bytes, body: bytes) -> None:
    assert_refused(connect(), b"POST / HTTP/1.1\r\nHost: a\r\n" + head + b"\r\n\r\n" + body + GET % b"bytes")


@pytest.mark.parametrize("version", [b"1.0\r\nConnection: keep-alive", b"0.9", b"9.9"])
def test_only_one_version_has_chunks(connect: Connect, version: bytes) -> None:
    chunks = b"\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    assert_refused(connect(), b"POST / HTTP/" + version + chunks + GET % b"bytes")


@pytest.mark.parametrize("begin", [b"", b"1;", b"0\r\n"], ids=["size", "extension", "trailer"])
def test_what_stands_around_chunks_has_an_end(connect: Connect, begin: bytes) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert_refused(connect(), head + begin + b"0" * 3 * web.HEAD_BYTES)


def assert_refused(client: socket.socket, sent: bytes) -> None:
    """Assert that one reply comes, which is an error, and the end."""
    reply = b""
    with suppress(ConnectionResetError):
        client.sendall(sent)
        while piece := client.recv(1000):
            reply += piece
    assert reply[:10] in (b"HTTP/1.1 4", b"HTTP/1.0 4", b"HTTP/1.1 5")
    assert reply.count(b"HTTP/1.") == 1


def test_cookies_with_escapes_are_left_out() -> None:
    request = Request(Adjustments())
    request.received(b'GET / HTTP/1.1\r\nCookie: a=1; b="\\\\"; c=2; d="\\101"; e=3\r\n\r\n')
    assert not request.error
    assert parse_cookie(request.headers["COOKIE"]) == {"a": "1", "c": "2", "e": "3"}


@pytest.mark.parametrize("behind", [b"\r\n" * 1000, GET % b"" * 1000, b"\0" * 1000])
def test_what_comes_behind_no_request_is_thrown_away(connect: Connect, behind: bytes) -> None:
    client = connect()
    client.sendall(b"\r\n\r\n" + behind)
    reply = b""
    with suppress(ConnectionResetError):
        while piece := client.recv(1000):
            reply += piece
    assert reply.startswith(b"HTTP/1.0 400")
    assert reply.count(b"HTTP/1.") == 1


@pytest.mark.parametrize(
    "line", [b"GET http://[::1/ HTTP/1.1", b"GET /\xff HTTP/1.1", b"no request", b"\x16\x03\x01"]
)
def test_a_refused_request_has_no_id_of_the_one_before(
    monkeypatch: pytest.MonkeyPatch, connect: Connect, line: bytes
) -> None:
    ids: list[object] = []
    monkeypatch.setattr(
        web.Connection.error_task_class, "start", lambda task: ids.append(current_request()), raising=True
    )
    client = connect()
    client.sendall(HEAD % 0)
    read(client, said_of(b""))
    client.sendall(line + b"\r\n\r\n")
    assert client.recv(1000)[8:12] == b" 400"
    assert ids == [""]


def test_a_client_cannot_say_where_the_arena_is(connect: Connect) -> None:
    client = connect()
    client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nSCRIPT_NAME: /b\r\nScript-Name: /b\r\n\r\n")
    reply = client.recv(1000)
    assert reply.endswith(said_of(b""))
    assert b"Server:" not in reply


def test_who_sends_many_requests_leaves_threads_to_others(
    server: WebServer, connect: Connect, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server.waiting, "_most", 1)
    many = [connect() for _ in range(5)]
    for each in many:
        each.sendall(GET % b"wait")
    time.sleep(0.2)
    other = connect("127.0.0.2")
    other.sendall(GET % b"")
    read(other, said_of(b""))
    application.go_on.set()
    for each in many:
        read(each, said_of(b""))


def test_clients_take_turns() -> None:
    queue = FairQueue(4, threading.Lock())
    sent = [SimpleNamespace(client=client, number=number) for number, client in enumerate("aaaabba")]
    for each in sent:
        queue.append(each)
    taken = [queue.popleft().number for _ in range(4)]
    assert taken == [0, 4, 1, 5], "two of each at most"
    assert len(queue) == 0
    queue.end("a")
    assert len(queue) == 1
    assert queue.popleft().number == 2


@pytest.mark.parametrize("trusted", [0, 1])
def test_who_opens_many_keeps_nobody_else_out(
    monkeypatch: pytest.MonkeyPatch, settings: Any, connect: Connect, trusted: int
) -> None:
    monkeypatch.setattr(web, "MOST_CONNECTIONS", 6)
    monkeypatch.setattr(web, "TAKEN", 1)
    settings.TRUSTED_PROXIES = trusted

    def ask(client: socket.socket, number: int) -> None:
        forwarded = b"X-Forwarded-For: 203.0.113.%d\r\n" % number if trusted else b""
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n" + forwarded + b"\r\n")
        read(client, said_of(b""))

    sources = ("127.0.0.1", "127.0.0.1") if trusted else ("127.0.0.1", "127.0.0.2")
    others = [connect(sources[0]) for _ in range(2)]
    for each in others:
        ask(each, 1)
    many = [connect(sources[1]) for _ in range(4)]
    for each in many:
        ask(each, 2)
    for _ in range(4):
        many.append(connect(sources[1]))
        ask(many[-1], 2)
    for each in others:
        ask(each, 1)
    for each in many[:4]:
        read_to_the_end(each)
    ask(many[-1], 2)


def test_what_would_fill_the_disk_is_cut_off(monkeypatch: pytest.MonkeyPatch, connect: Connect) -> None:
    monkeypatch.setattr(web, "DISK_BYTES", 100_000)
    small, large = connect(), connect()
    small.sendall(SLOW["body"])
    with suppress(OSError):
        large.sendall(HEAD % 1_000_000 + b"x" * 150_000)
    read_to_the_end(large)
    small.sendall(b"3456789")
    read(small, said_of(b"123456789"))


def test_patience_begins_anew_with_enough_bytes() -> None:
    sent = Connection.__new__(Connection)
    sent.adj = Adjustments()
    sent.request, sent.requests, sent.last_activity = Request(sent.adj), [], 0
    late = []
    for now, moved in ((0, 9_000), (10, 18_000), (19, 27_000), (30, 36_000), (38, 45_000), (60, 46_000)):
        sent._moved = moved
        late.append(sent.is_too_slow(now))
    assert late == [False, False, False, False, False, True]
    sent.request = None
    assert [sent.is_too_slow(now) for now in (10, 40)] == [False, True], "a connection that is idle"
    sent.requests = [SimpleNamespace()]
    assert not sent.is_too_slow(1_000), "a request that is worked on"


def test_what_is_in_flight_gets_its_reply_at_the_end(
    server: WebServer, connect: Connect, application: Application
) -> None:
    at_work, unfinished = connect(), connect()
    unfinished.sendall(SLOW["body"])
    at_work.sendall(GET % b"wait")
    time.sleep(0.2)
    server.leave()
    read_to_the_end(unfinished)
    application.go_on.set()
    read(at_work, said_of(b""))
