"""Requests to an arena's API: retried where that is safe, read page by page, with the arena's own errors."""

import time
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Final

import httpx2

TRIES: Final = 5
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 20.0
TIMEOUT: Final = 60.0
PAGE: Final = 100
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_COMPUTING: Final = 202


class ArenaError(Exception):
    """What an arena refused, in its own sentence.

    ``status`` is that of HTTP, None where no arena answers; ``field`` names the part of the request.
    """

    def __init__(self, message: str, status: int | None = None, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.field = status, field


class Transport:
    """Speaks to one arena, and asks again what fails in passing.

    Every write has a key of its own, under which the arena does it once.
    """

    def __init__(self, url: str, token: str, timeout: float = TIMEOUT) -> None:
        self.url = url.rstrip("/")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._client = httpx2.Client(base_url=f"{self.url}/api/v1/", headers=headers, timeout=timeout)

    def get(self, path: str, **query: Any) -> Any:
        """The reply, once what it takes has been computed. Raises ArenaError."""
        params = {name: _text(value) for name, value in query.items() if value is not None}
        while (reply := self._sent("GET", path, params=params)).status_code == _COMPUTING:
            time.sleep(FIRST_PAUSE)
        return reply.json()

    def post(self, path: str, body: Mapping[str, Any] | None = None, **options: Any) -> Any:
        """The reply to a write. Raises ArenaError."""
        return self._written("POST", path, body, options)

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """The reply to a change. Raises ArenaError."""
        return self._written("PATCH", path, body, {})

    def pages(self, path: str) -> Iterator[Mapping[str, Any]]:
        """The items of a list that comes in pages. Raises ArenaError."""
        offset = 0
        while True:
            page = self.get(path, limit=PAGE, offset=offset)
            yield from page["items"]
            offset += PAGE
            if offset >= page["count"]:
                return

    def _written(
        self, method: str, path: str, body: Mapping[str, Any] | None, options: Mapping[str, Any]
    ) -> Any:
        given = options if body is None else {**options, "json": body}
        key = {"Idempotency-Key": str(uuid.uuid4())}
        reply = self._sent(method, path, headers=key, **given)
        return reply.json() if reply.content else None

    def _sent(self, method: str, path: str, **options: Any) -> httpx2.Response:
        for number in range(1, TRIES + 1):
            try:
                reply = self._client.request(method, path, **options)
            except httpx2.TransportError as error:
                if number == TRIES:
                    raise ArenaError(f"No arena answers at {self.url} ({error}).") from error
                pause = 0.0
            else:
                if reply.is_success:
                    return reply
                if reply.status_code not in _PASSING or number == TRIES:
                    raise _refusal(reply)
                pause = _seconds(reply.headers.get("retry-after", ""))
            time.sleep(min(pause or FIRST_PAUSE * 2 ** (number - 1), LONGEST_PAUSE))
        raise AssertionError("the last try returns or raises")


def _refusal(reply: httpx2.Response) -> ArenaError:
    try:
        found = reply.json()
        return ArenaError(str(found["detail"]), reply.status_code, found.get("field"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return ArenaError(f"{reply.url} answers {reply.status_code} and is no arena.", reply.status_code)


def _seconds(text: str) -> float:
    return float(text) if text.isdecimal() else 0.0


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
