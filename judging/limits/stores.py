"""Where the state of the limits is kept: in this process, or in Redis for all. See judging.limits.rules."""

import json
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict
from threading import Lock
from typing import Final, Protocol, TypeVar, cast

import redis

from judging.limits.rules import Circuit, Gate

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
