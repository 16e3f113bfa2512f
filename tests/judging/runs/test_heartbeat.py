"""Worker processes that die are noticed, and what they asked is asked again."""

from collections.abc import Iterator

import pytest
from django.utils import timezone

from arena.models import Assignment
from judging.models import JudgeCall, JudgeRun, RateLimit, WorkerProcess
from judging.runs import heartbeat, limiting
from judging.runs.heartbeat import BEAT, SILENT, Heartbeat
from tests.factories import make_call

pytestmark = pytest.mark.django_db


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    monkeypatch.setattr(heartbeat, "time", clock)
    return clock


def beats(heart: Heartbeat, clock: Clock, seconds: float, *, lives: str = "") -> list[str]:
    """Which processes are found dead in so many seconds; ``lives`` says all the time that it does."""
    dead = []
    for _ in range(int(seconds / BEAT)):
        clock.now += BEAT
        WorkerProcess.objects.filter(name=lives).update(seen_at=timezone.now())
        dead += heart.beat()
    return dead


@pytest.fixture
def other(run: JudgeRun) -> JudgeCall:
    """The call of another process, which takes the only place."""
    WorkerProcess.objects.create(name="other")
    row = RateLimit.objects.create(base_url=run.judge.base_url, model=run.judge.model)
    call = make_call(run, worker="other", rate_limit=row)
    Assignment.objects.filter(pk=call.assignment_id).update(state="claimed", leased_until=call.deadline)
    run.judge.endpoint.__class__.objects.update(concurrency=1)
    return call


def test_the_calls_of_a_dead_process_are_over_at_once(
    run: JudgeRun,
    other: JudgeCall,
    clock: Clock,
) -> None:
    heart = Heartbeat()
    run.judge.endpoint.refresh_from_db()
    assert beats(heart, clock, SILENT) == []
    assert limiting.room(run.judge) == (0.0, 0)
    assert beats(heart, clock, 2 * BEAT) == ["other"]
    other.refresh_from_db()
    assert other.state == "abandoned"
    assert limiting.room(run.judge) == (0.0, 1)
    assert Assignment.objects.get(pk=other.assignment_id).state == "open"
    assert list(WorkerProcess.objects.values_list("name", flat=True)) == [heartbeat.this_worker()]


def test_who_lives_keeps_its_calls(other: JudgeCall, clock: Clock) -> None:
    assert beats(Heartbeat(), clock, 4 * SILENT, lives="other") == []
    other.refresh_from_db()
    assert other.state == "in_flight"


def test_whoever_could_not_look_knows_nothing(other: JudgeCall, clock: Clock) -> None:
    heart = Heartbeat()
    beats(heart, clock, SILENT - BEAT)
    clock.now += 600  # the database was away for all
    assert heart.beat() == []
    assert beats(heart, clock, SILENT - BEAT) == []
    assert beats(heart, clock, 2 * BEAT) == ["other"]
