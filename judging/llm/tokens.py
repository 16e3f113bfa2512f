"""The log-probabilities that come with a reply, checked. Pure."""

import math
from typing import Any, Final

from judging.llm.client import Token

MOST_TOKENS: Final = 32_768
"""Of a longer reply no log-probabilities are kept."""

MOST_ALTERNATIVES: Final = 20


def tokens_of(logprobs: Any) -> tuple[Token, ...]:
    """The tokens of a choice's ``logprobs`` field; empty where anything about it is not as it should be.

    They stand beside a reply that is paid for and good without them, so nothing here is an error.
    """
    content = getattr(logprobs, "content", None)
    if not isinstance(content, list) or len(content) > MOST_TOKENS:
        return ()
    try:
        return tuple(_token(entry) for entry in content)
    except (AttributeError, TypeError, ValueError):
        return ()


def _token(entry: Any) -> Token:
    alternatives = list(getattr(entry, "top_logprobs", None) or [])[:MOST_ALTERNATIVES]
    return Token(_text(entry), _logprob(entry), tuple((_text(one), _logprob(one)) for one in alternatives))


def _text(entry: Any) -> str:
    """The token as a text; its bytes are exact where the text has replacement characters."""
    sent = getattr(entry, "bytes", None)
    if isinstance(sent, list) and sent:
        return bytes(sent).decode("utf-8", "surrogateescape")
    if not isinstance(entry.token, str):
        raise TypeError("a token is not a text")
    return entry.token


def _logprob(entry: Any) -> float:
    """A natural logarithm of a probability; rounding may have put it above 0."""
    value = float(entry.logprob)
    if math.isnan(value) or value > 0.01:
        raise ValueError("a log-probability is none")
    return min(0.0, max(value, -1e9))
