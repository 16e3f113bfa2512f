"""A client of the arena's API v1 without models, as any rater could write it."""

import http.client
import json
import select
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings

from judging.protocols.deciding import TextScore
from judging.protocols.replies import ReplyText, Verdict

# Connections are kept open between requests: making one costs more than a small request.

LONGEST_IDLE: Final = 1.0
"""Seconds after which an idle connection is dropped; many servers close theirs after two."""

MOST_IDLE: Final = 16  # idle connections kept for each address
TIMEOUT: Final = 60  # seconds to wait for a reply

Address = tuple[bool, str, int | None]  # whether it is https, host, port


class Connections:
    def __init__(self) -> None:
        self._lock = Lock()
        self._idle: dict[Address, list[tuple[http.client.HTTPConnection, float]]] = defaultdict(list)

    def take(self, address: Address) -> http.client.HTTPConnection:
        """An idle connection that still seems open, or a new one."""
        while kept := self._newest(address):
            connection, since = kept
            if time.monotonic() - since < LONGEST_IDLE and _is_quiet(connection):
                return connection
            connection.close()
        secure, host, port = address
        connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        return connect(host, port, timeout=TIMEOUT)

    def give(self, address: Address, connection: http.client.HTTPConnection) -> None:
        """Keep a connection whose reply was read to its end."""
        with self._lock:
            if connection.sock is not None and len(self._idle[address]) < MOST_IDLE:
                self._idle[address].append((connection, time.monotonic()))
                return
        connection.close()

    def _newest(self, address: Address) -> tuple[http.client.HTTPConnection, float] | None:
        with self._lock:
            return self._idle[address].pop() if self._idle[address] else None


def _is_quiet(connection: http.client.HTTPConnection) -> bool:
    """Whether nothing is to be read; the end of a connection would be."""
    try:
        return not select.select([connection.sock], [], [], 0)[0]
    except (OSError, ValueError):
        return False


LONGEST_REPLY = 64 * 2**20  # bytes; a claim holds two completions and the messages made of them
MOST_ANSWERS = 100
MOST_BYTES = 2_000_000  # bytes in one request; the arena reads 2.5 MB
LONGEST_DETAIL = 600

FINAL = frozenset({400, 413, 422})  # statuses that the same answer would get again


class ArenaUnreachableError(Exception):
    """The arena did not answer; the message names its address."""


@dataclass(frozen=True)
class ArenaReply:
    """A status and a JSON object; {} where the body was none."""

    status: int
    body: dict[str, Any]

    @property
    def detail(self) -> str:
        return str(self.body.get("detail") or f"HTTP {self.status}")[:LONGEST_DETAIL]

    @property
    def refuses_answer(self) -> bool:
        """Whether the answer itself was refused, not the moment or the way it was sent."""
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
    """The body of POST /comparisons/."""
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


def score_to(
    assignment: str,
    score: TextScore,
    scale: tuple[int, int],
    reply: ReplyText,
    seconds: float | None,
    expected: float | None = None,
) -> dict[str, object]:
    """The body of POST /scores/."""
    return {
        "assignment": assignment,
        "value": score.value,
        "lowest": scale[0],
        "highest": scale[1],
        "reason": score.reason or None,
        "expected": expected,
        "raw_reply": reply.text or reply.refusal,
        "rationale": score.rationale,
        "seconds": seconds,
    }


def answers_to(
    assignment: str,
    verdicts: Mapping[int, Verdict],
    reply_to: Callable[[int], tuple[ReplyText, float | None]],
    seconds: float | None,
) -> dict[str, object]:
    """The body of POST /answers/; reply_to gives the reply about a requirement, and its seconds."""
    answers = []
    for position, verdict in verdicts.items():
        reply, taken = reply_to(position)
        answers.append(
            {
                "position": position,
                "value": None if verdict.rating is None else YES_NO[verdict.rating],
                "reason": verdict.reason or None,
                "raw_reply": reply.text or reply.refusal,
                "rationale": verdict.rationale,
                "seconds": taken,
            }
        )
    return {"assignment": assignment, "answers": answers, "seconds": seconds}


YES_NO: Final = {1: "yes", 2: "no"}  # values by rating


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
        return self._ask("POST", path, json.dumps(body).encode())

    def patch(self, path: str, body: Mapping[str, object]) -> ArenaReply:
        return self._ask("PATCH", path, json.dumps(body).encode())

    def submit(
        self, answers: Sequence[Mapping[str, object]], kind: str = "comparisons"
    ) -> list[ArenaReply | ArenaUnreachableError]:
        """Submit comparisons, scores or answers in batches; returns each one's own reply or error."""
        outcomes: list[ArenaReply | ArenaUnreachableError] = []
        for batch in _batches([json.dumps(answer).encode() for answer in answers]):
            try:
                outcomes += self._submit(batch, kind)
            except ArenaUnreachableError as error:
                outcomes += [error] * len(batch)
        return outcomes

    def _submit(self, answers: Sequence[bytes], kind: str) -> list[ArenaReply]:
        if len(answers) == 1:
            return [self._ask("POST", f"/{kind}/", answers[0])]
        body = f'{{"{kind}": ['.encode() + b", ".join(answers) + b"]}"
        reply = self._ask("POST", f"/{kind}/batch/", body)
        if reply.status in FINAL:  # for one of them, perhaps: each by itself learns of its own
            return [single for answer in answers for single in self._submit([answer], kind)]
        results = reply.body.get("results")
        if reply.status == 200 and isinstance(results, list) and len(results) == len(answers):
            return [_result(result) for result in results]
        # Only what says nothing of the single answers: no token, say, or a database that is away.
        return [ArenaReply(reply.status, {"detail": reply.detail})] * len(answers)

    def _ask(self, method: str, path: str, body: bytes | None) -> ArenaReply:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        address = (self._url.scheme == "https", self._url.hostname or "", self._url.port)
        connection = _connections.take(address)
        try:
            connection.request(method, f"{self._url.path}/api/v1{path}", body, headers)
            response = connection.getresponse()
            read = response.read(LONGEST_REPLY)
            if response.length and len(read) < LONGEST_REPLY:  # with a limit, http.client takes half a body
                raise http.client.IncompleteRead(read, response.length)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise ArenaUnreachableError(
                f"No arena answers at {self._address} ({type(error).__name__}: {error})"
            ) from error
        except BaseException:
            connection.close()
            raise
        if response.will_close or not response.isclosed():
            connection.close()
        else:
            _connections.give(address, connection)
        return ArenaReply(response.status, _decoded(read))


_connections = Connections()


def _batches(answers: Sequence[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    for answer in answers:
        size = sum(len(each) + 2 for each in batch)
        if batch and (len(batch) == MOST_ANSWERS or size + len(answer) > MOST_BYTES):
            yield batch
            batch = []
        batch.append(answer)
    if batch:
        yield batch


def _result(result: object) -> ArenaReply:
    found = result if isinstance(result, dict) else {}
    status, body = found.get("status"), found.get("body")
    if isinstance(status, int) and isinstance(body, dict):
        return ArenaReply(status, body)
    return ArenaReply(502, {})


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        decoded = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}
