"""An arena whose judge rates the pairs of a small study, on a private SQLite database."""

import json
import subprocess
import sys
from collections import Counter
from typing import Any

from tests import processes
from tests.arena.process.processes import ROOT

SEED = """
from django.core.management import call_command
from tests.factories import judge_with, make_small_study
from judging.judges.services import create_judge
study = make_small_study(slug="pairs", prompts={prompts}, contestants={contestants})
judge = judge_with(model="loopback", base_url="{url}", timeout=10)
create_judge("loopback", "Loopback", judge)
call_command("api_token", "loopback", "--label", "box")
"""


class Arena(processes.Arena):
    """One that sweeps and asks again soon."""

    DEFAULTS = {"SWEEP_SECONDS": "1", "JUDGE_RETRY_SECONDS": "0.05"}

    def seed(self, prompts: int, contestants: int, url: str) -> str:
        """A study "pairs", and a judge "loopback" at ``url``; the judge's token."""
        seed = SEED.format(prompts=prompts, contestants=contestants, url=url)
        return self.run(seed).split()[-1]

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
