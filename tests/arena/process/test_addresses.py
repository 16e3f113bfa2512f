"""Whose address a request has: only what trusted proxies added is believed."""

from typing import Any

import pytest
from django.test import RequestFactory

from arena.process.addresses import client_address

SPOOFED = "6.6.6.6, 203.0.113.9, 198.51.100.2"


@pytest.mark.parametrize(
    ("trusted", "forwarded", "expected"),
    [
        (0, SPOOFED, "127.0.0.1"),
        (1, None, "127.0.0.1"),
        (1, SPOOFED, "198.51.100.2"),
        (2, SPOOFED, "203.0.113.9"),
        (2, "203.0.113.9", "203.0.113.9"),
        (1, "6.6.6.6,, nonsense", "127.0.0.1"),
        (1, "203.0.113.9:4711", "203.0.113.9"),
        (1, "[2001:db8::7]:4711", "2001:db8::7"),
        (1, "2001:DB8:0::7", "2001:db8::7"),
        (1, "6.6.6.6, ", "127.0.0.1"),
    ],
)
def test_the_entry_that_the_outermost_trusted_proxy_added(
    trusted: int, forwarded: str | None, expected: str, settings: Any
) -> None:
    settings.TRUSTED_PROXIES = trusted
    headers = {"x-forwarded-for": forwarded} if forwarded else {}
    assert client_address(RequestFactory().get("/", headers=headers)) == expected
