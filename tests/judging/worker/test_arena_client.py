"""What a judge worker believes of the arena, of something that is none, or of a hostile one, and its keys."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from judging.worker import arena_client
from judging.worker.arena import Arena, JudgeInfo, WorkerError, hand_in, key_of
from judging.worker.arena_client import ArenaClient, ArenaReply, ArenaUnreachableError


@pytest.fixture
def answering() -> Iterator[Callable[..., ArenaClient]]:
    """A client of a server that gives every request the same body, with status 200.

    ``missing`` bytes more than are sent are promised, as by a server that dies on the way.
    """
    body, promised = b"", 0

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            if promised:
                self.send_header("Content-Length", str(promised))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - the server wants this name

        def log_message(self, *args: Any) -> None:
            """Nothing."""

    def answer(given: bytes, missing: int = 0) -> ArenaClient:
        nonlocal body, promised
        body, promised = given, len(given) + missing if missing else 0
        return ArenaClient("arena_x", f"http://127.0.0.1:{server.server_port}")

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield answer
        server.shutdown()


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"\xff", b"[" * 100_000, b"{" + b'"a":{' * 100_000])
def test_what_is_no_object_is_an_empty_one(answering: Callable[[bytes], ArenaClient], body: bytes) -> None:
    assert answering(body).get("/judges/far/").body == {}


def test_a_reply_without_end_is_not_read_to_it(
    answering: Callable[[bytes], ArenaClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arena_client, "LONGEST_REPLY", 1000)
    assert answering(b'{"a": 1}' + b" " * 10_000).get("/judges/far/").body == {"a": 1}
    assert answering(b'{"a": "' + b"x" * 10_000 + b'"}').get("/judges/far/").body == {}


@pytest.mark.parametrize("body", [b"", b'{"assignment": "Tf0', b"{}"])
def test_half_a_reply_is_none(answering: Callable[..., ArenaClient], body: bytes) -> None:
    with pytest.raises(ArenaUnreachableError, match="IncompleteRead"):
        answering(body, missing=7).post("/assignments/", {})


def test_what_is_refused_together_is_handed_in_one_by_one_and_what_cannot_be_read_has_failed() -> None:
    sizes: list[int] = []

    def take(body: bytes) -> ArenaReply:
        replies = json.loads(body)["replies"]
        sizes.append(len(replies))
        if any("reply" in each for each in replies):
            return ArenaReply(413, {"detail": "Too long."})
        return ArenaReply(
            200, {"results": [{"of": each["of"], **each.get("failure", {})} for each in replies]}
        )

    results = [{"of": "a"}, {"of": "b", "reply": {"text": "6", "refusal": "", "tokens": []}}, {"of": "c"}]
    failed = {
        "kind": "refused_answer",
        "detail": "the arena refuses the reply: Too long.",
        "retryable": False,
    }
    assert list(hand_in(take, results)) == [{"of": "a"}, {"of": "b", **failed}, {"of": "c"}]
    assert sizes == [3, 1, 1, 1, 1]
    assert list(hand_in(take, [{"of": "a"}, {"of": "c"}])) == [{"of": "a"}, {"of": "c"}]
    assert sizes[5:] == [2]


def test_a_long_sentence_is_cut(answering: Callable[[bytes], ArenaClient]) -> None:
    reply = answering(json.dumps({"detail": "x" * 10_000}).encode()).get("/judges/far/")
    assert reply.detail == "x" * 600


JUDGE = JudgeInfo("far", "Far", "far-1", "https://api.example.com/v1", "FAR_API_KEY", 1, 6)

INFINITE = float("inf")
CLAIM: dict[str, Any] = {
    "assignment": "Tf0vEjYz3sOeVQwK",
    "lease_seconds": 300,
    "request": {
        "attempt": 2,
        "key": "rate",
        "model": "far-1",
        "messages": [{"role": "user", "content": "Compare."}],
        "timeout": 60,
        "max_tokens": None,
        "temperature": None,
        "options": {"top_p": 0.5},
        "logprobs": False,
        "reply_schema": None,
        "base_url": "https://api.example.com/v1",
        "key_variable": "FAR_API_KEY",
    },
}


def claiming(body: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    """What a worker makes of a claim."""
    monkeypatch.setattr(ArenaClient, "post", lambda *_: ArenaReply(201, body))
    return Arena(ArenaClient("x", "http://127.0.0.1:9"), "far", "box", print).claim(1)


def test_a_claim_becomes_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    [task] = claiming(CLAIM, monkeypatch)
    assert (task.call, task.lease) == (("Tf0vEjYz3sOeVQwK", "rate", 2), 300.0)


@pytest.mark.parametrize(
    "change",
    [
        {"request": None},
        {"assignment": None, "request": {}},
        {"request": {**CLAIM["request"], "timeout": "long"}},
        {"lease_seconds": []},
        {"request": {**CLAIM["request"], "attempt": INFINITE}},
    ],
)
def test_an_odd_claim_is_refused(change: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WorkerError, match="This version does not understand the arena's work"):
        claiming({**CLAIM, **change}, monkeypatch)


def test_an_odd_judge_is_refused() -> None:
    assert JudgeInfo.of({**asdict(JUDGE), "news": 1}) == JUDGE
    with pytest.raises(WorkerError, match="does not understand the arena's description of the judge: model"):
        JudgeInfo.of({**asdict(JUDGE), "model": None})
    with pytest.raises(WorkerError, match="The judge far has no endpoint"):
        JudgeInfo.of({**asdict(JUDGE), "base_url": ""})


def test_the_key_comes_from_a_variable_and_is_not_shown() -> None:
    environment = {"FAR_API_KEY": "a", "SECRET_KEY": "c", "ARENA_TOKEN": "d"}
    assert key_of("Far", "FAR_API_KEY", environment) == "a"
    assert key_of("Far", "", environment) == "none"
    with pytest.raises(WorkerError, match=r"FAR_API_KEY, which holds the key of Far, is not set on this"):
        key_of("Far", "FAR_API_KEY", {})
    with pytest.raises(WorkerError, match="The value of FAR_API_KEY cannot be sent: it holds a line") as odd:
        key_of("Far", "FAR_API_KEY", {"FAR_API_KEY": "sk-far\n"})
    assert "sk-far" not in str(odd.value)


@pytest.mark.parametrize("variable", ["SECRET_KEY", "ARENA_TOKEN", "database_url", "BROKER_URL"])
def test_our_own_secrets_are_sent_to_no_endpoint(variable: str) -> None:
    with pytest.raises(WorkerError, match=f"{variable} holds a secret of the arena itself"):
        key_of("Far", variable, {variable: "x"})
