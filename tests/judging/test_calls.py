"""What every kind of model call has, and the way of a judge's call through the code."""

import sys
import threading
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from arena.models import Comparison
from judging.models.requests import standing
from judging.requests.services import kinds
from judging.runs.lifecycle import plan_run, start_run
from judging.runs.metrics import STANDING
from tests.factories import make_judge, make_small_study
from tests.judging.endpoints.server import ChatServer
from tests.judging.working import work_off

ROOT = Path(__file__).parents[2]


def test_a_kind_of_call_lacks_nothing() -> None:
    """See "Adding a kind of model call" in CONTRIBUTING.md."""
    doors = {queue: import_string(path) for queue, path in settings.DOORS.items()}
    for queue, door in doors.items():
        assert queue in settings.QUEUES, f"QUEUES in arena/settings.py does not name {queue}"
        assert callable(door.claim)
        assert callable(door.replied)
    tables = {kind.rows for kind in kinds()}
    assert tables == set(standing()), "DOORS in arena/settings.py names no door to a table of requests"
    measured = {queue: rows for queue, _, _, rows in STANDING}
    assert measured == {queue: door.rows for queue, door in doors.items() if door in kinds()}, (
        "STANDING in judging/runs/metrics.py lacks a table of requests"
    )
    for table in tables:
        names = {each.name for each in (*table._meta.constraints, *table._meta.indexes)}
        assert any(name.endswith("_state_known") for name in names), "constraints_of is missing"
        assert any(name.endswith("_in_flight") for name in names), "indexes_of is missing"


WAY = """
judges/asked judges/rights judges/services
runs/lifecycle runs/door runs/claiming runs/work runs/asking runs/limiting runs/heartbeat
worker/worker worker/arena remote/api remote/services runs/committing runs/recording receivers
spending/budgets spending/reservations
"""
"""The modules of judging that a call passes from *Start* to the row of its rating.

Beside them what words a question and reads its reply (protocols/), what asks (endpoints/), and the tables.
"""


def test_a_judges_call_passes_few_modules(arena: Any, model: ChatServer) -> None:
    passed: set[str] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            passed.add(frame.f_code.co_filename)

    def judge() -> None:
        plan_run(start_run(make_small_study(prompts=1, contestants=2), make_judge(base_url=model.url)).pk)
        work_off(slots=2)

    judge()  # once before, as the first call imports every page
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        judge()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert list(Comparison.objects.values_list("rating", flat=True)) == [5, 5]
    ours = [
        Path(name).relative_to(ROOT / "judging") for name in passed if name.startswith(f"{ROOT}/judging/")
    ]
    deciding = {str(each.with_suffix("")) for each in ours if each.parts[0] not in BESIDE}
    assert deciding == set(WAY.split())
    assert len(deciding) <= 20


BESIDE = ("protocols", "endpoints", "models")
