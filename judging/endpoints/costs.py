"""Costs of calls: tokens, prices and bounds. Pure, in decimals throughout.

A bound is the most a call can cost, known before it is made; budgets rest on bounds alone.
"""

import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from operator import add, mul
from typing import Any, Final

UNIT: Final = Decimal("0.00000001")  # amounts are stored to this, rounded up
TOKENS_OF_PRICE: Final = 1_000_000  # prices are for so many tokens
TOKENS_AROUND_MESSAGE: Final = 16  # the most that a chat template adds to a message; common ones add 3 to 6
TOKENS_AROUND_REQUEST: Final = 256
"""The most that a chat template adds to a request, such as a system message."""

BYTES_PER_TOKEN: Final = Decimal(4)  # of English prose; used until a model's own ratio is known
NOT_CHARGED: Final = frozenset({"unreachable", "configuration", "rate_limited", "no_credit", "prompt"})
"""Kinds of failure after which no model has worked."""

GATEWAY_TIMEOUTS: Final = frozenset({"http_408", "http_504", "http_524"})
"""HTTP errors that come while a model may still work."""


@dataclass(frozen=True)
class Prices:
    """Prices of a million tokens, of prompts and of replies; thinking counts as reply."""

    prompt: Decimal
    completion: Decimal
    currency: str = "USD"

    def of(self, prompt_tokens: Decimal | int, reply_tokens: Decimal | int) -> Decimal:
        """The price, rounded up to UNIT."""
        exact = prompt_tokens * self.prompt + reply_tokens * self.completion
        return (exact / TOKENS_OF_PRICE).quantize(UNIT, ROUND_CEILING)


def most_prompt_tokens(messages: Sequence[Mapping[str, str]]) -> int:
    """An upper bound of the tokens that any model makes of messages."""
    # Vocabularies hold every byte, so a text never has more tokens than bytes; some bring a text into its
    # compatibility form (NFKC) first, which can be longer.
    texts = sum(most_bytes(message["content"]) for message in messages)
    return texts + TOKENS_AROUND_MESSAGE * len(messages) + TOKENS_AROUND_REQUEST


def most_option_tokens(options: Mapping[str, Any]) -> int:
    """The most tokens of further fields of a request, such as tools."""
    return most_bytes(json.dumps(options, ensure_ascii=False)) if options else 0


def most_bytes(text: str) -> int:
    if text.isascii():
        return len(text)
    return max(size(text), size(unicodedata.normalize("NFKC", text)))


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def reply_limit(max_tokens: int | None, options: Mapping[str, Any]) -> int | None:
    """The longest reply that a request allows, in tokens; None without a limit that can be read."""
    # Newer endpoints call it ``max_completion_tokens``, among the options; of two limits the larger is taken.
    newer = options.get("max_completion_tokens")
    given = [limit for limit in (max_tokens, newer) if limit is not None]
    if any(isinstance(limit, bool) or not isinstance(limit, int) or limit < 1 for limit in given):
        return None
    return max(given, default=None)


def reply_tokens(completion_tokens: int, reasoning_tokens: int | None) -> int:
    """The tokens of a reply with all thinking."""
    # Most endpoints count thinking among the completion's tokens; where it is more than those, it was counted
    # apart.
    thinking = reasoning_tokens or 0
    return completion_tokens if thinking <= completion_tokens else completion_tokens + thinking


def may_be_charged(error_kind: str) -> bool:
    refused = error_kind.startswith("http_") and error_kind not in GATEWAY_TIMEOUTS
    return not refused and error_kind not in NOT_CHARGED


def in_words(amount: Decimal, currency: str = "") -> str:
    """An amount for people: at least two decimals, and of small amounts as many as matter."""
    steps = {"10": "0.01", "0.01": "0.0001", "0.0001": "0.000001"}
    step = next((Decimal(step) for least, step in steps.items() if amount >= Decimal(least)), UNIT)
    whole, _, decimals = f"{amount.quantize(step):,f}".partition(".")
    return f"{whole}.{decimals.rstrip('0'):0<2} {currency}".strip()


@dataclass(frozen=True)
class Range:
    """From about ``low`` to at most ``high``; high is None where that is not known."""

    low: Decimal
    high: Decimal | None

    def __add__(self, other: "Range") -> "Range":
        return Range(self.low + other.low, _known(add, self.high, other.high))

    def __mul__(self, other: "Range") -> "Range":
        return Range(self.low * other.low, _known(mul, self.high, other.high))


def _known(
    how: Callable[[Decimal, Decimal], Decimal], one: Decimal | None, other: Decimal | None
) -> Decimal | None:
    return None if one is None or other is None else how(one, other)


NOTHING: Final = Range(Decimal(0), Decimal(0))


@dataclass(frozen=True)
class Load:
    """tokens are the mean of one call."""

    calls: Range
    prompt_tokens: Range
    reply_tokens: Range
    prices: Prices | None


@dataclass(frozen=True)
class Total:
    """cost is None if a price is missing or currencies differ."""

    calls: Range
    prompt_tokens: Range
    reply_tokens: Range
    cost: Range | None
    currency: str = ""


def total(loads: Sequence[Load]) -> Total:
    prompt = sum((load.calls * load.prompt_tokens for load in loads), NOTHING)
    reply = sum((load.calls * load.reply_tokens for load in loads), NOTHING)
    calls = sum((load.calls for load in loads), NOTHING)
    currencies = {load.prices.currency if load.prices else "" for load in loads}
    if len(currencies) != 1 or "" in currencies:
        return Total(calls, prompt, reply, None)
    return Total(calls, prompt, reply, sum((_cost_of(load) for load in loads), NOTHING), currencies.pop())


def of_chats(
    chats: Sequence[Sequence[Mapping[str, str]]],
    options: Mapping[str, Any],
    reply: Range,
    prices: Prices | None,
    more: Range = NOTHING,
) -> Total:
    """What asking with these messages takes. ``reply``: tokens of each; ``more``: that are sent beside."""
    made = Decimal(len(chats))
    expected = sum(size(each["content"]) for messages in chats for each in messages) / BYTES_PER_TOKEN
    most = sum(most_prompt_tokens(messages) for messages in chats) + made * most_option_tokens(options)
    sent = Range(expected, most) + more
    count = max(made, Decimal(1))
    prompt = Range(sent.low / count, None if sent.high is None else sent.high / count)
    return total([Load(Range(made, made), prompt, reply, prices)])


def usual_reply(usual: int, limit: int | None) -> Range:
    """The tokens of a reply that usually has so many, and its longest."""
    if limit is None:
        return Range(Decimal(usual), None)
    return Range(Decimal(min(usual, limit)), Decimal(limit))


def _cost_of(load: Load) -> Range:
    assert load.prices is not None  # noqa: S101 - total has looked
    prompt, reply = load.calls * load.prompt_tokens, load.calls * load.reply_tokens
    return Range(load.prices.of(prompt.low, reply.low), _known(load.prices.of, prompt.high, reply.high))
