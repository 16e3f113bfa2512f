"""Requests that arrive in pieces, slowly or never: nobody else waits for them."""

import hashlib
import os
import selectors
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from http.client import HTTPConnection
from itertools import pairwise
from typing import Any

import pytest
from gunicorn import util
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.http import RequestParser
from hypothesis import example, given
from hypothesis import strategies as st

from arena.monitoring.logs import begin_request, current_request
from arena.process import receiving
from arena.process.receiving import PatientWorker, Received

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
SLOW = (b"POST / HT", HEAD % 9 + b"12")


def said_of(body: bytes) -> bytes:
    return f"{len(body)} {hashlib.sha256(body).hexdigest()}".encode()


def read(client: socket.socket, said: bytes) -> None:
    """Read until it was said."""
    heard = b""
    while said not in heard:
        piece = client.recv(1000)
        assert piece, heard
        heard += piece


def answer(environ: dict[str, Any], start: Callable[..., object]) -> list[bytes]:
    begin_request("")
    said = said_of(environ["wsgi.input"].read())
    start("200 OK", [("Content-Length", str(len(said)))])
    return [said]


@pytest.fixture
def port() -> Iterator[int]:
    """A worker with two threads, in a thread."""
    settings = Config()
    settings.set("threads", 2)
    settings.set("graceful_timeout", 0)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as gunicorn's listeners
        worker = PatientWorker(0, os.getppid(), [listener], None, 30, settings, Logger(settings))
        worker.wsgi, worker.tpool = answer, worker.get_thread_pool()
        worker.poller = selectors.DefaultSelector()
        worker.method_queue.init()
        running = threading.Thread(target=worker.run)
        running.start()
        yield listener.getsockname()[1]
        worker.handle_exit(None, None)
        running.join()


Connect = Callable[[], socket.socket]


@pytest.fixture
def connect(port: int) -> Iterator[Connect]:
    with ExitStack() as stack:
        yield lambda: stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))


def test_fifty_slow_senders_keep_nobody_waiting(port: int, connect: Connect) -> None:
    slow = [connect() for _ in range(50)]
    for number, sender in enumerate(slow):
        sender.sendall(SLOW[number % 2])
    client = HTTPConnection("127.0.0.1", port, timeout=10)
    for body in (b"", b"one", b"x" * 300_000):
        client.request("POST", "/", body)
        assert client.getresponse().read() == said_of(body)
    client.close()
    slow[-1].sendall(b"3456789")
    read(slow[-1], said_of(b"123456789"))


def test_nobody_waits_until_a_client_closes_after_the_reply(
    monkeypatch: pytest.MonkeyPatch, connect: Connect
) -> None:
    waits: list[socket.socket] = []
    monkeypatch.setattr(util, "close_graceful", waits.append)
    client = connect()
    client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    read(client, said_of(b""))
    assert client.recv(1000) == b""
    assert not waits


def test_two_requests_at_once_are_both_answered(connect: Connect) -> None:
    client = connect()
    client.sendall(HEAD % 3 + b"one" + HEAD % 3 + b"tw")
    read(client, said_of(b"one"))
    client.sendall(b"o")
    read(client, said_of(b"two"))


def test_a_refused_request_has_no_id_of_the_one_before(
    monkeypatch: pytest.MonkeyPatch, connect: Connect
) -> None:
    ids: list[object] = []
    monkeypatch.setattr(PatientWorker, "handle_error", lambda *_: ids.append(current_request()))
    client = connect()
    client.sendall(HEAD % 0)
    read(client, said_of(b""))
    client.sendall(b"no request\r\n\r\n")
    assert client.recv(1000) == b""
    assert ids == [""]


def test_who_asks_first_is_told_to_go_on(connect: Connect) -> None:
    client = connect()
    client.sendall((HEAD % 3).replace(b"Host", b"Expect: 100-continue\r\nHost"))
    assert client.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.sendall(b"one")
    read(client, said_of(b"one"))


def test_too_slow_a_request_is_cut_off(monkeypatch: pytest.MonkeyPatch, connect: Connect) -> None:
    monkeypatch.setattr(receiving, "PATIENCE_SECONDS", -1)
    monkeypatch.setattr(receiving, "LOOK_SECONDS", 0)
    client = connect()
    client.sendall(SLOW[1])
    connect().sendall(SLOW[1])
    assert client.recv(1000) == b""


def test_what_would_fill_the_disk_is_cut_off(monkeypatch: pytest.MonkeyPatch, connect: Connect) -> None:
    monkeypatch.setattr(receiving, "DISK_BYTES", 100_000)
    small, large = connect(), connect()
    small.sendall(SLOW[1])
    large.sendall(HEAD % 1_000_000 + b"x" * 150_000)
    with suppress(ConnectionResetError):
        assert large.recv(1000) == b""
    small.sendall(b"3456789")
    read(small, said_of(b"123456789"))


def test_patience_begins_anew_with_enough_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(receiving.time, "monotonic", lambda: now)
    reader, line = socket.socketpair()
    with reader, line:
        received = Received()
        line.sendall(HEAD % 1_000_000)
        deadlines = []
        for _ in range(6):
            now += 10
            line.sendall(b"x" * 9_000)
            with pytest.raises(BlockingIOError):
                received.read_from(reader)
            deadlines.append(received.deadline)
    assert deadlines == [20, 20, 50, 50, 50, 80]


@example([len(HEAD) + 29], b"one", 30)  # the head alone
@given(st.lists(st.integers(0, 200), max_size=6), st.binary(max_size=60), st.sampled_from([0, 1, 30]))
def test_pieces_make_the_same_request(cuts: list[int], body: bytes, zeros: int) -> None:
    """However its length is written: a body that is taken for none would be the next request."""
    sent = HEAD.replace(b"%d", b"0" * zeros + b"%d") % len(body) + body
    places = sorted({0, len(sent), *(each for each in cuts if each < len(sent))})
    received = Received()
    parser = RequestParser(Config(), (), ("127.0.0.1", 1))
    parser.unreader = received
    reader, line = socket.socketpair()
    with reader, line:
        for begin, end in pairwise(places):
            assert not received.is_whole
            line.sendall(sent[begin:end])
            with suppress(BlockingIOError):
                received.read_from(reader)
    assert received.is_whole
    assert next(parser).body.read() == body
