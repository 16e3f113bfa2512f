"""What it means to ask a model: the request, its reply, and how asking can fail. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from judging.runner import Message


@dataclass(frozen=True)
class Request:
    """One chat completion. timeout is in seconds; options are further fields of the request's body.

    logprobs: ask for the log-probabilities of the reply's tokens and of their alternatives.
    """

    model: str
    messages: Sequence[Message]
    timeout: float
    max_tokens: int | None = None
    temperature: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    logprobs: bool = False


@dataclass(frozen=True)
class Token:
    """A token of a reply with its natural log-probability.

    text: bytes of a character that is spread over several tokens are lone surrogates, as of
    ``surrogateescape``. alternatives: what could have stood in its place, with log-probabilities, the
    likeliest first; the token itself mostly among them.
    """

    text: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Reply:
    """What the model answered, checked. text is "" where it sent none; counts are None where unknown.

    reasoning_tokens are those of completion_tokens that were spent thinking; tokens are empty where the
    endpoint tells no log-probabilities.
    """

    text: str
    finish_reason: str
    model: str
    refusal: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    tokens: tuple[Token, ...] = ()


class NoReplyError(Exception):
    """No reply could be had.

    kind is one word for counting; retryable says whether asking again can help; retry_after is the
    Retry-After header as sent, "" where there was none.
    """

    def __init__(self, kind: str, message: str, *, retryable: bool = True, retry_after: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.retryable = retryable
        self.retry_after = retry_after


class Client(Protocol):
    """A model that can be asked."""

    def ask(self, request: Request) -> Reply:
        """The model's reply; raises NoReplyError. Never retries: judging.llm.retrying decides that."""
        ...


def storable(text: str) -> str:
    """The text without what a database cannot hold: NUL and lone surrogates become U+FFFD."""
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return joined.replace("\x00", "�")
