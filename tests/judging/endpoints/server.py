"""A loopback Chat Completions server that answers as told, also badly. Run it by itself with --port."""

import argparse
import itertools
import json
import random
import socket
import struct
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.waiting import eventually

RESET = struct.pack("ii", 1, 0)
"""A socket that lingers for no time is closed with a reset."""


@dataclass(frozen=True)
class Answer:
    """One HTTP reply: a chat completion by default, raw bytes where ``raw`` is given."""

    content: str | None = "5\nBoth are fine."
    finish_reason: str = "stop"
    refusal: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    delay: float = 0.0
    cut: bool = False  # closes the connection half-way through the body
    reset: bool = False  # the same with a TCP reset
    close: bool = False  # drops the connection after an answer that promised to keep it
    endless: float | None = None  # goes on after the body, a piece after every so many seconds
    model: str = "loopback-1"
    tokens: tuple[int, int] = (100, 10)  # of prompt and reply, as the endpoint counts them

    def body(self) -> bytes:
        if self.raw is not None:
            return self.raw
        message = {"role": "assistant", "content": self.content, "refusal": self.refusal}
        return json.dumps(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": self.model,
                "choices": [{"index": 0, "finish_reason": self.finish_reason, "message": message}],
                "usage": {
                    "prompt_tokens": self.tokens[0],
                    "completion_tokens": self.tokens[1],
                    "total_tokens": sum(self.tokens),
                },
            }
        ).encode()


@dataclass(frozen=True)
class Streamed(Answer):
    """An answer that comes in pieces. ``cut`` and ``reset`` end it after half of them, ``hang`` after all.

    With ``raw`` its lines are the events as they are.
    """

    pieces: Sequence[str] = ("Both are ", "fine.")
    pause: float = 0.0  # seconds between two
    hang: float = 0.0  # seconds without a word before the end
    end: str = "stop"  # the reason of its end, "" for none
    done: bool = True  # ends with [DONE]
    usage: bool = True
    packed: bool = False

    def parts(self) -> Iterator[bytes]:
        """What is sent, with the pauses in between."""
        packing = zlib.compressobj(wbits=31)
        parts = list(self._events())
        for number, part in enumerate(parts[: len(parts) // 2] if self.cut or self.reset else parts):
            time.sleep(self.pause if number else 0.0)
            yield packing.compress(part) + packing.flush(zlib.Z_SYNC_FLUSH) if self.packed else part
        time.sleep(self.hang)
        if self.packed:
            yield packing.flush()

    def _events(self) -> Iterator[bytes]:
        if self.raw is not None:
            yield from self.raw.splitlines(keepends=True)
            return
        yield _event({"role": "assistant", "content": ""})
        yield from (_event({"content": piece}) for piece in self.pieces)
        yield _event({}, self.end or None)
        if self.usage:
            prompt, reply = self.tokens
            counted = {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply}
            yield f"data: {json.dumps({'choices': [], 'usage': counted})}\n\n".encode()
        if self.done:
            yield b"data: [DONE]\n\n"


def _event(delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    chunk = {"object": "chat.completion.chunk", "model": "loopback-1", "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


Script = Callable[[dict[str, Any]], Answer]
"""The request's body to the answer."""


def text_of(body: dict[str, Any]) -> str:
    """The last message of a request: what a test recognises an assignment by."""
    return str(body["messages"][-1]["content"])


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # of connections that are made at the same moment


class ChatServer:
    """Serves on a free port of 127.0.0.1 in threads; counts and remembers what it was asked."""

    def __init__(self, script: Script | None = None, port: int = 0) -> None:
        self.script: Script = script or (lambda body: Answer())
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []  # of each request, in seconds since 1970
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def answered(self) -> Counter[str]:
        """How often each text was asked about."""
        with self._lock:
            return Counter(text_of(body) for body in self.requests)

    def wait_for(self, requests: int, patience: float = 300.0) -> None:
        """Until so many requests have come."""
        eventually(lambda: len(self.requests) >= requests, patience)

    def log(self) -> list[tuple[float, str]]:
        """When each text was asked about, in seconds since 1970."""
        with self._lock:
            return [(at, text_of(body)) for at, body in zip(self.times, self.requests, strict=True)]

    def start(self) -> "ChatServer":
        self._thread.start()
        return self

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> "ChatServer":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer._lock:
                    outer.requests.append(body)
                    outer.headers.append(dict(self.headers))
                    outer.times.append(time.time())
                answer = outer.script(body)
                time.sleep(answer.delay)
                if isinstance(answer, Streamed):
                    self.stream(answer)
                else:
                    self.answer(answer)

            def stream(self, answer: Streamed) -> None:
                headers = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}
                headers |= {"Content-Encoding": "gzip"} if answer.packed else {}
                head = [f"HTTP/1.1 {answer.status} X"]
                head += [f"{name}: {value}" for name, value in {**headers, **answer.headers}.items()]
                self.close_connection |= answer.cut or answer.reset or answer.close
                with suppress(OSError):  # the client has heard enough, or was killed
                    self.wfile.write("\r\n".join(head).encode() + b"\r\n\r\n")
                    for part in answer.parts():
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part) if part else b"")
                    if not (answer.cut or answer.reset):
                        self.wfile.write(b"0\r\n\r\n")
                    return
                self.close_connection = True

            def answer(self, answer: Answer) -> None:
                payload = answer.body()
                length = len(payload) if answer.endless is None else 2**40
                head = [f"HTTP/1.1 {answer.status} X", f"Content-Length: {length}"]
                headers = {"Content-Type": "application/json", **answer.headers}
                head += [f"{name}: {value}" for name, value in headers.items()]
                if answer.cut or answer.reset:
                    payload = payload[: len(payload) // 2]
                self.close_connection |= answer.cut or answer.reset or answer.close
                try:
                    self.wfile.write("\r\n".join(head).encode() + b"\r\n\r\n" + payload)
                    while answer.endless is not None:
                        self.wfile.write(b" " * 65536)
                        time.sleep(answer.endless)
                except OSError:
                    self.close_connection = True  # the client has given up or was killed
                if answer.reset:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)

            def log_message(self, *_: object) -> None:
                pass

            def handle(self) -> None:
                with suppress(ConnectionError):  # a client that was killed resets its connections
                    super().handle()

        return Handler


def mixed(seed: int, delay: float = 0.0, permanent: float = 0.0, good: Script | None = None) -> Script:
    """A server on a bad day: of every hundred requests about 80 are answered well, the rest in every bad way.

    What fails for good is chosen by the text asked about, so that it fails at every attempt. ``good`` answers
    well; without it a rating does.
    """
    rng = random.Random(seed)
    lock = threading.Lock()
    bad = [
        Answer(status=429, headers={"Retry-After": "0"}, raw=b'{"error": {"message": "slow down"}}'),
        Answer(status=500, raw=b'{"error": {"message": "oops"}}'),
        Answer(raw=b"<html>Bad gateway</html>", headers={"Content-Type": "text/html"}),
        Answer(raw=b'{"choices": ['),
        Answer(raw=b'{"choices": []}'),
        Answer(cut=True),
        Answer(content=""),
        Answer(content=None, finish_reason="length"),
        Answer(content="I'm sorry, but I can't compare these."),
        Answer(content="9\nBeyond the scale."),
        Answer(content="Assistant 2 is better"),
    ]

    def script(body: dict[str, Any]) -> Answer:
        with lock:
            luck, rating, which = rng.random(), rng.randint(1, 8), rng.choice(bad)
        if permanent and random.Random(text_of(body)).random() < permanent:
            return Answer(status=400, raw=b'{"error": {"message": "never"}}', delay=delay)
        if luck < 0.8:
            answer = good(body) if good else Answer(content=f"{rating}\nBecause.")
            return replace(answer, delay=delay)
        return which

    return script


def counting(delay: float = 0.0, unclear: int = 0, refused: int = 0) -> Script:
    """A server whose every so many-th answer says nothing clear, or is HTTP 400; a token is four bytes."""
    number = itertools.count(1)

    def script(body: dict[str, Any]) -> Answer:
        this = next(number)
        if refused and this % refused == 0:
            return Answer(status=400, raw=b'{"error": {"message": "never"}}', delay=delay)
        rating = random.Random(text_of(body)).randint(1, 8)
        content = f"{rating}\nBoth answers were read, and this is why one of them is better."
        if unclear and this % unclear == 0:
            content = "Both answers have their merits."
        asked = sum(len(message["content"].encode()) for message in body["messages"])
        return Answer(content, tokens=(asked // 4, len(content) // 4), delay=delay)

    return script


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8139)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds before each good answer")
    parser.add_argument("--bad-day", action="store_true", help="answer badly every now and then")
    parser.add_argument("--unclear", type=int, default=0, metavar="N", help="no verdict in every N-th answer")
    parser.add_argument("--refused", type=int, default=0, metavar="N", help="HTTP 400 for every N-th request")
    given = parser.parse_args()
    script = mixed(0, given.delay) if given.bad_day else counting(given.delay, given.unclear, given.refused)
    server = ChatServer(script, given.port).start()
    print(f"Chat completions on {server.url}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
