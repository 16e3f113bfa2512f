"""The web server of one process: waitress, with a least rate for clients and a fair share of connections.

waitress gives a request a thread when it has arrived as a whole, takes replies off the threads, and keeps
what is long on the disk. Here stands only how long it waits for a client, and who has to go when it is full.
"""

import os
import threading
import time
from collections import Counter, defaultdict, deque
from typing import Any, Final

from django.conf import settings
from structlog.contextvars import clear_contextvars
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher
from waitress.utilities import BadRequest
from waitress.wasyncore import loop

from arena.process.addresses import address_of

PATIENCE_SECONDS: Final = 20
"""For each LEAST_BYTES of a request or a reply."""

LEAST_BYTES: Final = 20_000
KEEP_ALIVE_SECONDS: Final = 30
MOST_CONNECTIONS: Final = 1_000
BACKLOG: Final = 4096
"""Connections that wait to be taken; of more the system drops some, and they wait for seconds."""

TAKEN: Final = 16
"""Connections that are taken at once: between two, all others are looked at."""

LEFT_TO_OTHERS: Final = 2
"""Threads of a process that no single client has."""

HEAD_BYTES: Final = 32 * 1024
MEMORY_BYTES: Final = 128 * 1024
"""Bytes of one request or reply in memory; what is longer waits on the disk."""

DISK_BYTES: Final = 2 * 1024**3
"""Bytes of all requests and replies that are on their way."""

_PIECE_BYTES: Final = 64 * 1024
_RECEIVED_BYTES: Final = 16 * 1024
"""At a time: more of chunks of a byte would keep others waiting while they are parsed."""

_LOOK_SECONDS: Final = 1


class Request(HTTPRequestParser):  # type: ignore[misc]
    """Ends its connection, with all that comes behind it, if it is none."""

    empty: bool = False

    def received(self, data: bytes) -> int:
        consumed: int = super().received(data)
        if self.empty:  # else blank lines alone would keep the loop busy
            self.empty = False
            self.error = BadRequest("There is no request")
        if self.chunked and len(self.body_rcv.control_line) + len(self.body_rcv.trailer) > HEAD_BYTES:
            self.error = BadRequest("What stands around the chunks is too long")
            self.completed = True
        return len(data) if self.error else consumed

    def parse_header(self, header_plus: bytes) -> None:
        try:
            super().parse_header(header_plus)
        except ValueError as error:  # of a length with thousands of digits, or an address that is none
            raise ParsingError("A length or an address is invalid") from error
        # A proxy may have read the other length, or none. HTTP/1.1 alone takes its header away.
        if "TRANSFER_ENCODING" in self.headers or (self.chunked and "CONTENT_LENGTH" in self.headers):
            raise ParsingError("The length is said in two ways, or in one of another version")
        if "\\" in (cookies := self.headers.get("COOKIE", "")):
            # None of ours has one, and Python before 3.11.10 takes seconds for those with many.
            self.headers["COOKIE"] = ";".join(each for each in cookies.split(";") if "\\" not in each)


class Connection(HTTPChannel):  # type: ignore[misc]
    """Ends if its client sends or reads too slowly."""

    parser_class = Request
    _moved = 0
    _due = 0
    _deadline = 0.0
    _latest: Any = None
    counted_for = ""
    """The client of the request at work."""

    def __init__(self, server: "WebServer", *args: Any, **kwargs: Any) -> None:
        super().__init__(server, *args, **kwargs)
        self.sendbuf_len = _PIECE_BYTES  # read from the disk at a time, however much the system would take

    @property
    def client(self) -> str:
        """The address that the request at hand comes from, behind any proxies."""
        request = self.request or next(iter(self.requests), self._latest)
        return address_of(self.addr[0], request.headers.get("X_FORWARDED_FOR", "") if request else "")

    @property
    def waiting_bytes(self) -> int:
        arrived = self.request.body_bytes_received if self.request else 0
        return int(arrived + self.total_outbufs_len)

    @property
    def _is_growing(self) -> bool:
        """Tell whether a thread is at work on a reply of which there is too little to send."""
        return bool(self.requests) and self.total_outbufs_len < self.adj.send_bytes

    def writable(self) -> bool:
        return not self._is_growing and bool(super().writable())  # else the loop would never rest

    def is_too_slow(self, now: float) -> bool:
        """To be asked every second."""
        if not self.request and (self._is_growing or not self.total_outbufs_len):
            self._due = 0
            return not self.requests and self.last_activity + KEEP_ALIVE_SECONDS < now
        if self._moved >= self._due:
            self._due, self._deadline = self._moved + LEAST_BYTES, now + PATIENCE_SECONDS
        return self._deadline < now

    def recv(self, size: int) -> bytes:
        piece: bytes = super().recv(size)
        self._moved += len(piece)
        return piece

    def send(self, piece: bytes, do_close: bool = True) -> int:
        sent: int = super().send(piece, do_close)
        self._moved += sent
        return sent

    def service(self) -> None:
        clear_contextvars()  # a line about what waitress refuses has no id, not that of the request before
        self._latest, client = self.requests[0], self.counted_for
        try:
            super().service()
        finally:
            self.server.waiting.end(client)


class FairQueue:
    """Connections with a request that wait for a thread, in turns by client.

    A client has all threads but LEFT_TO_OTHERS, however many it sends. The length is the number of clients
    whose next request may begin. Used with the lock of the threads, but for ``end``.
    """

    def __init__(self, threads: int, lock: threading.Lock) -> None:
        self._most = max(1, threads - LEFT_TO_OTHERS)
        self._lock = lock
        self._waiting: dict[str, deque[Connection]] = {}
        self._running: Counter[str] = Counter()

    def __len__(self) -> int:
        return sum(self._running[client] < self._most for client in self._waiting)

    def append(self, connection: Connection) -> None:
        self._waiting.setdefault(connection.client, deque()).append(connection)

    def popleft(self) -> Connection:
        client = next(each for each in self._waiting if self._running[each] < self._most)
        connections = self._waiting.pop(client)
        first = connections.popleft()
        if connections:
            self._waiting[client] = connections  # behind all others
        self._running[client] += 1
        first.counted_for = client
        return first

    def end(self, client: str) -> None:
        """The thread that calls this looks for its next request itself, so no other need be told."""
        with self._lock:
            self._running[client] -= 1
            if not self._running[client]:
                del self._running[client]


class WebServer(TcpWSGIServer):  # type: ignore[misc]
    """Serves an application on a listening socket until it is told to leave."""

    channel_class = Connection
    is_leaving = False
    _looked = 0.0

    def __init__(self, application: Any, listener: Any) -> None:
        self._parent = os.getppid()
        adjustments = Adjustments(
            ident=None,
            asyncore_use_poll=True,
            backlog=BACKLOG,
            recv_bytes=_RECEIVED_BYTES,
            max_request_header_size=HEAD_BYTES,
            inbuf_overflow=MEMORY_BYTES,
            outbuf_overflow=MEMORY_BYTES,
            outbuf_high_watermark=DISK_BYTES,  # beyond it a thread would wait for its reader
            connection_limit=MOST_CONNECTIONS + 100,  # never reached: somebody goes where more come
            clear_untrusted_proxy_headers=False,  # TRUSTED_PROXIES says which are believed
            log_socket_errors=False,
        )
        adjustments.send_bytes = _PIECE_BYTES  # a page in one piece: a third more of them in a second
        dispatcher = ThreadedTaskDispatcher()
        self.waiting = dispatcher.queue = FairQueue(settings.WEB_THREADS, dispatcher.lock)
        dispatcher.set_thread_count(settings.WEB_THREADS)
        super().__init__(
            application, _sock=listener, bind_socket=False, dispatcher=dispatcher, adj=adjustments
        )

    def leave(self) -> None:
        """Make run() return; may be called by a handler of signals."""
        self.is_leaving = True
        self.pull_trigger()

    def run(self, leave_seconds: float) -> None:
        """Serve until told to leave; what is in flight has so many seconds then."""
        while not self.is_leaving:
            self._wait(_LOOK_SECONDS)
            self._end_connections()
        self.accepting = False
        until = time.monotonic() + leave_seconds
        while self._close_idle() and time.monotonic() < until:
            self._wait(0.05)

    def maintenance(self, now: float) -> None:
        """Nothing: within a round of the loop a new connection might get the number of one that is closed."""

    def handle_accept(self) -> None:
        for _ in range(TAKEN):
            before = len(self.active_channels)
            super().handle_accept()
            if len(self.active_channels) == before:
                return

    def _end_connections(self) -> None:
        """End those that are too many or too slow, and of those that would fill the disk the largest."""
        if (over := len(self.active_channels) - MOST_CONNECTIONS) > 0:
            self._make_room(over)
        now = time.time()
        if now < self._looked + _LOOK_SECONDS:
            return
        self._looked = now
        if os.getppid() != self._parent:
            self.leave()
        for each in list(self.active_channels.values()):
            if each.is_too_slow(now):
                each.handle_close()
        if sum(each.waiting_bytes for each in self.active_channels.values()) > DISK_BYTES:
            max(self.active_channels.values(), key=lambda each: each.waiting_bytes).handle_close()

    def _make_room(self, number: int) -> None:
        """Close connections of the client with the most: who opens many keeps nobody else out."""
        by_client: dict[str, list[Connection]] = defaultdict(list)
        for each in self.active_channels.values():
            by_client[each.client].append(each)
        most = max(by_client.values(), key=len)
        for each in sorted(most, key=lambda each: (bool(each.requests), each.last_activity))[:number]:
            each.handle_close()

    def _wait(self, seconds: float) -> None:
        loop(timeout=seconds, use_poll=True, map=self._map, count=1)

    def _close_idle(self) -> bool:
        """Close the connections without work or reply; returns whether others are left."""
        for each in list(self.active_channels.values()):
            if not (each.requests or each.total_outbufs_len):
                each.handle_close()
        return bool(self.active_channels)
