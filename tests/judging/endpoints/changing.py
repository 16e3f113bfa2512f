"""An endpoint that changes its behaviour every few calls, through all that endpoints were seen to do."""

import json
import threading
from collections import Counter
from typing import Any, Final, NamedTuple

from tests.judging.endpoints.server import Answer, text_of

LONG: Final = 3.0
"""Seconds that a judge must not wait."""


def said(body: object) -> bytes:
    return json.dumps(body).encode()


def error(status: int, words: str, **headers: str) -> Answer:
    return Answer(status=status, raw=said({"error": {"message": words}}), headers=headers)


def completion(content: object, **message: object) -> dict[str, Any]:
    choice = {"index": 0, "message": {"content": content, **message}, "finish_reason": "stop"}
    return {"choices": [choice], "model": "loopback-1", "usage": {"prompt_tokens": 9, "completion_tokens": 2}}


def stream(*pieces: str) -> bytes:
    chunks = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode() + b"data: [DONE]\n\n"


class Behaviour(NamedTuple):
    """What an endpoint does. ``completes``: its reply is there, so nobody may ask for it again."""

    name: str
    answer: Answer
    completes: bool = True


PARTS = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "6\nB."}]
PLAIN = {"Content-Type": "text/plain"}
HTML = {"Content-Type": "text/html"}
CREDIT = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}

BEHAVIOURS: Final = (
    Behaviour("a rating", Answer("5\nB.")),
    Behaviour("429 with a time", error(429, "slow down", **{"Retry-After": "1"}), completes=False),
    Behaviour("content in parts", Answer(raw=said(completion(PARTS)))),
    Behaviour("503", error(503, "overloaded"), completes=False),
    Behaviour("an end token", Answer("7<|im_end|>")),
    Behaviour("a page with status 200", Answer(raw=b"<html>Log in</html>", headers=HTML), completes=False),
    Behaviour("JSON called text", Answer(raw=said(completion("4\nBoth.")), headers=PLAIN)),
    Behaviour("an unknown model as 400", error(400, "Invalid model name"), completes=False),
    Behaviour("a stream", Answer(raw=stream("6", "\nB."), headers={"Content-Type": "text/event-stream"})),
    Behaviour("a reset", Answer(reset=True), completes=False),
    Behaviour("thinking before it", Answer("<think>Is it 3?</think>\n6")),
    Behaviour("402", error(402, "Payment required"), completes=False),
    Behaviour("bytes that are no UTF-8", Answer(raw=said(completion("6\nB.")).replace(b"B.", b"\xff\xfe"))),
    Behaviour("half a body", Answer(cut=True), completes=False),
    Behaviour("thinking and nothing else", Answer(raw=said(completion("", reasoning_content="Hm, 3?")))),
    Behaviour("500", error(500, "oops"), completes=False),
    Behaviour("a rating as JSON", Answer('{"rating": 6}')),
    Behaviour("insufficient_quota", Answer(status=429, raw=said(CREDIT)), completes=False),
    Behaviour("cut off by the limit", Answer("I begin with", finish_reason="length")),
    Behaviour("401", error(401, "Incorrect key"), completes=False),
    Behaviour("a refusal", Answer(None, refusal="I will not.")),
    Behaviour("429 without a time", error(429, "slow down"), completes=False),
    Behaviour("a filter", Answer("", finish_reason="content_filter")),
    Behaviour("an error as 200", Answer(raw=said({"error": {"message": "no slot"}})), completes=False),
    Behaviour("beyond the scale", Answer("12\nLong.")),
    Behaviour("silence", Answer(delay=LONG), completes=False),
    Behaviour("nothing", Answer("")),
    Behaviour("404", error(404, "The model does not exist"), completes=False),
    Behaviour("a connection that closes", Answer("3\nA.", close=True)),
    Behaviour("another model", Answer("5\nB.", model="loopback-2")),
)  # fmt: skip


class Changing:
    """A script that does each for so many calls of a model, one after the other, and then answers well."""

    def __init__(self, calls: int, behaviours: tuple[Behaviour, ...] = BEHAVIOURS) -> None:
        self._calls, self._behaviours = calls, behaviours
        self._asked: Counter[str] = Counter()
        self._completed: set[tuple[str, str]] = set()
        self._lock = threading.Lock()
        self.again = 0
        """Requests about what had its reply."""

    def __call__(self, body: dict[str, Any]) -> Answer:
        model, question = body["model"], (body["model"], text_of(body))
        with self._lock:
            number = self._asked[model] // self._calls
            self._asked[model] += 1
            self.again += question in self._completed
            now = self._behaviours[number] if number < len(self._behaviours) else self._behaviours[0]
            if now.completes:
                self._completed.add(question)
        return now.answer
