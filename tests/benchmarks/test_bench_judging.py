"""Pairs judged per second through our whole path, against the bare client; run by ``make bench``.

Our path is a real arena process: claim, call record, model, reply record, submission through the API.
The bare client asks the same loopback model the same questions with as many threads and keeps nothing.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from openai import OpenAI

from tests.judging.processes import Arena
from tests.judging.server import Answer, ChatServer

PAIRS = 500
THREADS = 8

TIMES = """
from judging.models import JudgeRun
run = JudgeRun.objects.get()
print((run.finished_at - run.started_at).total_seconds())
"""


@pytest.fixture(params=[0.0, 0.25], ids=["instant model", "model of 0.25 s"])
def model(request: pytest.FixtureRequest) -> Iterator[ChatServer]:
    delay: float = request.param
    with ChatServer(lambda body: Answer("5\nBoth are fine.", delay=delay)) as server:
        yield server


def bare(url: str, requests: list[dict[str, Any]]) -> float:
    """Seconds the client alone needs for the same requests."""
    client = OpenAI(base_url=url, api_key="none", max_retries=0)
    started = time.perf_counter()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda body: client.chat.completions.create(**body), requests))
    return time.perf_counter() - started


def test_pairs_per_second(model: ChatServer, tmp_path: Path) -> None:
    arena = Arena(tmp_path, WORKER_CONCURRENCY=str(THREADS))
    arena.seed(prompts=50, contestants=5, url=model.url)
    arena.start()
    try:
        output, errors = arena.judge().communicate(timeout=200)
        assert f"Scored     {PAIRS}" in output, errors
        ours = float(arena.manage("shell", "-v0", "-c", TIMES))
    finally:
        arena.kill()
    alone = bare(model.url, list(model.requests))
    print(
        f"\n{PAIRS} pairs, {THREADS} at a time: {PAIRS / ours:.1f} pairs/s through the arena, "
        f"{PAIRS / alone:.1f} requests/s by the client alone, ratio {alone / ours:.2f}"
    )
