"""The address a request comes from, behind any number of proxies."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The address of the client, for locking out, logs and limits."""
    return address_of(request.META.get("REMOTE_ADDR") or "::", request.META.get("HTTP_X_FORWARDED_FOR", ""))


def address_of(nearest: str, forwarded_for: str) -> str:
    """The address of a client, given the nearest one and X-Forwarded-For.

    Each proxy adds the address it was called from, on the right. Only what the trusted ones (TRUSTED_PROXIES)
    added is believed: everything further left may be the client's own invention.
    """
    forwarded = [entry.strip() for entry in forwarded_for.split(",")]
    if not settings.TRUSTED_PROXIES or forwarded == [""]:
        return nearest
    return _plain(forwarded[-min(settings.TRUSTED_PROXIES, len(forwarded))]) or nearest


def _plain(entry: str) -> str:
    """An address without port and brackets; "" if it is none."""
    host = entry.partition("]")[0].removeprefix("[") if entry.startswith("[") else entry
    if host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return ""
