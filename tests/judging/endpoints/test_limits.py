"""Rates, concurrency and circuits, kept in memory and in a real Redis."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import pytest
import redis

from judging.endpoints.limits import (
    FULL,
    LONGEST_DEBT,
    LONGEST_PAUSE,
    OPENS_AFTER,
    EndedCall,
    Limiter,
    Limits,
    MemoryStore,
    RedisStore,
    StartingCall,
    Store,
    answers,
)

_names = count(1)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limiter(clock: Clock) -> Limiter:
    return Limiter(MemoryStore(clock))


def make_call(**overrides: Any) -> StartingCall:
    limits = Limits(**overrides.pop("limits", {}))
    defaults = {"endpoint": "j", "address": "e", "name": f"call {next(_names)}", "tokens": 100, "lease": 60.0}
    return StartingCall(**{**defaults, "limits": limits, **overrides})


def start(limiter: Limiter, number: int, **overrides: Any) -> list[StartingCall]:
    """Those of so many new entries that may be made now."""
    calls = [make_call(**overrides) for _ in range(number)]
    return [call for call, wait in zip(calls, limiter.start(calls), strict=True) if not wait]


@pytest.mark.parametrize(("per_minute", "seconds", "most"), [(60, 30, 31), (600, 30, 310), (6, 60, 7)])
def test_no_more_than_the_rate(
    limiter: Limiter, clock: Clock, per_minute: int, seconds: int, most: int
) -> None:
    made = 0
    for _ in range(seconds * 4):
        made += len(start(limiter, 50, limits={"requests_per_minute": per_minute}))
        clock.now += 0.25
    assert most - 3 <= made <= most


def test_whoever_waits_as_told_is_let_in(limiter: Limiter, clock: Clock) -> None:
    limits = {"requests_per_minute": 20}
    assert len(start(limiter, 1, limits=limits)) == 1
    call = make_call(limits=limits)
    [wait] = limiter.start([call])
    assert wait == pytest.approx(3.0)
    clock.now += wait
    assert limiter.start([call]) == [0.0]


def test_tokens_are_counted_as_expected_and_then_as_they_were(limiter: Limiter, clock: Clock) -> None:
    limits = {"tokens_per_minute": 6000}  # a hundred in a second
    [first] = start(limiter, 1, limits=limits, tokens=1000)
    assert limiter.start([make_call(limits=limits)])[0] == pytest.approx(9.01, abs=0.02)
    end(limiter, first, tokens=200)
    assert limiter.start([make_call(limits=limits)])[0] == pytest.approx(1.01, abs=0.02)
    # No number of tokens keeps others waiting for long.
    clock.now += 2
    [second] = start(limiter, 1, limits=limits)
    end(limiter, second, tokens=2**31 - 1)
    clock.now += LONGEST_DEBT + 1
    assert len(start(limiter, 1, limits=limits)) == 1


def test_no_more_at_a_time_than_may_be(limiter: Limiter, clock: Clock) -> None:
    limits = {"concurrency": 3}
    inside = start(limiter, 5, limits=limits)
    assert len(inside) == 3
    assert limiter.start([make_call(limits=limits)]) == [FULL]
    assert len(start(limiter, 5, limits=limits, endpoint="another")) == 3
    end(limiter, inside[0])
    limiter.cancel([inside[1]])
    assert len(start(limiter, 5, limits=limits)) == 2
    clock.now += 60  # those of a worker that died
    assert len(start(limiter, 5, limits=limits)) == 3


def test_retry_after_closes_the_endpoint_for_everybody(limiter: Limiter, clock: Clock) -> None:
    [call] = start(limiter, 1)
    end(limiter, call, "rate_limited", retry_after=20)
    assert limiter.start([make_call()]) == [20.0]
    assert len(start(limiter, 1, endpoint="another")) == 1
    clock.now += 20
    assert len(start(limiter, 9)) == 9


def end(limiter: Limiter, call: StartingCall, kind: str = "", **known: Any) -> Any:
    return limiter.end([EndedCall(call, kind, **known)])[0]


def fail(limiter: Limiter, number: int, kind: str = "connection") -> list[Any]:
    return [end(limiter, call, kind) for call in start(limiter, number)]


def test_failures_in_a_row_open_the_circuit(limiter: Limiter, clock: Clock) -> None:
    outages = fail(limiter, OPENS_AFTER + 3)
    assert [outage is None for outage in outages] == [True] * (OPENS_AFTER - 1) + [False] * 4
    assert outages[-1].since == clock.now
    assert limiter.outage("e") == outages[-1]
    assert limiter.start([make_call()]) == [outages[-1].next_try - clock.now]
    assert limiter.start([make_call(endpoint="another")])[0] > 0
    assert len(start(limiter, 1, address="another")) == 1


def test_answers_between_failures_keep_it_closed(limiter: Limiter) -> None:
    for kind in ("", "rate_limited", "http_400", "malformed"):
        fail(limiter, OPENS_AFTER - 1)
        assert fail(limiter, 1, kind) == [None]
    assert limiter.outage("e") is None


def test_one_probe_at_a_time_ever_more_seldom_until_one_is_answered(limiter: Limiter, clock: Clock) -> None:
    fail(limiter, OPENS_AFTER)
    pauses = []
    for _ in range(9):
        outage = limiter.outage("e")
        pauses.append(outage.next_try - clock.now)
        clock.now = outage.next_try
        probes = start(limiter, 10)
        assert len(probes) == 1
        assert start(limiter, 10) == []
        end(limiter, probes[0], "timeout")
    assert pauses == [5, 10, 20, 40, 80, 160, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]
    clock.now += LONGEST_PAUSE
    [probe] = start(limiter, 10)
    assert end(limiter, probe) is None
    assert len(start(limiter, 10)) == 10


def test_calls_from_before_the_outage_do_not_make_pauses_longer(limiter: Limiter, clock: Clock) -> None:
    calls = start(limiter, 64)
    outages = [end(limiter, call, "http_502") for call in calls]
    assert outages[-1].next_try == clock.now + 5
    # A probe that is not made leaves it to another.
    clock.now += 5
    [probe] = start(limiter, 3)
    limiter.cancel([probe])
    assert len(start(limiter, 3)) == 1


def test_which_failures_say_that_nobody_is_there(limiter: Limiter) -> None:
    for kind in ("", "malformed", "http_429", "http_404", "rate_limited"):
        assert answers(kind)
    for kind in ("connection", "unreachable", "timeout", "http_500", "http_503"):
        assert not answers(kind)
    assert len(start(limiter, 500)) == 500, "without limits everything is let in"


class BrokenStore:
    """A Redis that is away."""

    def change(self, endpoint: str, address: str, change: Callable[..., Any]) -> Any:
        raise redis.ConnectionError("no route to host")


def test_without_its_store_a_process_keeps_limits(caplog: pytest.LogCaptureFixture, clock: Clock) -> None:
    limiter = Limiter(BrokenStore(), MemoryStore(clock))
    assert len(start(limiter, 5, limits={"concurrency": 2})) == 2
    assert "Redis is away, this process keeps to the limits by itself" in caplog.text


@pytest.mark.services
class TestRedis:
    @pytest.fixture
    def stores(self) -> Iterator[Callable[[], Store]]:
        """Makes stores of different processes, on a real Redis."""
        url = os.environ["BROKER_URL"]
        made = RedisStore(url)
        made._redis.delete("arena:endpoint:j", "arena:circuit:e")
        yield lambda: RedisStore(url)
        made._redis.delete("arena:endpoint:j", "arena:circuit:e")

    def test_many_processes_let_no_more_in_than_one(self, stores: Callable[[], Store]) -> None:
        limits = {"concurrency": 20}

        def start_some(number: int) -> int:
            mine = Limiter(stores())
            return sum(len(start(mine, 1, limits=limits)) for _ in range(5))

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(start_some, range(8))) == 20

    def test_an_outage_is_known_to_everybody(self, stores: Callable[[], Store]) -> None:
        fail(Limiter(stores()), OPENS_AFTER)
        other = Limiter(stores())
        assert other.outage("e") is not None
        assert start(other, 3) == []
