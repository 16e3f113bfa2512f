"""Bounds of requests to endpoints, which go through ``http_client``: their addresses, and how long one takes.

A host is resolved once for each connection, and what is connected to is an address that was checked, so that
a name which changes its address leads nowhere else. Redirects are not followed. Proxies and passwords of the
environment are not used.
"""

import ipaddress
import socket
import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import httpcore2
import httpx2
from django.conf import settings

IPAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

METADATA_NAMES: Final = frozenset(
    {"metadata", "metadata.google.internal", "metadata.azure.internal", "instance-data"}
)
METADATA: Final = frozenset(
    ipaddress.ip_address(each)
    for each in ("fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "192.0.0.192")
)
"""Addresses at which clouds hand out credentials, beside link-local ones such as 169.254.169.254."""

TRANSLATED: Final = tuple(
    ipaddress.IPv6Network(each) for each in ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48")
)
"""Networks whose addresses end with an IPv4 address of 32 bits."""

UNICAST: Final = {4: ipaddress.ip_network("0.0.0.0/0"), 6: ipaddress.ip_network("2000::/3")}
SPECIAL: Final = tuple(
    ipaddress.ip_network(each)
    for each in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
        *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3", "2001::/23", "2001:db8::/32", "3fff::/20"),
    )
)
"""Networks that IANA's registries keep for other uses; Python's own list depends on its version."""

WRITTEN_AT_ONCE: Final = 16 * 1024  # bytes of a request between two looks at the deadline


class RefusedAddressError(Exception):
    """Judges may not ask this address. The message is a sentence."""


def is_address(url: str) -> bool:
    """Tell whether a URL names a host over HTTP, without blanks and hidden characters."""
    try:
        parts = urlsplit(url)
        is_named = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none
        return False
    return is_named and url.isprintable() and " " not in url


def check_address(url: str) -> None:
    """Raise RefusedAddressError for an address that no judge of this arena may ask.

    What its host resolves to is checked when a connection is made.
    """
    parts = _parsed(url)
    host = parts.host
    if host.rstrip(".").lower() in METADATA_NAMES:
        raise RefusedAddressError(_why(host))
    named = _is_named(parts)
    if settings.JUDGE_ENDPOINTS and not named:
        raise RefusedAddressError(
            f"Judges of this arena may ask {', '.join(settings.JUDGE_ENDPOINTS)}, not {host}. "
            "The setting JUDGE_ENDPOINTS names more."
        )
    if settings.PRODUCTION and parts.scheme != "https" and not named:
        raise RefusedAddressError(
            "Use an https:// address: the key would be sent in the clear. To allow this one, name it in the "
            "setting JUDGE_ENDPOINTS."
        )
    if (literal := _literal(host)) is not None:
        _check_ip(host, literal, is_named=named)


def _parsed(url: str) -> httpx2.URL:
    # By the parser that also makes the connection, so that both see the same host.
    try:
        parts = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError) as error:
        raise RefusedAddressError("Enter an address like https://api.example.com/v1.") from error
    if any(part in (".", "..") for part in parts.path.split("/")):
        raise RefusedAddressError("Leave . and .. out of the address.")
    return parts


def _is_named(parts: httpx2.URL) -> bool:
    return any(_matches(entry, parts) for entry in settings.JUDGE_ENDPOINTS)


def _matches(entry: str, parts: httpx2.URL) -> bool:
    """Tell whether an entry of JUDGE_ENDPOINTS, a host (with or without port) or a URL, names an address."""
    is_url = "://" in entry
    named = httpx2.URL(entry if is_url else f"https://{entry}")
    if named.host != parts.host:
        return False
    if not is_url:
        return named.port is None or named.port == _port(parts)
    path, whole = named.path.rstrip("/"), parts.path.rstrip("/")
    same = (named.scheme, _port(named)) == (parts.scheme, _port(parts))
    return same and (whole == path or whole.startswith(f"{path}/"))


def _port(parts: httpx2.URL) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def _literal(host: str) -> IPAddress | None:
    try:
        return ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return None


def _check_ip(host: str, address: IPAddress, *, is_named: bool) -> None:
    """Raise RefusedAddressError unless requests to this host may go to this address."""
    meant = _embedded(address)
    if meant.is_link_local or meant.is_multicast or meant in METADATA:
        raise RefusedAddressError(_why(host))
    if settings.PRODUCTION and not _is_global(meant) and not is_named:
        raise RefusedAddressError(
            f"{host} is a private address. To let judges ask it, name it in the setting JUDGE_ENDPOINTS."
        )


def _is_global(address: IPAddress) -> bool:
    return address in UNICAST[address.version] and not any(address in network for network in SPECIAL)


def _embedded(address: IPAddress) -> IPAddress:
    """The IPv4 address that an IPv6 address stands for, if it does."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if any(address in network for network in TRANSLATED):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _why(host: str) -> str:
    return f"{host} is an address of the machine's own network, which judges may not ask."


_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Requests in the block take at most so long, from connecting to the last byte of the reply."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def _left(timeout: float | None, error: type[httpcore2.TimeoutException]) -> float | None:
    """The seconds that the next step may take; raises the error if there are none left."""
    deadline = _deadline.get()
    if deadline is None:
        return timeout
    left = deadline - time.monotonic()
    if left <= 0:
        raise error("the request took too long")
    return left if timeout is None else min(timeout, left)


class _Stream(httpcore2.NetworkStream):
    """A connection whose every step ends at the deadline of the request it serves."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), WRITTEN_AT_ONCE):
            piece = buffer[start : start + WRITTEN_AT_ONCE]
            self._stream.write(piece, _left(timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left = _left(timeout, httpcore2.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class _Backend(httpcore2.SyncBackend):
    """Connects to addresses that judges may ask."""

    def __init__(self, url: httpx2.URL) -> None:
        self._url = url

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        error: Exception = httpcore2.ConnectError(f"{host} has no address")
        named = _is_named(self._url)
        for address in _resolved(host, port):
            _check_ip(host, ipaddress.ip_address(address.partition("%")[0]), is_named=named)
            left = _left(timeout, httpcore2.ConnectTimeout)
            try:
                return _Stream(super().connect_tcp(address, port, left, local_address, socket_options))
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as failed:
                error = failed
        raise error


def _resolved(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore2.ConnectError(str(error)) from error
    return list(dict.fromkeys(str(each[4][0]) for each in found))


@cache
def _certificates() -> ssl.SSLContext:
    """Read once in a process: that takes longer than all else about a client."""
    return httpx2.create_ssl_context()


class _Transport(httpx2.HTTPTransport):
    def __init__(self, url: httpx2.URL) -> None:
        super().__init__(verify=_certificates(), trust_env=False)
        self._pool = httpcore2.ConnectionPool(
            ssl_context=_certificates(),
            max_connections=1000,
            max_keepalive_connections=100,
            keepalive_expiry=5.0,
            network_backend=_Backend(url),
        )


def http_client(url: str, **options: Any) -> httpx2.Client:
    """A client for the endpoint at this address alone. Raises RefusedAddressError."""
    check_address(url)
    return httpx2.Client(
        transport=_Transport(_parsed(url)), follow_redirects=False, trust_env=False, **options
    )
