"""Judges on pairs with right answers, in both orders: nothing is lost, and the page says what they said."""

from collections.abc import Callable
from pathlib import Path

import pytest

from arena.data.importing.imports import import_files
from arena.models import Assignment, Comparison, Study
from judging.runs.lifecycle import start_run
from leaderboard.snapshots.reading import opinions
from leaderboard.trust.content import labelled, trust
from leaderboard.trust.trial import Asked
from tests.benchmarks import gold_drill
from tests.benchmarks.gold_drill import Rule, made, write
from tests.factories import make_judge
from tests.judging.endpoints.server import ChatServer

JUDGES, PAIRS = 2, 8
SUBSETS = "Natural", "Neighbor"


@pytest.mark.usefixtures("arena")
def test_every_reply_is_counted(
    model: ChatServer, drain: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FAILING", "UNREADABLE"):
        monkeypatch.setattr(gold_drill, name, 0.15)
    items = {subset: [made(subset, number) for number in range(PAIRS // 2)] for subset in SUBSETS}
    write(tmp_path / "llmbar", items)
    assert import_files("drill", [tmp_path / "llmbar"]).ok
    rule = Rule(items)
    model.script = rule.script()
    study = Study.objects.get(slug="drill")
    for number in range(JUDGES):
        asking = {"model": f"model-{number}", "base_url": model.url, "form": "binary", "points": 2}
        start_run(study, make_judge(slug=f"judge-{number}", **asking), both_orders=True)
        drain()
    failed = Assignment.objects.filter(state="failed").count()
    assert Comparison.objects.count() + failed == 2 * JUDGES * PAIRS
    read = opinions(study)
    known = labelled(study, read)
    assert known
    for each in trust(known, read, Asked(rounds=20))["judges"]:
        said = rule.said[each["judge"].replace("judge", "model")]
        parts = each["subsets"].values()
        assert sum(part["scored"] for part in parts) == said["right"] + said["wrong"]
        right = sum(part["accuracy"] * part["scored"] for part in parts)
        assert right == pytest.approx(said["right"], abs=1e-3)
    assert failed == sum(said["failing"] for said in rule.said.values())
    assert failed
    assert Comparison.objects.filter(status="unscored").exists()
