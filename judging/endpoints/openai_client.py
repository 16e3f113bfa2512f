"""Any OpenAI-compatible endpoint, with every reply checked (decision 39)."""

import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, TypeVar

import httpx2

from judging.endpoints import moderations, scoring
from judging.endpoints.adapting import HABITS, adapted, next_ways, words_of
from judging.endpoints.client import NoReplyError, Reply, Request, storable
from judging.endpoints.completions import (
    FilteredError,
    checked,
    checked_stream,
    failure,
    parsed,
    text_of,
)
from judging.endpoints.keys import NO_KEY
from judging.endpoints.reaching import RefusedAddressError, check_address, http_client, within
from judging.endpoints.streaming import WAYS, Take, Taking, is_refused

Result = TypeVar("Result")

LONGEST_BODY = 8 * 2**20  # bytes of a body that are read, ten times the longest replies of language models
UNPACKED_AT_ONCE = 2**16  # bytes of a compressed body
PACKED = frozenset({"gzip", "x-gzip", "deflate"})
EITHER_HEADER = 47  # zlib's word for: gzip or deflate, by the first bytes
HEADERS = {"Accept": "application/json", "Accept-Encoding": "gzip, deflate", "User-Agent": "likert-arena"}


def whole(response: httpx2.Response) -> httpx2.Response:
    """Read a reply whose body is not read yet, unpacked; raises NoReplyError for one that is too long."""
    body = b"".join(pieces_of(response))
    return httpx2.Response(response.status_code, headers=response.headers, content=body)


def pieces_of(response: httpx2.Response) -> Iterable[bytes]:
    """The body of a reply as it comes, unpacked; raises NoReplyError for one that is too long."""
    # Here, because the library unpacks whatever one read brings, a thousand times as much memory.
    encoding = response.headers.pop("content-encoding", "identity").strip().lower()
    pieces: Iterable[bytes] = _bounded(response.iter_raw())
    if encoding in PACKED:
        return _bounded(_unpacked(pieces))
    if encoding not in ("", "identity"):
        raise NoReplyError(
            "malformed", f"the reply is compressed in a way that was not asked for: {encoding}"
        )
    return pieces


def _bounded(pieces: Iterable[bytes]) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > LONGEST_BODY:
            raise NoReplyError("malformed", f"the reply is longer than {LONGEST_BODY:,} bytes")
        yield piece


def _unpacked(pieces: Iterable[bytes]) -> Iterator[bytes]:
    unpacking = zlib.decompressobj(EITHER_HEADER)
    try:
        for piece in pieces:
            left = piece
            while left:
                yield unpacking.decompress(left, UNPACKED_AT_ONCE)
                left = unpacking.unconsumed_tail
        yield unpacking.flush()
    except zlib.error as error:
        raise NoReplyError("malformed", f"the reply cannot be unpacked: {error}") from error
    if not unpacking.eof:
        raise NoReplyError("malformed", "the reply ends before its compressed body does")


NO_LOGPROBS = (
    "This endpoint returns no logprobs for this model. Untick Ask for logprobs in the judge's settings, or "
    "probe the model that writes again."
)

TOP_LOGPROBS = 20
"""Alternatives per token that are asked for, OpenAI's maximum; options of a judge overrule it."""

LONGEST_ERROR = 500  # characters of an error message that are kept
LONGEST_HEADER = 100
LONGEST_NUMBER = 15


class OpenAIClient:
    """Raises RefusedAddressError for an address that judges may not ask."""

    def __init__(self, base_url: str, api_key: str) -> None:
        check_address(base_url)
        self._base_url, self._api_key = base_url.rstrip("/"), api_key

    def ask(self, request: Request) -> Reply:
        """Ask once; again in another way where the endpoint refuses this one."""
        body, ways = body_of(request), HABITS.of(self._base_url, request.model)
        while True:
            sent = adapted(body, request.schema, ways)
            try:
                reply = self._asked(sent, request.timeout, checked)
            except NoReplyError as error:
                later = next_ways(error, sent, ways)
                if later is None or adapted(body, request.schema, later) == sent:
                    raise
                ways = later
            else:
                HABITS.learn(self._base_url, request.model, ways)
                return reply

    def habits(self, model: str) -> list[str]:
        """What was found out about asking the model, in sentences."""
        return words_of(HABITS.of(self._base_url, model))

    def stream(self, request: Request, take: Take, hung: float) -> Reply:
        """Like ``ask``, but ``take`` gets each piece of the answer as it comes; its StoppedError is raised.

        ``hung``: seconds without anything of the answer after which the request has failed.
        """
        hung = min(request.timeout, hung)
        for more in WAYS:
            taking = Taking(take, "" if self._api_key == NO_KEY else self._api_key, hung)
            try:
                body = body_of(request) | more
                reply = self._asked(body, request.timeout, checked_stream, _Received(taking, hung))
            except NoReplyError as error:
                if more == WAYS[-1] or not is_refused(error):
                    raise
            else:
                taking.finish(reply.text)
                return reply
        raise AssertionError("the last way returns or raises")

    def _asked(
        self,
        body: dict[str, Any],
        timeout: float,
        read: Callable[[object], Reply],
        received: "_Received | None" = None,
    ) -> Reply:
        try:
            reply = self._read("/chat/completions", body, timeout, read, received)
        except FilteredError as error:
            return Reply("", "content_filter", "", refusal=str(error) or "content filter")
        return self._without_key(reply)

    def read(self, way: scoring.Way, wanted: scoring.ToRead) -> scoring.Read:
        """Have the model read a text; raises NoReplyError. Never retries."""
        body = scoring.body_of(way, wanted)
        return self._read(scoring.path_of(way), body, wanted.timeout, partial(scoring.read_from, way, wanted))

    def moderate(self, model: str, text: str, timeout: float) -> list[str]:
        """The categories in which an endpoint flags a text, none if it does not; raises NoReplyError."""
        body = {"input": text} | ({"model": model} if model else {})
        return self._read("/moderations", body, timeout, moderations.categories)

    def _read(
        self,
        path: str,
        body: dict[str, Any],
        timeout: float,
        read: Callable[[object], Result],
        received: "_Received | None" = None,
    ) -> Result:
        """Return what a reply's JSON says; raises NoReplyError, whose words are cleaned."""
        try:
            response = self._post(path, body, timeout, received or _Received())
            return read(parsed(response.content, response.charset_encoding))
        except NoReplyError as error:
            hint = self._address_hint() if _is_of_address(error) else ""
            error.args = (self._clean(f"{hint} {error}".strip()),)
            raise
        except (ValueError, RecursionError) as error:
            raise NoReplyError("malformed", f"the reply cannot be read: {self._clean(error)}") from error

    def _post(
        self, path: str, body: dict[str, Any], timeout: float, received: "_Received"
    ) -> httpx2.Response:
        request = httpx2.Request(
            "POST",
            f"{self._base_url}{path}",
            headers=received.headers | {"Authorization": f"Bearer {self._api_key}"},
            json=body,
            extensions={"timeout": httpx2.Timeout(timeout, read=received.hung or timeout).as_dict()},
        )
        try:
            with within(timeout), closing(connect(self._base_url).send(request, stream=True)) as sent:
                response = received.whole(sent)
        except httpx2.TimeoutException as error:
            kind = "unreachable" if isinstance(error, httpx2.ConnectTimeout) else "timeout"
            raise NoReplyError(kind, f"no reply within {received.hung or timeout:g} s") from error
        except httpx2.HTTPError as error:
            # Where nothing was sent, nothing is charged.
            kind = "unreachable" if isinstance(error, httpx2.ConnectError) else "connection"
            raise NoReplyError(kind, str(error)) from error
        except RefusedAddressError as error:
            raise NoReplyError("configuration", str(error), retryable=False) from error
        if not response.is_success:
            raise _status_error(response, asks_logprobs="logprobs" in body)
        return response

    def _address_hint(self) -> str:
        """Return what may be wrong with the address, as a sentence; "" if it looks like one."""
        path = httpx2.URL(self._base_url).path
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


@dataclass(frozen=True)
class _Received:
    """A reply as it is received: at once, or in pieces that somebody takes."""

    taking: Taking | None = None
    hung: float = 0.0  # seconds without a byte after which it has failed; 0: as long as all of it may take

    @property
    def headers(self) -> dict[str, str]:
        # Compressing would hold words back.
        return HEADERS | ({"Accept": "*/*", "Accept-Encoding": "identity"} if self.taking else {})

    def whole(self, response: httpx2.Response) -> httpx2.Response:
        if self.taking is None or not response.is_success:
            return _of_any_status(response)
        body = self.taking.read(pieces_of(response))
        return httpx2.Response(response.status_code, headers=response.headers, content=body)


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


def _of_any_status(response: httpx2.Response) -> httpx2.Response:
    """Like ``whole``, but an error tells its status also where its body cannot be read."""
    try:
        return whole(response)
    except NoReplyError:
        if response.is_success:
            raise
        return httpx2.Response(response.status_code, headers=response.headers)


def _status_error(response: httpx2.Response, *, asks_logprobs: bool) -> NoReplyError:
    """The error of a status, which is told whatever headers and body say."""
    headers, text = response.headers, text_of(response.content, response.charset_encoding).strip()
    milliseconds = headers.get("retry-after-ms", "")[:LONGEST_NUMBER]
    waits = f"{int(milliseconds) / 1000:g}" if milliseconds.isdecimal() else headers.get("retry-after", "")
    told = partial(failure, response.status_code, retry_after=waits[:LONGEST_HEADER])
    try:
        body = json.loads(text)
        found = told(body.get("error", body) if isinstance(body, dict) else body)
    except (ValueError, RecursionError):
        found = told(text)
    if asks_logprobs and response.status_code in (400, 422) and "logprob" in str(found).lower():
        found.args = (f"{NO_LOGPROBS} {found}",)
    return found


def _is_of_address(error: NoReplyError) -> bool:
    """Tell whether the address may be another one than that of the model."""
    if error.kind == "malformed":
        return "web page" in str(error)
    return error.kind in ("http_404", "http_405") and "model" not in str(error).lower()


@lru_cache(maxsize=32)
def connect(base_url: str) -> httpx2.Client:
    """One client per endpoint in this process, so that connections are reused."""
    return http_client(base_url)


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
