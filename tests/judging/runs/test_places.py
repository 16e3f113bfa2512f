"""Calls in flight are shared by runs: one whose endpoint hangs holds up no other."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judging.models import JudgeRun
from judging.runs.claiming import claim
from tests.factories import make_judge, make_small_study
from tests.judging.elsewhere import planned
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.processes import Arena
from tests.waiting import eventually


def running(address: str) -> JudgeRun:
    """A run over 12 pairs."""
    return planned(make_judge(base_url=address, concurrency=64), make_small_study(prompts=4))


def claimed(free: int) -> dict[int, int]:
    """How many calls are claimed of each run."""
    return dict(Counter(each.work.run.pk for each in claim("a worker", free)))


@pytest.mark.django_db
def test_each_run_has_its_share_while_others_hold_every_slot(messages: Any) -> None:
    one = running("http://one/v1")
    assert claimed(8) == {one.pk: 8}
    assert claimed(0) == {}
    other = running("http://other/v1")
    assert claimed(0) == {other.pk: 4}  # half, as there are two endpoints
    second = running("http://one/v1")
    assert claimed(-4) == {second.pk: 2}  # half of an endpoint's half
    assert claimed(-6) == {}


@pytest.mark.django_db
def test_what_one_run_cannot_use_another_takes(messages: Any) -> None:
    one, other = running("http://one/v1"), running("http://other/v1")
    one.judge.asks.__class__.objects.filter(base_url="http://one/v1").update(concurrency=1)
    assert claimed(8) == {one.pk: 1, other.pk: 7}


@pytest.mark.django_db
def test_the_smallest_share_is_one_call(messages: Any) -> None:
    runs = [running("http://one/v1") for _ in range(5)]
    assert claimed(2) == {run.pk: 1 for run in runs}


class Gauge:
    """Answers after a while; remembers how many requests it had at most at a time."""

    def __init__(self, delay: float) -> None:
        self.most, self._now, self._lock, self._delay = 0, 0, threading.Lock(), delay

    def __call__(self, _: dict[str, Any]) -> Answer:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(self._delay)
        with self._lock:
            self._now -= 1
        return Answer()


SEED = """
from tests.factories import make_judge, make_small_study
from judging.runs.lifecycle import start_run
study = make_small_study(slug="{slug}", prompts={prompts}, contestants=2, visibility="public")
start_run(study, make_judge(slug="{slug}-judge", base_url="{url}", timeout=120, concurrency={at_once}))
"""


@pytest.fixture
def hanging() -> Iterator[ChatServer]:
    let_go = threading.Event()

    def hang(_: dict[str, Any]) -> Answer:
        let_go.wait(300)
        return Answer()

    with ChatServer(hang) as server:
        yield server
        let_go.set()


@pytest.mark.processes
def test_a_run_whose_endpoint_hangs_holds_up_no_other(tmp_path: Path, hanging: ChatServer) -> None:
    arena = Arena(tmp_path, WORKER_CONCURRENCY="8")
    gauge = Gauge(0.3)
    with ChatServer(gauge) as good:
        # More calls at a time than there are places: messages about them come before those of the second run.
        first = SEED.format(slug="first", prompts=60, url=hanging.url, at_once=32)
        arena.run(first)
        arena.start()
        try:
            hanging.wait_for(8)
            second = SEED.format(slug="second", prompts=40, url=good.url, at_once=8)
            arena.run(second)
            good.wait_for(40)
            eventually(lambda: arena.query("SELECT id FROM leaderboard_snapshot"), 60)
        finally:
            arena.kill()
    assert gauge.most >= 4  # half of the eight that it has when it is alone
    assert len(hanging.requests) == 8
