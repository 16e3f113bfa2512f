"""HTTP connections that are kept open between requests: making one costs more than a small request. Pure."""

import http.client
import select
import time
from collections import defaultdict
from threading import Lock
from typing import Final

LONGEST_IDLE: Final = 1.0
"""Seconds after which an idle connection is used no more; gunicorn closes its side after two."""

MOST_IDLE: Final = 16
"""Idle connections that are kept for each address."""

TIMEOUT: Final = 60
"""Seconds to wait for a reply."""

Address = tuple[bool, str, int | None]
"""Whether it is https, host, and port."""


class Connections:
    """Idle connections by address, for all threads of a process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._idle: dict[Address, list[tuple[http.client.HTTPConnection, float]]] = defaultdict(list)

    def take(self, address: Address) -> http.client.HTTPConnection:
        """An idle connection that still seems to be open, or a new one."""
        while kept := self._newest(address):
            connection, since = kept
            if time.monotonic() - since < LONGEST_IDLE and _is_quiet(connection):
                return connection
            connection.close()
        secure, host, port = address
        connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        return connect(host, port, timeout=TIMEOUT)

    def give(self, address: Address, connection: http.client.HTTPConnection) -> None:
        """Keep a connection, whose reply was read to its end, for the next request."""
        with self._lock:
            if connection.sock is not None and len(self._idle[address]) < MOST_IDLE:
                self._idle[address].append((connection, time.monotonic()))
                return
        connection.close()

    def _newest(self, address: Address) -> tuple[http.client.HTTPConnection, float] | None:
        with self._lock:
            return self._idle[address].pop() if self._idle[address] else None


def _is_quiet(connection: http.client.HTTPConnection) -> bool:
    """Whether nothing came since the last reply; an end of the connection would be to read."""
    try:
        return not select.select([connection.sock], [], [], 0)[0]
    except (OSError, ValueError):
        return False
