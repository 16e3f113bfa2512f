"""The worker of the web server: a request gets a thread when it has arrived as a whole.

gunicorn's own gives it one as soon as its first byte is there: as many clients as there are threads, each
sending a byte now and then, would keep everybody waiting. Here threads take what is there, and connections go
back to the loop that waits for more, as gunicorn lets those go back that have sent nothing. This leans on how
its loop works; look at it at an upgrade.
"""

import re
import socket
import sys
import time
from concurrent.futures import Future
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from gunicorn.http import RequestParser
from gunicorn.http.unreader import Unreader
from gunicorn.workers.gthread import _DEFER, ThreadWorker
from structlog.contextvars import clear_contextvars

PATIENCE_SECONDS = 20  # for each LEAST_BYTES of a request, and for a reader to take a piece of the reply
LEAST_BYTES = 20_000
LOOK_SECONDS = 1
GOODBYE_SECONDS = 2  # that a client has to take the end of a reply and close its side
HEAD_BYTES = 64 * 1024
MEMORY_BYTES = 64 * 1024  # of one request; what is longer waits on the disk
DISK_BYTES = 2 * 1024**3  # of all that have not arrived as a whole
_PIECE_BYTES = 64 * 1024
_LENGTH = re.compile(rb"\r\ncontent-length[ \t]*:[ \t]*(\d+)[ \t]*(?:\r|$)", re.IGNORECASE)
_LONGEST_LENGTH = 18  # digits; of a longer one as many are read, as nobody sends so much
_ASKS_FIRST = re.compile(rb"\r\nexpect[ \t]*:[ \t]*100-continue", re.IGNORECASE)


class Received(Unreader):  # type: ignore[misc]
    """What a connection has sent of a request; gunicorn's parser reads it, and never waits for more.

    The parser judges what was sent; here is only decided when it may begin. Bodies in chunks are not waited
    for: Django takes them for empty.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_left = False
        self._begin()

    def _begin(self) -> None:
        """The next request, whose beginning may have come behind the one before it."""
        self._head = bytearray()
        self._body: IO[bytes] | None = None
        self._missing: int | None = None  # bytes; unknown until the head has ended
        self.size = 0
        self._be_patient()
        if behind := self.take_buffered():
            self._add(behind)

    def leave(self) -> None:
        """What comes from now on is thrown away, and never whole."""
        self._begin()
        self.is_left = True
        self._missing = self._due = sys.maxsize
        self.deadline = time.monotonic() + GOODBYE_SECONDS

    @property
    def is_whole(self) -> bool:
        return self._missing == 0

    def read_from(self, client: socket.socket) -> None:
        """Read what is missing. Raises BlockingIOError until it is there, EOFError if it never will be."""
        if self.is_whole:
            self._begin()
        while not self.is_whole:
            piece = client.recv(min(self._missing or _PIECE_BYTES, _PIECE_BYTES), socket.MSG_DONTWAIT)
            if not piece:
                raise EOFError
            was_head = self._missing is None
            self._add(piece)
            if was_head and self._missing and _ASKS_FIRST.search(self._head):
                client.send(b"HTTP/1.1 100 Continue\r\n\r\n", socket.MSG_DONTWAIT)

    def chunk(self, size_hint: int | None = None) -> bytes:
        if self._body is None:
            return b""
        piece = self._body.read(size_hint or _PIECE_BYTES)
        if self._body.tell() == self.size - len(self._head):
            self._body.close()
            self._body = None
        return piece

    def _be_patient(self) -> None:
        self.deadline = time.monotonic() + PATIENCE_SECONDS
        self._due = self.size + LEAST_BYTES

    def _add(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.size >= self._due:
            self._be_patient()
        if self._missing is None:
            self._head += piece
            self._missing = self._after_head(len(piece))
        else:
            self._missing -= len(piece)
            if self._body:
                self._body.write(piece)
        if self._missing == 0:
            self.unread(bytes(self._head))
            if self._body:
                self._body.seek(0)

    def _after_head(self, news: int) -> int | None:
        """How many bytes are missing if the head has ended."""
        end = self._head.find(b"\r\n\r\n", max(0, self.size - news - 3))
        if end < 0:
            return 0 if self.size > HEAD_BYTES else None
        length = _LENGTH.search(self._head, 0, end + 2)
        told = int(length[1].lstrip(b"0")[:_LONGEST_LENGTH] or 0) if length else 0
        missing = max(0, end + 4 + told - self.size)
        if missing:
            self._body = SpooledTemporaryFile(MEMORY_BYTES)  # noqa: SIM115 - closed with the connection
        return missing


class PatientWorker(ThreadWorker):  # type: ignore[misc]
    """Lends a thread to a connection only while something is there to read, and then for a whole request."""

    _looked = 0.0

    def handle(self, conn: Any) -> Any:
        if not conn.initialized:
            conn.parser = RequestParser(self.cfg, (), conn.client)
            conn.parser.unreader = Received()
            conn.initialized = True
        try:
            conn.parser.unreader.read_from(conn.sock)
        except BlockingIOError:
            return _DEFER
        except (OSError, EOFError):
            conn.close()
            return False
        clear_contextvars()  # a line about what gunicorn refuses has no id, not that of the request before
        return super().handle(conn)

    def finish_request(self, conn: Any, done: "Future[Any]") -> None:
        """Back in the loop, where gunicorn's own would wait, and everybody with it, until a client closes."""
        result = None if done.cancelled() or done.exception() else done.result()
        if result is _DEFER and not (self.alive and self._fits_the_disk(conn.parser.unreader)):
            self._close(conn)
        elif result is False:
            self._say_goodbye(conn)
        else:
            super().finish_request(conn, done)

    def murder_pending(self) -> None:
        """Close those that take too long, and at the end all that have not sent a whole request."""
        now = time.monotonic()
        if self.alive and now < self._looked + LOOK_SECONDS:
            return
        self._looked = now
        waits = [(conn, conn.parser.unreader) for conn in self.pending_conns]
        for conn in [conn for conn, sent in waits if sent.deadline < now or not (self.alive or sent.is_left)]:
            self.poller.unregister(conn.sock)
            self.pending_conns.remove(conn)
            self._close(conn)

    def _fits_the_disk(self, received: Received) -> bool:
        others = (conn.parser.unreader.size for conn in self.pending_conns)
        return received.size <= MEMORY_BYTES or received.size + sum(others) <= DISK_BYTES

    def _say_goodbye(self, conn: Any) -> None:
        try:
            conn.sock.shutdown(socket.SHUT_WR)
        except OSError:  # it has closed
            self._close(conn)
            return
        conn.parser.unreader.leave()
        self.enqueue_req(conn)

    def _close(self, conn: Any) -> None:
        self.nr_conns -= 1
        conn.close()
