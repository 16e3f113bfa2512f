"""Runs share the calls in flight; an endpoint that hangs holds up no other run."""

import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judging.runs import places
from judging.runs.places import Places
from judging.runs.work import Asker
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.processes import Arena

ONE, TWO, OTHER = Asker(1, "http://one"), Asker(2, "http://one"), Asker(3, "http://other")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "PATIENCE", 0.01)


def test_a_run_alone_has_all_places_and_no_more() -> None:
    shared = Places(8)
    assert shared.take(ONE, 20) == 8
    assert not shared.enter(ONE)
    shared.give(Counter({ONE: 3}))
    assert shared.enter(ONE)
    assert shared.take(ONE, 20) == 2


def test_each_run_has_its_share_while_others_hold_every_place() -> None:
    shared = Places(8)
    assert shared.take(ONE, 8) == 8
    assert shared.enter(OTHER)
    assert shared.take(OTHER, 8) == 3  # half, as there are two endpoints
    assert shared.take(TWO, 8) == 2  # half of an endpoint's half
    shared.give(Counter({ONE: 8}))
    assert shared.take(ONE, 8) == 2
    assert Places(1).take(OTHER, 5) == 1


def test_the_smallest_share_is_one_place() -> None:
    shared = Places(2)
    assert [shared.take(Asker(run, "http://one"), 2) for run in range(5)] == [2, 1, 1, 1, 1]


def test_five_endpoints_that_hang_leave_threads_for_a_sixth() -> None:
    shared = Places(64)
    calls = sum(shared.take(Asker(run, f"http://{run}"), 64) for run in range(5))
    assert calls == 64 + 32 + 21 + 16 + 12
    waiting = 5 * (64 // 5 // 2 + 1)
    assert calls + waiting + 64 // 6 <= 3 * 64


def test_what_was_given_back_is_waited_for_by_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "PATIENCE", 30.0)
    shared = Places(4)
    shared.take(ONE, 4)
    shared.take(OTHER, 1)
    entered = threading.Semaphore(0)

    def enter() -> None:
        assert shared.enter(ONE)
        entered.release()

    waiting = [threading.Thread(target=enter) for _ in range(2)]
    for thread in waiting:
        thread.start()
    until = time.monotonic() + 30
    while len(shared._waiting[ONE]) < 2:
        assert time.monotonic() < until
        time.sleep(0.001)
    assert not shared.enter(ONE)  # at once: a third one is sent away, as there are others
    shared.give(Counter({ONE: 3}))
    assert all(entered.acquire(timeout=30) for _ in waiting)


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
        arena.manage("shell", "-v0", "-c", first)
        arena.start()
        try:
            hanging.wait_for(8)
            second = SEED.format(slug="second", prompts=40, url=good.url, at_once=8)
            arena.manage("shell", "-v0", "-c", second)
            good.wait_for(40)
            wait_for_a_leaderboard(tmp_path / "arena.sqlite3")
        finally:
            arena.kill()
    assert gauge.most >= 4  # half of the eight that it has when it is alone
    assert len(hanging.requests) == 8


def wait_for_a_leaderboard(database: Path) -> None:
    until = time.monotonic() + 60
    while True:
        with closing(sqlite3.connect(database)) as opened:
            if opened.execute("SELECT count(*) FROM leaderboard_snapshot").fetchone()[0]:
                return
        assert time.monotonic() < until, "the leaderboard waited for the run"
        time.sleep(0.1)
