"""A real arena is killed in the middle of an import: nothing is half done, and in the end it is done once."""

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.judging.processes import Arena
from tests.waiting import eventually

pytestmark = pytest.mark.processes

PROMPTS = 15_000
UPLOAD = f"""
import json
from django.core.files.base import ContentFile
from arena.models import ImportJob, Study
from arena.data.uploads import jobs
said = dict(contestant="A", rater="ann", score=3)
lines = (json.dumps(dict(prompt=str(number), **said)) for number in range({PROMPTS}))
job = ImportJob.objects.create(study=Study.objects.create(slug="s", name="S"))
jobs.store(job, [ContentFile(chr(10).join(lines).encode(), "scores.jsonl")])
ImportJob.objects.update(state="applying")
"""


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    """An arena that is not started yet, with an import that is to be applied."""
    found = Arena(tmp_path, WORKER_CONCURRENCY="2", SWEEP_SECONDS="0.2")
    found.run(UPLOAD)
    try:
        yield found
    finally:
        found.kill()


def is_writing(folder: Path) -> bool:
    """Whether somebody has kept all others from writing for longer than anything but an import does."""
    for _ in range(10):
        connection = sqlite3.connect(folder / "arena.sqlite3", timeout=0)
        try:
            connection.execute("BEGIN IMMEDIATE")
            return False
        except sqlite3.OperationalError:
            time.sleep(0.02)
        finally:
            connection.close()
    return True


def test_killed_twice_applied_once(arena: Arena, tmp_path: Path) -> None:
    def one(query: str) -> Any:
        return arena.query(query)[0][0]

    for attempt in (1, 2):
        arena.start()
        eventually(lambda: one("SELECT attempts FROM arena_importjob") == attempt)  # noqa: B023
        eventually(lambda: is_writing(tmp_path))
        arena.kill()
        assert one("SELECT state FROM arena_importjob") == "applying"
        assert one("SELECT count(*) FROM arena_prompt") == 0
        assert one("SELECT count(*) FROM arena_score") == 0
    arena.start()
    eventually(lambda: one("SELECT state FROM arena_importjob") == "applied")
    for table in ("prompt", "completion", "score"):
        assert one(f"SELECT count(*) FROM arena_{table}") == PROMPTS  # noqa: S608
    eventually(lambda: one("SELECT count(*) FROM arena_importchunk") == 0)
