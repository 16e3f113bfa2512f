"""The log-probabilities that come with a reply, checked. Pure."""

import math
from typing import Any, Final

from judging.endpoints.client import Token

MOST_TOKENS: Final = 32_768
"""Of a longer reply no log-probabilities are kept."""

MOST_ALTERNATIVES: Final = 20


def field_of(value: object, name: str) -> Any:
    """A field of a JSON object; None where it is missing, or the value is no object."""
    return value.get(name) if isinstance(value, dict) else None


def tokens_of(logprobs: object) -> tuple[Token, ...]:
    """The tokens of a choice's ``logprobs`` field; empty where anything about it is not as it should be.

    They stand beside a reply that is paid for and good without them, so nothing here is an error.
    """
    content = field_of(logprobs, "content")
    if not isinstance(content, list) or len(content) > MOST_TOKENS:
        return ()
    try:
        return tuple(_token(entry) for entry in content)
    except (TypeError, ValueError, OverflowError):
        return ()


def _token(entry: object) -> Token:
    alternatives = list(field_of(entry, "top_logprobs") or [])[:MOST_ALTERNATIVES]
    return Token(_text(entry), _logprob(entry), tuple((_text(one), _logprob(one)) for one in alternatives))


def _text(entry: object) -> str:
    """The token as a text; its bytes are exact where the text has replacement characters."""
    sent = field_of(entry, "bytes")
    if isinstance(sent, list) and sent:
        return bytes(sent).decode("utf-8", "surrogateescape")
    token = field_of(entry, "token")
    if not isinstance(token, str):
        raise TypeError("a token is not a text")
    return token


def _logprob(entry: object) -> float:
    """A natural logarithm of a probability; rounding may have put it above 0."""
    value = float(field_of(entry, "logprob"))
    if math.isnan(value) or value > 0.01:
        raise ValueError("a log-probability is none")
    return min(0.0, max(value, -1e9))
