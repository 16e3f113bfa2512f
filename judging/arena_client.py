"""A client of the arena's API v1, as any rater on any machine could write it. It imports no models."""

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

TIMEOUT = 60
"""Seconds to wait for the arena."""


class ArenaUnreachableError(Exception):
    """The arena did not answer; the message names its address."""


@dataclass(frozen=True)
class ArenaReply:
    """Status and decoded body; the body is {} where it was no JSON object."""

    status: int
    body: dict[str, Any]

    @property
    def detail(self) -> str:
        """What the arena says went wrong."""
        return str(self.body.get("detail") or f"HTTP {self.status}")


class ArenaClient:
    """Talks to settings.ARENA_URL with one bearer token."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._url = urlsplit(settings.ARENA_URL)

    def get(self, path: str) -> ArenaReply:
        """GET a path below /api/v1; raises ArenaUnreachableError."""
        return self._ask("GET", path, None)

    def post(self, path: str, body: dict[str, object]) -> ArenaReply:
        """POST a JSON object to a path below /api/v1; raises ArenaUnreachableError."""
        return self._ask("POST", path, json.dumps(body).encode())

    def _ask(self, method: str, path: str, body: bytes | None) -> ArenaReply:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        secure = self._url.scheme == "https"
        connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = connect(self._url.hostname or "", self._url.port, timeout=TIMEOUT)
        try:
            connection.request(method, f"{self._url.path}/api/v1{path}", body, headers)
            response = connection.getresponse()
            return ArenaReply(response.status, _decoded(response.read()))
        except (OSError, http.client.HTTPException) as error:
            raise ArenaUnreachableError(
                f"No arena answers at {settings.ARENA_URL} ({type(error).__name__}: {error})"
            ) from error
        finally:
            connection.close()


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        decoded = json.loads(body)
    except ValueError:
        return {}
    return decoded if isinstance(decoded, dict) else {}
