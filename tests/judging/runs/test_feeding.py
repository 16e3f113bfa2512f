"""Where a run looks for what is next."""

from datetime import timedelta

import pytest
from django.utils import timezone

from arena.models import Assignment
from judging.models import JudgeRun
from judging.runs import lifecycle
from judging.runs.lifecycle import plan_run, start_run
from tests.factories import make_judge, make_small_study

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def run() -> JudgeRun:
    """A run of ten assignments that nobody was told of yet."""
    run = start_run(make_small_study(prompts=10, contestants=2), make_judge())
    plan_run(run.pk)
    run.run_assignments.update(queued_until=None)
    lifecycle._looked.clear()
    run.refresh_from_db()
    return run


def assignments(run: JudgeRun) -> list[int]:
    return list(run.run_assignments.order_by("pk").values_list("assignment", flat=True))


def test_what_is_due_again_is_found_in_the_end(run: JudgeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    every = assignments(run)
    now = timezone.now()
    lifecycle._choose(run, 5, 0, now)
    assert lifecycle._choose(run, 2, 0, now) == every[5:7]
    run.run_assignments.filter(assignment=every[0]).update(queued_until=None)  # it failed, and is due again
    assert lifecycle._choose(run, 2, 0, now) == every[7:9]
    later = lifecycle.time.monotonic() + lifecycle.LOOKED_THROUGH + 1
    monkeypatch.setattr(lifecycle.time, "monotonic", lambda: later)
    assert lifecycle._choose(run, 2, 0, now) == [every[0], every[9]]


def test_the_end_of_a_run_is_looked_for_in_all_of_it(run: JudgeRun) -> None:
    every = assignments(run)
    now = timezone.now()
    lifecycle._choose(run, 9, 0, now)
    Assignment.objects.filter(pk__in=every[1:9]).update(state="submitted")
    run.run_assignments.filter(assignment=every[0]).update(queued_until=now - timedelta(seconds=1))
    assert lifecycle._choose(run, 3, 0, now) == [every[0], every[9]]
    assert lifecycle._choose(run, 3, 0, now) == []


@pytest.mark.parametrize("done", [False, True])
def test_a_judge_at_its_limit_is_gone_on_with_later_if_anything_is_left(
    run: JudgeRun, monkeypatch: pytest.MonkeyPatch, done: bool
) -> None:
    JudgeRun.objects.filter(pk=run.pk).update(state=JudgeRun.State.RUNNING)
    if done:
        Assignment.objects.update(state="submitted")
    sent: list[tuple[int, float]] = []
    monkeypatch.setattr(lifecycle.limiting, "room", lambda judge: (10.0, 0))
    monkeypatch.setattr(lifecycle.queue, "nudge_feed", lambda *message: sent.append(message))
    lifecycle._later.clear()
    assert lifecycle.go_on(run.pk, 1) == []
    run.refresh_from_db()
    assert run.state == ("finished" if done else "running")
    assert sent == ([] if done else [(run.pk, pytest.approx(11.1))])
