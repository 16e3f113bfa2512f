"""When to ask again."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from judging.endpoints.client import NoReplyError, RetryPolicy, retry_after_seconds

NOW = datetime(2026, 1, 1, tzinfo=UTC)
POLICY = RetryPolicy(attempts=4, base=2.0, cap=60.0)


def wait(error: NoReplyError, failures: int, policy: RetryPolicy = POLICY) -> float:
    when = policy.next_try(error, failures, NOW, random.Random(1))
    return (when - NOW).total_seconds()


def test_waiting_doubles_with_jitter_up_to_the_cap_and_ends() -> None:
    error = NoReplyError("timeout", "")
    for failures, longest in ((1, 2.0), (2, 4.0), (3, 8.0)):
        assert longest / 2 <= wait(error, failures) <= longest
    assert 30 <= wait(error, 30, RetryPolicy(100, 2.0, 60.0)) <= 60
    rng = random.Random(1)
    assert POLICY.next_try(NoReplyError("timeout", ""), 4, NOW, rng) is None
    assert POLICY.next_try(NoReplyError("http_401", "", retryable=False), 1, NOW, rng) is None
    assert wait(NoReplyError("rate_limited", "", retry_after="20"), 1) == 20
    assert wait(NoReplyError("rate_limited", "", retry_after="86400"), 1) == 60
    assert wait(NoReplyError("rate_limited", "", retry_after="0"), 1) >= 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("3", 3),
        ("1.5", 1.5),
        ("Thu, 01 Jan 2026 00:00:30 GMT", 30),
        ("Wed, 31 Dec 2025 23:59:00 GMT", 0),
        ("-5", 0),
        ("", 0),
        ("soon", 0),
        ("nan", 0),
        ("inf", 0),
        ("Thu, 99 Foo 2020", 0),
        ("Mon, 01 Jan 2024 00:00:00 +99999999999999999", 0),
    ],
)
def test_both_forms_of_the_header(header: str, seconds: float) -> None:
    assert retry_after_seconds(header, NOW) == seconds
    assert wait(NoReplyError("x", "", retry_after=header), 1) >= timedelta(seconds=seconds).total_seconds()
