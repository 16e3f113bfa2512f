"""Tokens, prices and bounds."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.endpoints import costs
from judging.endpoints.costs import Prices


def test_a_price_is_of_a_million_tokens_rounded_up_to_what_is_stored() -> None:
    prices = Prices(Decimal("2.50"), Decimal("10"))
    assert prices.of(1_000_000, 0) == Decimal("2.5")
    assert prices.of(1_234, 56) == Decimal("0.003645")
    assert prices.of(0, 0) == 0
    assert Prices(Decimal("0.001"), Decimal(0)).of(1, 0) == Decimal("0.00000001")


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_fewer_tokens_never_cost_more(prompt: int, reply: int, more: int, longer: int) -> None:
    prices = Prices(Decimal("0.150001"), Decimal("0.600003"))
    assert prices.of(prompt, reply) <= prices.of(prompt + more, reply + longer)


def test_a_message_has_no_more_tokens_than_bytes_and_what_stands_around_it() -> None:
    around = costs.TOKENS_AROUND_REQUEST + costs.TOKENS_AROUND_MESSAGE
    ligature = "ﷺ"  # 3 bytes, and 33 in its compatibility form
    for text, most in (("abc", 3), ("né", 3), ("日本", 6), (ligature, 33)):
        assert costs.most_prompt_tokens([{"role": "user", "content": text}]) == around + most
    # Further fields of a request are sent and charged too.
    assert costs.most_option_tokens({}) == 0
    assert costs.most_option_tokens({"tools": ["né"]}) == len('{"tools": ["né"]}'.encode())


def test_the_bound_holds_for_a_real_vocabulary() -> None:
    from splintr import Tokenizer

    tokenizer = Tokenizer.from_pretrained("o200k_base")
    texts = ["Plain prose.", "def f(x):\n\treturn x", "日本語の文章", "🙂🙃", "\u200b\u0301", "ﷺ" * 5]
    for text in [*texts, "a" * 999]:
        assert len(tokenizer.encode(text)) <= costs.most_bytes(text)


@pytest.mark.parametrize(
    ("max_tokens", "options", "limit"),
    [
        (1024, {}, 1024),
        (None, {}, None),
        (None, {"max_completion_tokens": 300}, 300),
        (1024, {"max_completion_tokens": 300}, 1024),
        (None, {"max_completion_tokens": "many"}, None),
        (1024, {"max_completion_tokens": "5000"}, None),
        (1024, {"max_completion_tokens": -1}, None),
        (0, {}, None),
    ],
)
def test_the_longest_reply(max_tokens: int | None, options: dict[str, object], limit: int | None) -> None:
    assert costs.reply_limit(max_tokens, options) == limit


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        ("0", "0.00 USD"),
        ("1234.5", "1,234.50 USD"),
        ("12.3456", "12.35 USD"),
        ("1.23456", "1.2346 USD"),
        ("0.0008", "0.0008 USD"),
        ("0.00600083", "0.006001 USD"),
        ("0.00001234", "0.00001234 USD"),
    ],
)
def test_amounts_in_words(amount: str, words: str) -> None:
    assert costs.in_words(Decimal(amount), "USD") == words
