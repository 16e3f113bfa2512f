"""Any OpenAI-compatible endpoint, through the official client, with every reply checked.

Its own retries are off, since nobody would record them; its models of requests and replies are not used,
since they cost as much as all the rest and check nothing (decision 17).
"""

import json
import zlib
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

import httpx2

from judging.endpoints import scoring
from judging.endpoints.client import REDIRECTS, NoReplyError, Reply, Request, storable
from judging.endpoints.keys import NO_KEY
from judging.endpoints.logprobs import count, field_of, tokens_of
from judging.endpoints.reaching import RefusedAddressError, check_address, http_client, within

if TYPE_CHECKING:
    from openai import OpenAI


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


NOT_RETRYABLE = frozenset({*REDIRECTS, 400, 401, 402, 403, 404, 405, 410, 413, 422})
"""HTTP errors that the same request would meet again."""

NO_LOGPROBS = (
    "This endpoint returns no logprobs for this model. Untick Ask for logprobs in the judge's settings, or "
    "probe the model that writes again."
)

TOP_LOGPROBS = 20
"""Alternatives per token that are asked for, OpenAI's maximum; options of a judge overrule it."""

LONGEST_ERROR = 500  # characters of an error message that are kept


class OpenAIClient:
    """Raises RefusedAddressError for an address that judges may not ask."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self._api_key = api_key
        self._client = connect(base_url, api_key)

    def ask(self, request: Request) -> Reply:
        completion = self._post("/chat/completions", body_of(request), request.timeout)
        return self._without_key(checked(completion))

    def read(self, way: scoring.Way, wanted: scoring.ToRead) -> scoring.Read:
        """What the model says about the tokens of a text; raises NoReplyError. Never retries."""
        reply = self._post(scoring.path_of(way), scoring.body_of(way, wanted), wanted.timeout)
        return scoring.read_from(way, wanted, reply)

    def _post(self, path: str, body: dict[str, Any], timeout: float) -> object:
        """The reply's JSON; raises NoReplyError."""
        import openai  # takes over a second, and only workers ask

        try:
            with within(timeout):
                return self._client.post(path, body=body, cast_to=object, options={"timeout": timeout})
        except openai.APITimeoutError as error:
            kind = "unreachable" if isinstance(error.__cause__, httpx2.ConnectTimeout) else "timeout"
            raise NoReplyError(kind, f"no reply within {timeout:g} s") from error
        except openai.APIStatusError as error:
            raise self._status_error(error, asks_logprobs="logprobs" in body) from error
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            raise NoReplyError(_kind(cause), self._clean(cause)) from error
        except RefusedAddressError as error:
            raise NoReplyError("configuration", str(error), retryable=False) from error
        except BodyTooLongError as error:
            raise NoReplyError("malformed", str(error)) from error
        except httpx2.HTTPError as error:
            raise NoReplyError("connection", self._clean(error)) from error
        except (openai.OpenAIError, ValueError, RecursionError) as error:
            raise NoReplyError("malformed", f"the reply is not valid JSON: {self._clean(error)}") from error

    def _status_error(self, error: Any, *, asks_logprobs: bool) -> NoReplyError:
        status = error.status_code
        kind = "rate_limited" if status == 429 else f"http_{status}"
        message = self._clean(said_by(error.body))
        if asks_logprobs and status in (400, 422) and "logprob" in message.lower():
            message = f"{NO_LOGPROBS} {message}"[:LONGEST_ERROR]
        return NoReplyError(
            kind,
            message,
            retryable=status not in NOT_RETRYABLE,
            retry_after=error.response.headers.get("retry-after", ""),
        )

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


def said_by(body: object) -> str:
    """What an endpoint says in the body of an error, in one line."""
    if isinstance(body, dict):
        words = [body.get(name) for name in ("message", "detail", "error")]
        body = next((text for text in words if isinstance(text, str) and text), json.dumps(body))
    return " ".join(str(body or "").split())


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


def checked(completion: object) -> Reply:
    """The reply of a chat completion in JSON; raises NoReplyError if it is something else.

    Thinking in a field of its own (``reasoning_content``) is not the answer.
    """
    if not isinstance(completion, dict):
        raise NoReplyError("malformed", "the endpoint sent text instead of a chat completion")
    choices = completion.get("choices")
    if not isinstance(choices, list) or not choices:
        raise NoReplyError("malformed", "the reply has no choices")
    message = field_of(choices[0], "message")
    if not isinstance(message, dict):
        raise NoReplyError("malformed", "the reply's first choice has no message")
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise NoReplyError("malformed", "the content of the reply is not a text")
    usage = completion.get("usage")
    details = field_of(usage, "completion_tokens_details")
    prompt_tokens, completion_tokens = _tokens(usage, said_something=bool(content))
    return Reply(
        text=storable(content or ""),
        refusal=_text(message.get("refusal")),
        finish_reason=_text(field_of(choices[0], "finish_reason"))[:50],
        model=_text(completion.get("model"))[:200],
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        reasoning_tokens=count(field_of(details, "reasoning_tokens")),
        tokens=tokens_of(field_of(choices[0], "logprobs")),
    )


def _tokens(usage: object, *, said_something: bool) -> tuple[int | None, int | None]:
    """The charged tokens of prompt and reply; None where the endpoint does not say."""
    # Endpoints that do not count say 0. Some count thinking in the total alone.
    prompt = count(field_of(usage, "prompt_tokens")) or None
    reply = count(field_of(usage, "completion_tokens"))
    total = count(field_of(usage, "total_tokens"))
    if prompt is not None and reply is not None and total is not None:
        reply = max(reply, total - prompt)
    return prompt, None if said_something and not reply else reply


def _text(value: object) -> str:
    return storable(value) if isinstance(value, str) else ""
