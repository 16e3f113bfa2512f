"""200 pairs on real processes: real client, a model on a bad day, SQLite, the embedded worker."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judging.endpoints.server import ChatServer, mixed
from tests.judging.processes import Arena, assert_exact

pytestmark = pytest.mark.processes

PAIRS = 200
CONCURRENCY = 8


@pytest.fixture
def bad_day() -> Iterator[ChatServer]:
    """Answers one request in five badly, and some texts never."""
    with ChatServer(mixed(7, delay=0.05, permanent=0.05)) as server:
        yield server


@pytest.fixture
def arena_process(tmp_path: Path, bad_day: ChatServer) -> Iterator[Arena]:
    """A seeded arena, not started yet: 20 prompts and 5 contestants are 200 pairs."""
    arena = Arena(tmp_path, WORKER_CONCURRENCY=str(CONCURRENCY))
    arena.seed(prompts=20, contestants=5, url=bad_day.url)
    try:
        yield arena
    finally:
        arena.kill()


def test_200_pairs_end_as_scored_unscored_or_failed(arena_process: Arena, bad_day: ChatServer) -> None:
    arena_process.start()
    output, errors = arena_process.judge().communicate(timeout=300)
    assert f"Assigned   {PAIRS}" in output, errors
    assert "Run 1 is finished." in output
    counts = arena_process.counts()
    assert_exact(counts, bad_day.answered(), PAIRS)
    assert min(counts["scored"], counts["unscored"], counts["assignments"]["failed"]) > 0
    assert "abandoned" not in counts["calls"]
