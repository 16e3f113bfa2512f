"""Asking a model: the request, its reply, failures, and when to retry."""

import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final, Protocol

from arena.texts.dialogue import Message
from judging.protocols.replies import ReplyText

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    model: str
    messages: Sequence[Message]
    timeout: float  # seconds
    max_tokens: int | None = None
    temperature: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)  # further fields of the body
    logprobs: bool = False
    schema: Mapping[str, Any] | None = None  # of the JSON that the reply is to be


@dataclass(frozen=True)
class Token:
    """A token with its natural log-probability; parts of a character are lone surrogates."""

    text: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()  # likeliest first


@dataclass(frozen=True)
class Reply:
    """A checked reply; counts are None if unknown."""

    text: str
    finish_reason: str
    model: str
    refusal: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None  # among completion_tokens
    tokens: tuple[Token, ...] = ()

    @property
    def as_text(self) -> ReplyText:
        return ReplyText(self.text, self.finish_reason, self.refusal)


class NoReplyError(Exception):
    """kind: one word for counting. retry_after: the Retry-After header as sent, "" for none."""

    def __init__(self, kind: str, message: str, *, retryable: bool = True, retry_after: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.retryable = retryable
        self.retry_after = retry_after


REDIRECTS: Final = (301, 302, 303, 307, 308)  # not followed

REFUSALS: Final = {
    "http_401": "The endpoint needs a valid key",
    "http_403": "The endpoint does not allow the request",
    "http_404": "The endpoint does not know the model or the address",
    **dict.fromkeys(
        (f"http_{status}" for status in REDIRECTS), "The endpoint sends the request on to another address"
    ),
    "no_credit": "The account at the endpoint has no credit left",
    "configuration": "",
}
"""Kinds of failures that every call of a judge would meet, in words."""


def refusal(error: NoReplyError) -> str:
    """Reason why no call of the judge can succeed, as a sentence with the endpoint's own words; else ""."""
    if error.kind not in REFUSALS:
        return ""
    words, said = REFUSALS[error.kind], str(error).rstrip(". ")
    if not words:
        return f"{said[:1].upper()}{said[1:]}."
    status = error.kind.removeprefix("http_") if error.kind.startswith("http_") else ""
    found = ": ".join(filter(None, (status, said)))
    return f"{words} ({found})." if found else f"{words}."


class Client(Protocol):
    def ask(self, request: Request) -> Reply:
        """The model's reply; raises NoReplyError. Never retries."""
        ...


class StreamingClient(Client, Protocol):
    def stream(self, request: Request, take: Callable[[str], None], hung: float) -> Reply:
        """Like ``ask``; ``take`` gets each piece of the answer as it comes, and may raise StoppedError."""
        ...


def attempt(ask: Callable[[], Reply], about: str) -> tuple[Reply | NoReplyError, float]:
    """The result of ``ask`` and the seconds it took. Never raises; ``about`` names the call in logs."""
    started = time.monotonic()
    try:
        result: Reply | NoReplyError = ask()
    except NoReplyError as error:
        result = error
    except Exception as error:
        logger.exception("Asking about %s failed", about)
        result = NoReplyError("internal", f"{type(error).__name__} while asking the model")
    return result, time.monotonic() - started


def storable(text: str) -> str:
    """The text with U+FFFD for what a database cannot hold: NUL and lone surrogates."""
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return joined.replace("\x00", "�")


# The one retry layer. The queue does the waiting: the time is stored with the work and no thread sleeps.


UNREAD: Final = "malformed"
"""The kind of a reply that cannot be read. It may be paid for, so it is seldom asked for again."""

MOST_UNREAD: Final = 2  # attempts


@dataclass(frozen=True)
class RetryPolicy:
    """Times are in seconds."""

    attempts: int
    base: float
    cap: float

    def next_try(
        self, error: NoReplyError, failures: int, now: datetime, rng: random.Random
    ) -> datetime | None:
        """Time of the next attempt after ``failures`` failed ones; None to give up.

        Exponential backoff with full jitter on its upper half. A Retry-After is a lower bound, up to the cap.
        """
        attempts = min(self.attempts, MOST_UNREAD) if error.kind == UNREAD else self.attempts
        if not error.retryable or failures >= attempts:
            return None
        backoff = min(self.cap, self.base * 2 ** (failures - 1)) * rng.uniform(0.5, 1)
        asked = min(self.cap, retry_after_seconds(error.retry_after, now))
        return now + timedelta(seconds=max(backoff, asked))


def retry_after_seconds(header: str, now: datetime) -> float:
    """Seconds to wait by a Retry-After header, a number or an HTTP date; 0 if it is neither."""
    try:
        seconds = float(header)
    except ValueError:
        try:
            when = parsedate_to_datetime(header)
        except (ValueError, OverflowError):  # a time zone of many digits is too large for the parser
            return 0.0
        seconds = (when.replace(tzinfo=when.tzinfo or UTC) - now).total_seconds()
    return seconds if 0 < seconds < float("inf") else 0.0
