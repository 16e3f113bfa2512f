"""What a judge worker believes of the arena, and which keys it uses."""

from dataclasses import asdict
from typing import Any

import pytest

from judging.worker.arena import Arena, JudgeInfo, WorkerError, key_of
from judging.worker.arena_client import ArenaClient, ArenaReply

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
