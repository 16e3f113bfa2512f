"""A client of the arena's API v1, as any rater on any machine could write it. It imports no models."""

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from judging.parsers import ReplyText, Verdict

TIMEOUT = 60
"""Seconds to wait for the arena."""

LONGEST_REPLY = 64 * 2**20
"""Bytes of a reply that are read; a claim holds two completions and the messages made of them."""

LONGEST_DETAIL = 600
"""Characters of what the arena says went wrong."""

FINAL = frozenset({400, 413, 422})
"""Refusals that the same answer would meet again."""


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
        return str(self.body.get("detail") or f"HTTP {self.status}")[:LONGEST_DETAIL]

    @property
    def refuses_answer(self) -> bool:
        """Whether the arena refused the answer itself, not the moment or the way it was sent."""
        refuses_assignment = self.status == 403 and self.body.get("field") == "assignment"
        return "detail" in self.body and (self.status in FINAL or refuses_assignment)


def answer_to(
    assignment: str,
    verdict: Verdict,
    points: int,
    reply: ReplyText,
    seconds: float | None,
    expected: float | None = None,
) -> dict[str, object]:
    """The body of POST /comparisons/ that gives a judge's verdict with the reply it was read from."""
    return {
        "assignment": assignment,
        "rating": verdict.rating,
        "reason": verdict.reason or None,
        "expected": expected,
        "scores": [round(float(score), 3) for score in verdict.scores] if verdict.scores else None,
        "points": points,
        "raw_reply": reply.text or reply.refusal,
        "rationale": verdict.rationale,
        "seconds": seconds,
    }


class ArenaClient:
    """Talks to one arena, settings.ARENA_URL unless another is named, with one bearer token."""

    def __init__(self, token: str, url: str = "") -> None:
        self._token = token
        self._address = url or settings.ARENA_URL
        self._url = urlsplit(self._address)

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
            read = response.read(LONGEST_REPLY)
            if response.length and len(read) < LONGEST_REPLY:  # with a limit, http.client takes half a body
                raise http.client.IncompleteRead(read, response.length)
            return ArenaReply(response.status, _decoded(read))
        except (OSError, http.client.HTTPException) as error:
            raise ArenaUnreachableError(
                f"No arena answers at {self._address} ({type(error).__name__}: {error})"
            ) from error
        finally:
            connection.close()


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        decoded = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}
