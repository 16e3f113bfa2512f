"""Cost of numbers on demand, in a generated study; ``-k 100000`` runs one size alone."""

import time

import pytest
from celery import current_app

from leaderboard.models import ComputedView
from leaderboard.refreshing import computing, services
from leaderboard.snapshots import on_demand
from leaderboard.snapshots.settings import Scope, parse, parse_for_all
from tests.benchmarks.generated_study import make

SETTINGS = (
    (Scope.BOARD, {"band": "3-6"}),
    (Scope.BOARD, {"band": "3-6", "raters": "judge:kind"}),
    (Scope.BOARD, {"contestants": "models"}),
    (Scope.BOARD, {"category": "-coding"}),
    (Scope.BOARD, {"resample": "games"}),
    (Scope.BOARD, {"level": "97.5"}),
    (Scope.CATEGORIES, {"band": "3-6"}),
    (Scope.CATEGORIES, {"band": "3-6", "raters": "judge:kind"}),
    (Scope.RATERS, {"band": "3-6"}),
)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("size", [10_000, 100_000, 1_000_000])
def test_settings_on_demand(size, monkeypatch):
    """Prints seconds, of the processors in brackets, from claim to stored tables."""
    monkeypatch.setattr(current_app, "send_task", lambda *args, **options: None)
    study = make(size).study
    snapshot = services.refresh(study).snapshot
    for scope, wanted in SETTINGS:
        setting = (parse_for_all if scope is Scope.RATERS else parse)(wanted, snapshot.counts)
        assert setting is not None
        on_demand.contents(snapshot, setting, scope)
        start, used = time.perf_counter(), time.process_time()
        assert computing.compute_next(study.pk)
        taken, used = time.perf_counter() - start, time.process_time() - used
        view = ComputedView.objects.get(snapshot=snapshot, setting=on_demand.key_of(setting, scope))
        assert view.state == "ready"
        kilobytes = len(view.payload) / 1000
        print(f"\n{size:,} {view.setting}: {taken:.1f} s ({used:.1f} s), {kilobytes:.0f} kB", end="")
