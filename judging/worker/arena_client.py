"""A client of the arena's API v1 without models, as any rater could write it."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings

from judging.worker.worker import AwayError

TIMEOUT: Final = 60  # seconds to wait for a reply
LONGEST_REPLY = 64 * 2**20  # bytes; a claim holds two completions and the messages made of them
LONGEST_DETAIL = 600


class ArenaUnreachableError(AwayError):
    """The arena did not answer; the message names its address."""


@dataclass(frozen=True)
class ArenaReply:
    """A status and a JSON object; {} where the body was none."""

    status: int
    body: dict[str, Any]

    @property
    def detail(self) -> str:
        return str(self.body.get("detail") or f"HTTP {self.status}")[:LONGEST_DETAIL]


class ArenaClient:
    """One arena, settings.ARENA_URL by default. Methods take paths below /api/v1 and raise
    ArenaUnreachableError.
    """

    def __init__(self, token: str, url: str = "") -> None:
        self._token = token
        self._address = url or settings.ARENA_URL
        self._url = urlsplit(self._address)

    def get(self, path: str) -> ArenaReply:
        return self._ask("GET", path, None)

    def post(self, path: str, body: Mapping[str, object]) -> ArenaReply:
        return self.post_bytes(path, json.dumps(body).encode())

    def post_bytes(self, path: str, body: bytes) -> ArenaReply:
        return self._ask("POST", path, body)

    def patch(self, path: str, body: Mapping[str, object]) -> ArenaReply:
        return self._ask("PATCH", path, json.dumps(body).encode())

    def _ask(self, method: str, path: str, body: bytes | None) -> ArenaReply:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        connect = http.client.HTTPSConnection if self._url.scheme == "https" else http.client.HTTPConnection
        connection = connect(self._url.hostname or "", self._url.port, timeout=TIMEOUT)
        try:
            connection.request(method, f"{self._url.path}/api/v1{path}", body, headers)
            response = connection.getresponse()
            read = response.read(LONGEST_REPLY)
            if response.length and len(read) < LONGEST_REPLY:  # with a limit, http.client takes half a body
                raise http.client.IncompleteRead(read, response.length)
        except (OSError, http.client.HTTPException) as error:
            raise ArenaUnreachableError(
                f"No arena answers at {self._address} ({type(error).__name__}: {error})"
            ) from error
        finally:
            connection.close()
        return ArenaReply(response.status, _decoded(read))


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        decoded = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}
