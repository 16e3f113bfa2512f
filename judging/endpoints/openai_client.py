"""Any OpenAI-compatible endpoint, through the official client, with every reply checked.

Its own retries are off, since nobody would record them; its models of requests and replies are not used,
since they cost as much as all the rest and check nothing (decision 17).
"""

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2

from judging.endpoints import scoring
from judging.endpoints.client import NoReplyError, Reply, Request, storable
from judging.endpoints.completions import FilteredError, checked, failure, parsed
from judging.endpoints.keys import NO_KEY
from judging.endpoints.reaching import RefusedAddressError, check_address, http_client, within

if TYPE_CHECKING:
    from openai import OpenAI

Result = TypeVar("Result")

LONGEST_BODY = 8 * 2**20  # bytes of a body that are read, ten times the longest replies of language models
UNPACKED_AT_ONCE = 2**16  # bytes of a compressed body
PACKED = frozenset({"gzip", "x-gzip", "deflate"})
EITHER_HEADER = 47  # zlib's word for: gzip or deflate, by the first bytes

SENT_HEADERS = frozenset(
    {"host", "accept", "accept-encoding", "connection", "content-type", "content-length", "user-agent"}
)
"""Headers of a request, beside the key. The library would add others from the environment."""


class BodyTooLongError(Exception):
    """The endpoint sent more than a reply can have."""


def bound(response: httpx2.Response) -> None:
    """An httpx response hook that unpacks a body, and ends one that gets too long."""
    # Here, because the library unpacks whatever one read brings, a thousand times as much memory.
    assert isinstance(response.stream, httpx2.SyncByteStream)  # noqa: S101 - of a client that is not async
    response.stream = _BoundedStream(response.stream)
    encoding = response.headers.pop("content-encoding", "identity").strip().lower()
    if encoding in PACKED:
        response.stream = _BoundedStream(_UnpackedStream(response.stream))
    elif encoding not in ("", "identity"):
        raise httpx2.DecodingError(f"the reply is compressed in a way that was not asked for: {encoding}")


class _BoundedStream(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for piece in self._stream:
            size += len(piece)
            if size > LONGEST_BODY:
                raise BodyTooLongError(f"the reply is longer than {LONGEST_BODY:,} bytes")
            yield piece

    def close(self) -> None:
        self._stream.close()


class _UnpackedStream(httpx2.SyncByteStream):
    def __init__(self, stream: httpx2.SyncByteStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        unpacking = zlib.decompressobj(EITHER_HEADER)
        try:
            for piece in self._stream:
                left = piece
                while left:
                    yield unpacking.decompress(left, UNPACKED_AT_ONCE)
                    left = unpacking.unconsumed_tail
            yield unpacking.flush()
        except zlib.error as error:
            raise httpx2.DecodingError(f"the reply cannot be unpacked: {error}") from error
        if not unpacking.eof:
            raise httpx2.DecodingError("the reply ends before its compressed body does")

    def close(self) -> None:
        self._stream.close()


NO_LOGPROBS = (
    "This endpoint returns no logprobs for this model. Untick Ask for logprobs in the judge's settings, or "
    "probe the model that writes again."
)

TOP_LOGPROBS = 20
"""Alternatives per token that are asked for, OpenAI's maximum; options of a judge overrule it."""

LONGEST_ERROR = 500  # characters of an error message that are kept
LONGEST_HEADER = 100


class OpenAIClient:
    """Raises RefusedAddressError for an address that judges may not ask."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self._api_key = api_key
        self._client = connect(base_url, api_key)

    def ask(self, request: Request) -> Reply:
        try:
            reply = self._read("/chat/completions", body_of(request), request.timeout, checked)
        except FilteredError as error:
            return Reply("", "content_filter", "", refusal=str(error) or "content filter")
        return self._without_key(reply)

    def read(self, way: scoring.Way, wanted: scoring.ToRead) -> scoring.Read:
        """What the model says about the tokens of a text; raises NoReplyError. Never retries."""
        body = scoring.body_of(way, wanted)
        return self._read(scoring.path_of(way), body, wanted.timeout, partial(scoring.read_from, way, wanted))

    def _read(
        self, path: str, body: dict[str, Any], timeout: float, read: Callable[[object], Result]
    ) -> Result:
        """Return what a reply's JSON says; raises NoReplyError, whose words are cleaned."""
        try:
            response = self._post(path, body, timeout)
            return read(parsed(response.content, lambda: response.text))
        except NoReplyError as error:
            hint = self._address_hint() if _is_of_address(error) else ""
            error.args = (self._clean(f"{hint} {error}".strip()),)
            raise
        except (ValueError, RecursionError) as error:
            raise NoReplyError("malformed", f"the reply cannot be read: {self._clean(error)}") from error

    def _post(self, path: str, body: dict[str, Any], timeout: float) -> httpx2.Response:
        import openai  # takes over a second, and only workers ask

        try:
            with within(timeout):
                response: httpx2.Response = self._client.post(
                    path, body=body, cast_to=httpx2.Response, options={"timeout": timeout}
                )
                return response
        except openai.APITimeoutError as error:
            kind = "unreachable" if isinstance(error.__cause__, httpx2.ConnectTimeout) else "timeout"
            raise NoReplyError(kind, f"no reply within {timeout:g} s") from error
        except openai.APIStatusError as error:
            raise _status_error(error, asks_logprobs="logprobs" in body) from error
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            raise NoReplyError(_kind(cause), str(cause)) from error
        except RefusedAddressError as error:
            raise NoReplyError("configuration", str(error), retryable=False) from error
        except BodyTooLongError as error:
            raise NoReplyError("malformed", str(error)) from error
        except httpx2.HTTPError as error:
            raise NoReplyError("connection", str(error)) from error

    def _address_hint(self) -> str:
        """Return what may be wrong with the address, as a sentence; "" if it looks like one."""
        path = self._client.base_url.path.rstrip("/")
        if path.endswith(("/completions", "/responses", "/messages", "/chat")):
            return "The address must end before /chat/completions."
        if not re.search(r"/v\d", path):
            return "The address may lack /v1 at its end."
        return ""

    def _clean(self, error: BaseException | str) -> str:
        """The error in words, without the key, which endpoints like to repeat."""
        return redacted(storable(str(error))[:LONGEST_ERROR], self._api_key)[:LONGEST_ERROR]

    def _without_key(self, reply: Reply) -> Reply:
        if self._api_key == NO_KEY:
            return reply
        texts = {name: getattr(reply, name) for name in ("text", "refusal", "model", "finish_reason")}
        found = {name: text for name, text in texts.items() if self._api_key in text}
        return replace(reply, **{name: text.replace(self._api_key, "[key]") for name, text in found.items()})


PART_OF_KEY = 8  # so many characters of a key in a row are not shown either


def redacted(text: str, key: str) -> str:
    """The text without the key and longer parts of it."""
    if key == NO_KEY:
        return text
    size = min(PART_OF_KEY, len(key))
    shown, start = "", 0
    while start < len(text):
        end = start + size
        if text[start:end] not in key or end > len(text):
            shown, start = shown + text[start], start + 1
            continue
        while end < len(text) and text[start : end + 1] in key:
            end += 1
        shown, start = f"{shown}[key]", end
    return shown


def _status_error(error: Any, *, asks_logprobs: bool) -> NoReplyError:
    headers = error.response.headers
    milliseconds = headers.get("retry-after-ms", "")
    waits = f"{int(milliseconds) / 1000:g}" if milliseconds.isdecimal() else headers.get("retry-after", "")
    found = failure(error.status_code, error.body, waits[:LONGEST_HEADER])
    if asks_logprobs and error.status_code in (400, 422) and "logprob" in str(found).lower():
        found.args = (f"{NO_LOGPROBS} {found}",)
    return found


def _is_of_address(error: NoReplyError) -> bool:
    """Tell whether the address may be another one than that of the model."""
    if error.kind == "malformed":
        return "web page" in str(error)
    return error.kind in ("http_404", "http_405") and "model" not in str(error).lower()


def _kind(cause: BaseException) -> str:
    """ "unreachable" if nothing was sent, so nothing is charged."""
    if isinstance(cause, httpx2.ConnectError):
        return "unreachable"
    return "malformed" if isinstance(cause, httpx2.DecodingError) else "connection"


_connecting = Lock()


def connect(base_url: str, api_key: str) -> "OpenAI":
    """One client per endpoint and key in this process, so that connections are reused.

    Raises RefusedAddressError.
    """
    check_address(base_url)
    with _connecting:
        return _connected(base_url, api_key)


@lru_cache(maxsize=32)
def _connected(base_url: str, api_key: str) -> "OpenAI":
    from openai import OpenAI  # see ask

    def only_ours(sent: httpx2.Request) -> None:
        for name in sent.headers.keys() - SENT_HEADERS:
            del sent.headers[name]
        sent.headers["Accept-Encoding"] = "gzip, deflate"
        sent.headers["Authorization"] = f"Bearer {api_key}"

    http = http_client(base_url, event_hooks={"request": [only_ours], "response": [bound]})
    return OpenAI(base_url=base_url, api_key=api_key, max_retries=0, http_client=http)


def body_of(request: Request) -> dict[str, Any]:
    """The body of a request; the judge's options have the last word."""
    body: dict[str, Any] = {"model": request.model, "messages": list(request.messages)}
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.logprobs:
        body |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
    return body | dict(request.options)
