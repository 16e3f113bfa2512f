"""The way in: every call of a judge enters before it is made and leaves when it has ended."""

import json
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from threading import Lock
from typing import Final, Protocol, TypeVar, cast

import redis
from django.conf import settings

from judging.endpoints.limit_rules import (
    LONGEST_DEBT,
    OURS,
    Circuit,
    Entry,
    Exit,
    Gate,
    Limits,
    Outage,
    answers,
)

# Where the state of the limits is kept: in this process, or in Redis for all. See
# judging.endpoints.limit_rules.


KEPT_SECONDS: Final = 86_400
"""So long Redis remembers what nobody asks about."""

TIMEOUT: Final = 2.0
"""Seconds to wait for Redis, which is near."""

Result = TypeVar("Result")
Kept = TypeVar("Kept", Gate, Circuit)
Change = Callable[[Gate, Circuit, float], Result]
"""Looks at the gate of a judge and the circuit of an endpoint, and changes them; given the time as well."""


class Store(Protocol):
    """Keeps gates by judge and circuits by endpoint."""

    def change(self, judge: str, endpoint: str, change: Change[Result]) -> Result:
        """Apply a change to both as if nobody did anything meanwhile. It may be called more than once."""
        ...


class MemoryStore:
    """For the threads of one process."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = Lock()
        self._gates: dict[str, Gate] = defaultdict(Gate)
        self._circuits: dict[str, Circuit] = defaultdict(Circuit)

    def change(self, judge: str, endpoint: str, change: Change[Result]) -> Result:
        """See Store."""
        with self._lock:
            return change(self._gates[judge], self._circuits[endpoint], self._clock())


class RedisStore:
    """For every process that knows the Redis. Its clock is the one that counts.

    A change is written only where nobody wrote since it was read; else it is made anew. Raises
    redis.RedisError.
    """

    def __init__(self, url: str) -> None:
        self._lock = Lock()  # threads of one process take turns, instead of making changes in vain
        self._redis = redis.Redis.from_url(
            url.replace("redis+socket://", "unix://", 1),
            decode_responses=True,
            socket_timeout=TIMEOUT,
            socket_connect_timeout=TIMEOUT,
        )

    def change(self, judge: str, endpoint: str, change: Change[Result]) -> Result:
        """See Store."""
        gate_key, circuit_key = f"arena:gate:{judge}", f"arena:circuit:{endpoint}"
        with self._lock, self._redis.pipeline() as pipe:
            while True:
                try:
                    pipe.watch(gate_key, circuit_key)  # type: ignore[no-untyped-call]
                    seconds, micros = pipe.time()
                    kept_gate, kept_circuit = cast("list[str | None]", pipe.mget(gate_key, circuit_key))
                    gate, circuit = _read(Gate, kept_gate), _read(Circuit, kept_circuit)
                    result = change(gate, circuit, seconds + micros / 1e6)
                    pipe.multi()
                    if gate != _read(Gate, kept_gate):
                        pipe.set(gate_key, json.dumps(asdict(gate)), ex=KEPT_SECONDS)
                    if circuit != _read(Circuit, kept_circuit):
                        pipe.set(circuit_key, json.dumps(asdict(circuit)), ex=KEPT_SECONDS)
                    pipe.execute()
                    return result
                except redis.WatchError:
                    continue


def _read(kind: type[Kept], kept: str | None) -> Kept:
    """What was written, with defaults for what an earlier version did not write."""
    return kind(**json.loads(kept)) if kept else kind()


logger = logging.getLogger(__name__)

NOBODY: Final = "-"
"""The judge of whom nothing is asked, where only an endpoint is looked at."""


class Entrances:
    """Lets calls in as far as the limits of their judge and the state of their endpoint allow.

    Where the shared store is away this process keeps to the limits by itself, so that a run goes on.
    """

    def __init__(self, store: Store, instead: Store | None = None) -> None:
        self._store, self._instead = store, instead or MemoryStore()

    def enter(self, entries: Sequence[Entry], ended: Sequence[Exit] = ()) -> list[float]:
        """For each, in order, the seconds until the next try; 0 for what is let in, which is noted.

        That calls have ended is noted before, all in one.
        """
        return self._pass(ended, entries)[1]

    def leave(self, ended: Sequence[Exit]) -> list[Outage | None]:
        """Note that calls have ended; for each, in order, the outage that it failed in, if it did."""
        return self._pass(ended, ())[0]

    def _pass(
        self, ended: Sequence[Exit], entries: Sequence[Entry]
    ) -> tuple[list[Outage | None], list[float]]:
        """Let calls out, then others in: for each of those its outage, for each of these its wait."""
        outages: dict[str, Outage | None] = {}
        waits: dict[str, float] = {}
        together: dict[tuple[str, str], tuple[list[Exit], list[Entry]]] = defaultdict(lambda: ([], []))
        for one in ended:
            together[one.entry.judge, one.entry.endpoint][0].append(one)
        for entry in entries:
            together[entry.judge, entry.endpoint][1].append(entry)
        for (judge, endpoint), (leaving, coming) in together.items():

            def change(
                gate: Gate,
                circuit: Circuit,
                now: float,
                leaving: Sequence[Exit] = leaving,
                coming: Sequence[Entry] = coming,
            ) -> tuple[list[Outage | None], list[float]]:
                return (
                    [_let_out(one, gate, circuit, now) for one in leaving],
                    [_wait(entry, gate, circuit, now) for entry in coming],
                )

            left, let_in = self._change(judge, endpoint, change)
            outages |= zip((one.entry.name for one in leaving), left, strict=True)
            waits |= zip((entry.name for entry in coming), let_in, strict=True)
        return [outages[one.entry.name] for one in ended], [waits[entry.name] for entry in entries]

    def room(self, judge: str, endpoint: str, limits: Limits) -> tuple[float, int]:
        """Seconds until it is worth to try, and how many calls may then be made at once."""

        def look(gate: Gate, circuit: Circuit, now: float) -> tuple[float, int]:
            return circuit.wait(now) or gate.pause(limits, now), gate.free(limits, now)

        return self._change(judge, endpoint, look)

    def withdraw(self, entries: Sequence[Entry]) -> None:
        """Note that calls are not made after all. The share of the rates they took is not given back."""
        for entry in entries:

            def let_out(gate: Gate, circuit: Circuit, now: float, entry: Entry = entry) -> None:
                gate.inside.pop(entry.name, None)
                circuit.withdraw(entry, now)

            self._change(entry.judge, entry.endpoint, let_out)

    def outage(self, endpoint: str) -> Outage | None:
        """Since when an endpoint does not answer, if it does not."""
        return self._change(NOBODY, endpoint, lambda gate, circuit, now: _outage(circuit))

    def _change(self, judge: str, endpoint: str, change: Change[Result]) -> Result:
        try:
            return self._store.change(judge, endpoint, change)
        except redis.RedisError as error:
            logger.warning("Redis is away, this process keeps to the limits by itself: %s", error)
            return self._instead.change(judge, endpoint, change)


def _wait(entry: Entry, gate: Gate, circuit: Circuit, now: float) -> float:
    wait = circuit.wait(now) or gate.wait(entry, now)
    if not wait:
        circuit.let_in(entry, now)
    return wait


def _let_out(one: Exit, gate: Gate, circuit: Circuit, now: float) -> Outage | None:
    entry, limit = one.entry, one.entry.limits.tokens_per_minute
    gate.inside.pop(entry.name, None)
    gate.closed_until = max(gate.closed_until, now + one.retry_after)
    if one.tokens is not None and limit:
        debt = (one.tokens - entry.tokens) * 60.0 / limit
        gate.tokens_at = min(gate.tokens_at + debt, max(gate.tokens_at, now + LONGEST_DEBT))
    if one.kind in OURS:
        circuit.withdraw(entry, now)
        return None
    if answers(one.kind):
        circuit.succeeded()
        return None
    circuit.failed(entry, now)
    return _outage(circuit)


def _outage(circuit: Circuit) -> Outage | None:
    return Outage(circuit.open_since, circuit.probe_at) if circuit.open_since else None


@cache
def entrances() -> Entrances:
    """Those of this arena: in the broker's Redis where it has one."""
    url = str(settings.CELERY_BROKER_URL)
    is_shared = url.startswith(("redis://", "rediss://", "redis+socket://"))
    return Entrances(RedisStore(url) if is_shared else MemoryStore())
