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
    Entrances,
    Entry,
    Exit,
    Limits,
    MemoryStore,
    RedisStore,
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
def entrances(clock: Clock) -> Entrances:
    return Entrances(MemoryStore(clock))


def make_entry(**overrides: Any) -> Entry:
    limits = Limits(**overrides.pop("limits", {}))
    defaults = {"judge": "j", "endpoint": "e", "name": f"call {next(_names)}", "tokens": 100, "lease": 60.0}
    return Entry(**{**defaults, "limits": limits, **overrides})


def let_in(entrances: Entrances, number: int, **overrides: Any) -> list[Entry]:
    """Those of so many new entries that may be made now."""
    entries = [make_entry(**overrides) for _ in range(number)]
    return [entry for entry, wait in zip(entries, entrances.enter(entries), strict=True) if not wait]


def test_without_limits_everything_is_let_in(entrances: Entrances) -> None:
    assert len(let_in(entrances, 500)) == 500


@pytest.mark.parametrize(("per_minute", "seconds", "most"), [(60, 30, 31), (600, 30, 310), (6, 60, 7)])
def test_no_more_requests_than_the_rate_allows(
    entrances: Entrances, clock: Clock, per_minute: int, seconds: int, most: int
) -> None:
    made = 0
    for _ in range(seconds * 4):
        made += len(let_in(entrances, 50, limits={"requests_per_minute": per_minute}))
        clock.now += 0.25
    assert most - 3 <= made <= most


def test_whoever_waits_as_told_is_let_in(entrances: Entrances, clock: Clock) -> None:
    limits = {"requests_per_minute": 20}
    assert len(let_in(entrances, 1, limits=limits)) == 1
    entry = make_entry(limits=limits)
    [wait] = entrances.enter([entry])
    assert wait == pytest.approx(3.0)
    clock.now += wait
    assert entrances.enter([entry]) == [0.0]


def test_tokens_are_counted_as_expected_and_then_as_they_were(entrances: Entrances, clock: Clock) -> None:
    limits = {"tokens_per_minute": 6000}  # a hundred in a second
    [first] = let_in(entrances, 1, limits=limits, tokens=1000)
    assert entrances.enter([make_entry(limits=limits)])[0] == pytest.approx(9.01, abs=0.02)
    leave(entrances, first, tokens=200)
    assert entrances.enter([make_entry(limits=limits)])[0] == pytest.approx(1.01, abs=0.02)


def test_no_number_of_tokens_keeps_others_waiting_for_long(entrances: Entrances, clock: Clock) -> None:
    limits = {"tokens_per_minute": 6000}
    [first] = let_in(entrances, 1, limits=limits)
    leave(entrances, first, tokens=2**31 - 1)
    clock.now += LONGEST_DEBT + 1
    assert len(let_in(entrances, 1, limits=limits)) == 1


def test_no_more_at_a_time_than_may_be(entrances: Entrances, clock: Clock) -> None:
    limits = {"concurrency": 3}
    inside = let_in(entrances, 5, limits=limits)
    assert len(inside) == 3
    assert entrances.enter([make_entry(limits=limits)]) == [FULL]
    assert len(let_in(entrances, 5, limits=limits, judge="another")) == 3
    leave(entrances, inside[0])
    entrances.withdraw([inside[1]])
    assert len(let_in(entrances, 5, limits=limits)) == 2
    clock.now += 60  # those of a worker that died
    assert len(let_in(entrances, 5, limits=limits)) == 3


def test_retry_after_closes_the_judge_for_everybody(entrances: Entrances, clock: Clock) -> None:
    [entry] = let_in(entrances, 1)
    leave(entrances, entry, "rate_limited", retry_after=20)
    assert entrances.enter([make_entry()]) == [20.0]
    assert len(let_in(entrances, 1, judge="another")) == 1
    clock.now += 20
    assert len(let_in(entrances, 9)) == 9


def leave(entrances: Entrances, entry: Entry, kind: str = "", **known: Any) -> Any:
    return entrances.leave([Exit(entry, kind, **known)])[0]


def fail(entrances: Entrances, number: int, kind: str = "connection") -> list[Any]:
    return [leave(entrances, entry, kind) for entry in let_in(entrances, number)]


def test_failures_in_a_row_open_the_circuit(entrances: Entrances, clock: Clock) -> None:
    outages = fail(entrances, OPENS_AFTER + 3)
    assert [outage is None for outage in outages] == [True] * (OPENS_AFTER - 1) + [False] * 4
    assert outages[-1].since == clock.now
    assert entrances.outage("e") == outages[-1]
    assert entrances.enter([make_entry()]) == [outages[-1].next_try - clock.now]
    assert entrances.enter([make_entry(judge="another")])[0] > 0
    assert len(let_in(entrances, 1, endpoint="another")) == 1


def test_answers_between_failures_keep_it_closed(entrances: Entrances) -> None:
    for kind in ("", "rate_limited", "http_400", "malformed"):
        fail(entrances, OPENS_AFTER - 1)
        assert fail(entrances, 1, kind) == [None]
    assert entrances.outage("e") is None


def test_one_probe_at_a_time_ever_more_seldom_until_one_is_answered(
    entrances: Entrances, clock: Clock
) -> None:
    fail(entrances, OPENS_AFTER)
    pauses = []
    for _ in range(9):
        outage = entrances.outage("e")
        assert outage
        pauses.append(outage.next_try - clock.now)
        clock.now = outage.next_try
        probes = let_in(entrances, 10)
        assert len(probes) == 1
        assert let_in(entrances, 10) == []
        leave(entrances, probes[0], "timeout")
    assert pauses == [5, 10, 20, 40, 80, 160, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]
    clock.now += LONGEST_PAUSE
    [probe] = let_in(entrances, 10)
    assert leave(entrances, probe) is None
    assert len(let_in(entrances, 10)) == 10


def test_a_probe_that_is_not_made_leaves_it_to_another(entrances: Entrances, clock: Clock) -> None:
    fail(entrances, OPENS_AFTER)
    clock.now += 5
    [probe] = let_in(entrances, 3)
    entrances.withdraw([probe])
    assert len(let_in(entrances, 3)) == 1


def test_calls_from_before_the_outage_do_not_make_pauses_longer(entrances: Entrances, clock: Clock) -> None:
    entries = let_in(entrances, 64)
    outages = [leave(entrances, entry, "http_502") for entry in entries]
    assert outages[-1] is not None
    assert outages[-1].next_try == clock.now + 5


@pytest.mark.parametrize(
    ("kind", "there"),
    [(kind, True) for kind in ("", "malformed", "http_429", "http_404", "rate_limited")]
    + [(kind, False) for kind in ("connection", "unreachable", "timeout", "http_500", "http_503")],
)
def test_which_failures_say_that_nobody_is_there(kind: str, there: bool) -> None:
    assert answers(kind) == there


class BrokenStore:
    """A Redis that is away."""

    def change(self, judge: str, endpoint: str, change: Callable[..., Any]) -> Any:
        raise redis.ConnectionError("no route to host")


def test_without_its_store_a_process_keeps_to_the_limits_by_itself(
    caplog: pytest.LogCaptureFixture, clock: Clock
) -> None:
    entrances = Entrances(BrokenStore(), MemoryStore(clock))
    assert len(let_in(entrances, 5, limits={"concurrency": 2})) == 2
    assert "Redis is away, this process keeps to the limits by itself" in caplog.text


@pytest.mark.services
class TestRedis:
    @pytest.fixture
    def stores(self) -> Iterator[Callable[[], Store]]:
        """Makes stores of different processes, on a real Redis."""
        url = os.environ["BROKER_URL"]
        made = RedisStore(url)
        made._redis.delete("arena:gate:j", "arena:circuit:e")
        yield lambda: RedisStore(url)
        made._redis.delete("arena:gate:j", "arena:circuit:e")

    def test_many_processes_let_no_more_in_than_one(self, stores: Callable[[], Store]) -> None:
        limits = {"concurrency": 20}

        def enter(number: int) -> int:
            mine = Entrances(stores())
            return sum(len(let_in(mine, 1, limits=limits)) for _ in range(5))

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(enter, range(8))) == 20

    def test_an_outage_is_known_to_everybody(self, stores: Callable[[], Store]) -> None:
        fail(Entrances(stores()), OPENS_AFTER)
        other = Entrances(stores())
        assert other.outage("e") is not None
        assert let_in(other, 3) == []
