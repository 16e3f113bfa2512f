"""Reading an answer while a model writes it, from the events of a stream. Pure.

What is read here is only shown early. The reply that counts is read from the whole body, as any other.
"""

import codecs
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from judging.endpoints.client import NoReplyError
from judging.endpoints.completions import piece_of

Take = Callable[[str], None]
"""Gets each piece of an answer as it comes; raises StoppedError to end the request."""

WAYS: Final[tuple[dict[str, Any], ...]] = (
    {"stream": True, "stream_options": {"include_usage": True}},
    {"stream": True},
    {},
)
"""Fields with which a stream is asked for, each for endpoints that refuse the one before."""

LONGEST_LINE: Final = 2**20  # characters of a line that is kept while its end has not come
AT_ONCE: Final = 0.1
"""Seconds between two reads, in which words add up: nobody sees them sooner, and each read costs as much."""

BEGINS: Final = "deir:"
"""With what lines of a stream begin: data, event, id, retry, comments. A body of JSON begins otherwise."""


class StoppedError(Exception):
    """Nobody wants the rest of an answer."""


def is_refused(error: NoReplyError) -> bool:
    """Tell whether an endpoint refuses the way in which it was asked for a stream."""
    return error.kind in ("http_400", "http_422") and "stream" in str(error).lower()


class Taking:
    """Hands on the answer in a body that comes in pieces. ``hung``: seconds without any after which it ends.

    ``key`` is left out of the answer, also where it comes in several pieces.
    """

    def __init__(self, take: Take, key: str, hung: float) -> None:
        self._take, self._key, self._hung = take, key, hung
        self._events = Events()
        self._held = ""
        self._taken: list[str] = []

    def read(self, pieces: Iterable[bytes]) -> bytes:
        """The whole body, or what came of it before the end was told. Raises NoReplyError, StoppedError."""
        body: list[bytes] = []
        last = rested = time.monotonic()
        for piece in pieces:
            body.append(piece)
            if self._read(piece):
                last = time.monotonic()
            elif time.monotonic() - last > self._hung:  # blank lines and comments keep a connection open
                raise NoReplyError("timeout", f"nothing more of the answer within {self._hung:g} s")
            if self._events.is_over:
                break
            # So that words add up; the first ones wait for nothing, nor do pieces that are there already.
            if self._taken and time.monotonic() - rested > AT_ONCE:
                time.sleep(AT_ONCE)
                rested = time.monotonic()
        return b"".join(body)

    def _read(self, piece: bytes) -> bool:
        """Hand on what a piece of the body brings; False if it holds nothing at all."""
        before = self._events.count
        for said in self._events.read(piece):
            self._hand_on(said)
        return self._events.count > before

    def _hand_on(self, said: str) -> None:
        text = self._held + said
        if self._key:
            text = text.replace(self._key, "[key]")
            sizes = range(min(len(self._key), len(text)), 0, -1)
            kept = next((size for size in sizes if text.endswith(self._key[:size])), 0)
            text, self._held = text[: len(text) - kept], text[len(text) - kept :]
        if text:
            self._taken.append(text)
            self._take(text)

    def finish(self, text: str) -> None:
        """Hand on what of the whole answer has not been, such as an answer that came in one piece."""
        taken = "".join(self._taken)
        if text.startswith(taken) and (rest := text[len(taken) :]):
            self._taken.append(rest)
            self._take(rest)


class Events:
    """The lines of a stream. ``count``: the events so far; ``is_over`` once the stream says so."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._line = ""
        self._is_stream: bool | None = None
        self.count = 0
        self.is_over = False

    def read(self, piece: bytes) -> Iterator[str]:
        """The parts of the answer that a piece of the body completes. Raises NoReplyError."""
        if self._is_stream is False:
            self.count += 1
            return
        *lines, self._line = (self._line + self._decoder.decode(piece)).split("\n")
        if self._is_stream is None and (begun := "".join([*lines, self._line]).lstrip()):
            self._is_stream = begun[0] in BEGINS
        if len(self._line) > LONGEST_LINE:
            raise NoReplyError("malformed", f"a line is longer than {LONGEST_LINE:,} characters")
        for line in lines if self._is_stream else ():
            yield from self._said(line.strip())

    def _said(self, line: str) -> Iterator[str]:
        if not line.startswith("data:") or self.is_over:
            return
        self.count += 1
        data = line[len("data:") :].strip()
        self.is_over = data == "[DONE]"
        try:
            said = "" if self.is_over or not data else piece_of(data)
        except (ValueError, RecursionError):  # told once the whole body is read
            return
        if said:
            yield said
