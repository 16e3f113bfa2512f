"""The address a request comes from, behind any number of proxies."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The address of the client, for locking out, logs and limits.

    Each proxy adds the address it was called from to X-Forwarded-For, on the right. Only what the trusted
    ones (TRUSTED_PROXIES) added is believed: everything further left may be the client's own invention.
    """
    nearest = request.META.get("REMOTE_ADDR") or "::"
    forwarded = [entry.strip() for entry in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    if not settings.TRUSTED_PROXIES or forwarded == [""]:
        return str(nearest)
    return _plain(forwarded[-min(settings.TRUSTED_PROXIES, len(forwarded))]) or str(nearest)


def _plain(entry: str) -> str:
    """An address without port and brackets; "" if it is none."""
    host = entry.partition("]")[0].removeprefix("[") if entry.startswith("[") else entry
    if host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return ""
