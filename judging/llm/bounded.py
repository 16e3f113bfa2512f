"""Reading no more of a reply than a reply can have: neither for ever nor into all of the memory."""

import time
from collections.abc import Iterator

import httpx2

LONGEST_BODY = 8 * 2**20
"""Bytes of a body that are read; the longest replies of language models have less than a tenth of it."""

LONGEST_PACKED_BODY = LONGEST_BODY // 64
"""The same for a compressed body, which grows up to a thousand times when it is unpacked."""


class BodyTooLongError(Exception):
    """The endpoint sent more than a reply can have."""


def bound(response: httpx2.Response) -> None:
    """A response hook of httpx: its body is cut off where it gets too long or takes too long.

    The timeout of a request counts from one piece of the body to the next; here it is that of the whole body.
    """
    limit = LONGEST_PACKED_BODY if "content-encoding" in response.headers else LONGEST_BODY
    seconds = response.request.extensions.get("timeout", {}).get("read")
    assert isinstance(response.stream, httpx2.SyncByteStream)  # noqa: S101 - of a client that is not async
    response.stream = _BoundedStream(response.stream, limit, seconds)


class _BoundedStream(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream, limit: int, seconds: float | None) -> None:
        self._stream, self._limit, self._seconds = stream, limit, seconds

    def __iter__(self) -> Iterator[bytes]:
        started, size = time.monotonic(), 0
        for piece in self._stream:
            size += len(piece)
            if size > self._limit:
                raise BodyTooLongError(f"the reply is longer than {self._limit:,} bytes")
            if self._seconds is not None and time.monotonic() - started > self._seconds:
                raise httpx2.ReadTimeout("the body took too long")
            yield piece

    def close(self) -> None:
        self._stream.close()
