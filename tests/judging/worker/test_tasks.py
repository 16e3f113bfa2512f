"""What a judge worker believes of the arena, and which keys it uses."""

from dataclasses import asdict, replace
from typing import Any

import pytest

from judging.protocols.answer_scales import answer_scale
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.protocol import ConfiguredProtocol
from judging.worker.arena import JudgeInfo, Task, WorkerError, check_wording, key_of

HASH = ConfiguredProtocol(PROTOCOLS["likert"], answer_scale("likert", 8)).prompt_hash
JUDGE = JudgeInfo(
    "far",
    "Far",
    "far-1",
    "https://api.example.com/v1",
    "FAR_API_KEY",
    "likert",
    HASH,
    "likert",
    8,
    {},
    {},
    1,
    6,
)

INFINITE = float("inf")
CLAIM: dict[str, Any] = {
    "assignment": "Tf0vEjYz3sOeVQwK",
    "kind": "compare",
    "lease_seconds": 300,
    "request": {
        "points": 8,
        "attempt": 2,
        "key": "rate",
        "form": "likert",
        "protocol": "likert",
        "prompt_hash": "0" * 64,
        "model": "far-1",
        "messages": [{"role": "user", "content": "Compare."}],
        "timeout": 60,
        "max_tokens": None,
        "temperature": None,
        "options": {"top_p": 0.5},
    },
}


def test_a_claim_becomes_a_request() -> None:
    task = Task.of(CLAIM)
    assert (task.entry.assignment, task.entry.attempt, task.lease) == ("Tf0vEjYz3sOeVQwK", 2, 300.0)
    assert (task.request.model, task.request.timeout, task.request.options) == ("far-1", 60.0, {"top_p": 0.5})


@pytest.mark.parametrize(
    "change",
    [
        {"request": None},
        {"assignment": None, "request": {}},
        {"request": {**CLAIM["request"], "points": "many"}},
        {"lease_seconds": []},
        {"request": {**CLAIM["request"], "points": INFINITE}},
    ],
)
def test_an_odd_claim_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(WorkerError, match="This version does not understand the arena's work"):
        Task.of({**CLAIM, **change})


def test_an_odd_judge_is_refused_and_only_the_very_wording_will_do() -> None:
    assert JudgeInfo.of({**asdict(JUDGE), "news": 1}) == JUDGE
    with pytest.raises(
        WorkerError, match="does not understand the arena's description of the judge: model, points"
    ):
        JudgeInfo.of({**asdict(JUDGE), "model": None, "points": "8"})
    with pytest.raises(WorkerError, match="The judge far has no endpoint"):
        JudgeInfo.of({**asdict(JUDGE), "base_url": ""})
    check_wording(JUDGE)
    changes: list[dict[str, Any]] = [{"points": 5}, {"wording": {"rate": "$query $answers $verdict"}}]
    for change in changes:
        with pytest.raises(WorkerError, match="words protocol likert differently from this worker"):
            check_wording(replace(JUDGE, **change))
    with pytest.raises(WorkerError, match='This worker knows no protocol "future"'):
        check_wording(replace(JUDGE, protocol="future"))


def test_the_key_comes_from_a_variable_and_is_not_shown() -> None:
    environment = {"FAR_API_KEY": "a", "OTHER_API_KEY": "b", "SECRET_KEY": "c", "ARENA_TOKEN": "d"}
    assert key_of(JUDGE, environment) == ("FAR_API_KEY", "a")
    assert key_of(JUDGE, environment, "OTHER_API_KEY") == ("OTHER_API_KEY", "b")
    assert key_of(replace(JUDGE, key_variable=""), environment) == ("", "none")
    with pytest.raises(
        WorkerError, match=r"FAR_API_KEY, which holds the key of Far, is not set on this machine"
    ):
        key_of(JUDGE, {})
    with pytest.raises(
        WorkerError, match="The value of FAR_API_KEY cannot be sent: it holds a line break"
    ) as odd:
        key_of(JUDGE, {"FAR_API_KEY": "sk-far\n"})
    assert "sk-far" not in str(odd.value)


@pytest.mark.parametrize("variable", ["SECRET_KEY", "ARENA_TOKEN", "database_url", "BROKER_URL"])
def test_our_own_secrets_are_sent_to_no_endpoint(variable: str) -> None:
    for judge, override in ((replace(JUDGE, key_variable=variable), ""), (JUDGE, variable)):
        with pytest.raises(WorkerError, match=f"{variable} holds a secret of the arena itself"):
            key_of(judge, {variable: "x", "FAR_API_KEY": "y"}, override)
