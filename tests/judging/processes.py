"""A real arena in processes of its own: `manage.py serve` on a private SQLite database."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from tests import migrated
from tests.arena.process.processes import free_port

ROOT = Path(__file__).parents[2]

SEED = """
from django.core.management import call_command
from tests.factories import judge_with, make_question, make_small_study
from judging.judges.services import create_judge
study = make_small_study(slug="pairs", prompts={prompts}, contestants={contestants})
for prompt in study.prompts.all():
    for _ in range({requirements}):
        make_question(prompt=prompt)
judge = judge_with(model="loopback", base_url="{url}", timeout=10, protocol="{protocol}")
create_judge("loopback", "Loopback", judge)
call_command("api_token", "loopback", "--label", "box")
"""


class Arena:
    """One arena with its own folder, database and port; stopped, killed and started at will."""

    def __init__(self, folder: Path, **environment: str) -> None:
        port, file = free_port(), folder / "arena.sqlite3"
        self.url = f"http://127.0.0.1:{port}"
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self.environment = {
            **kept,
            "PORT": str(port),
            "VAR_DIR": str(folder),
            "DATABASE_URL": f"sqlite:///{file}",
            "SECRET_KEY": "only-for-this-test",
            "LOG_LEVEL": "ERROR",
            "SWEEP_SECONDS": "1",
            "JUDGE_RETRY_SECONDS": "0.05",
            **environment,
        }
        self._server: subprocess.Popen[bytes] | None = None
        if "DATABASE_URL" in environment:
            self.manage("migrate", "--verbosity=0", "--skip-checks")
        else:
            migrated.migrate(file, self.manage)

    def manage(self, *arguments: str) -> str:
        """Run a management command to its end; its standard output."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def seed(self, prompts: int, contestants: int, url: str, requirements: int = 0) -> str:
        """A study "pairs", and a judge "loopback" at ``url``, which checks requirements if there are any.

        The judge's token.
        """
        protocol = "requirements" if requirements else "likert"
        seed = SEED.format(
            prompts=prompts, contestants=contestants, url=url, requirements=requirements, protocol=protocol
        )
        return self.manage("shell", "-v0", "-c", seed).split()[-1]

    def start(self) -> None:
        """Start serving and wait until it answers."""
        self._server = subprocess.Popen(
            [sys.executable, "manage.py", "serve"],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        for _ in range(1200):
            try:
                urllib.request.urlopen(f"{self.url}/healthz", timeout=1)  # noqa: S310
                return
            except OSError:
                assert self._server.poll() is None, "the arena ended while starting"
                time.sleep(0.1)
        raise AssertionError("the arena did not start")

    def kill(self) -> None:
        """SIGKILL every process of the arena at once."""
        if self._server:
            os.killpg(self._server.pid, signal.SIGKILL)
            self._server.wait()
            self._server = None

    def judge(self, *options: str) -> "subprocess.Popen[str]":
        """Start `manage.py judge` for the seeded study in the background."""
        return subprocess.Popen(
            [sys.executable, "manage.py", "judge", "pairs", "--judge", "loopback", *options],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def counts(self) -> dict[str, Any]:
        """What stands in the database."""
        comparisons = self.query("SELECT status, pair_id FROM arena_comparison")
        calls = self.query("SELECT CAST(messages AS text), state, assignment_id FROM judging_judgecall")
        statuses = Counter(status for status, _ in comparisons)
        return {
            "assignments": Counter(state for (state,) in self.query("SELECT state FROM arena_assignment")),
            "comparisons": len(comparisons),
            "scored": statuses["scored"],
            "unscored": statuses["unscored"],
            "compared": len({pair for _, pair in comparisons}),
            "calls": Counter(state for _, state, _ in calls),
            "texts": [(json.loads(messages)[-1]["content"], *call) for messages, *call in calls],
        }

    def query(self, sql: str) -> list[Any]:
        """The rows of an SQL query, past the code under test."""
        url = self.environment["DATABASE_URL"]
        is_file = url.startswith("sqlite")
        opened = sqlite3.connect(urlsplit(url).path, timeout=30) if is_file else psycopg.connect(url)
        with closing(opened):
            return opened.execute(sql).fetchall()


def assert_exact(counts: dict[str, Any], asked: Counter[str], expected: int) -> None:
    """Scored + unscored + failed = expected; none doubled; what was asked is what the call records say."""
    failed = counts["assignments"].get("failed", 0)
    assert counts["scored"] + counts["unscored"] + failed == expected, counts["assignments"]
    assert counts["comparisons"] == counts["compared"]
    assert set(counts["assignments"]) <= {"submitted", "failed"}
    recorded = Counter(text for text, _, _ in counts["texts"])
    assert not asked - recorded, "something was asked without a record"
    committed = Counter(assignment for _, state, assignment in counts["texts"] if state == "replied")
    assert set(committed.values()) == {1}, "a committed reply was asked for again"
