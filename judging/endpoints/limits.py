"""Rate limits of judges and circuit breakers of endpoints, in this process or shared by all over Redis.

Rates are held by the generic cell rate algorithm (ITU-T I.371): all that is kept of earlier calls is the
moment at which they would all have been made at an even pace. A circuit (Nygard, Release It!, 2007) opens
after some failures in a row; then one probe is let in at growing intervals until one succeeds.
"""

import json
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from threading import Lock
from typing import Final, Protocol, TypeVar, cast

import redis
from django.conf import settings

OPENS_AFTER: Final = 5
"""Failures in a row without any reply that open the circuit of an endpoint."""

FIRST_PAUSE: Final = 5.0
LONGEST_PAUSE: Final = 300.0
"""Seconds between two probes, doubled from one to the next."""

BURST_SECONDS: Final = 1.0
"""So much of a rate may be used at once: that of this many seconds, and always one request."""

MANY: Final = 1_000_000
"""As many calls at once as nobody makes."""

LONGEST_DEBT: Final = 600.0
"""Seconds that a call which took far more tokens than expected can keep others waiting, at most."""

FULL: Final = 0.5
"""Seconds after which it is worth to look again whether a call has ended."""


@dataclass(frozen=True)
class Limits:
    """What a judge may use, None where there is no limit."""

    concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


@dataclass(frozen=True)
class Entry:
    """A call that is about to be made.

    ``judge`` and ``endpoint`` name whose limits hold and who is asked; ``name`` is the call's own. tokens:
    how many it is expected to take. lease: seconds after which it is taken for ended whatever happens.
    """

    judge: str
    endpoint: str
    name: str
    limits: Limits
    tokens: int
    lease: float


@dataclass(frozen=True)
class Exit:
    """A call that has ended.

    kind says how it failed, "" that it did not. retry_after: seconds the endpoint wants to be left alone.
    tokens: how many it took, None where that is not known.
    """

    entry: Entry
    kind: str = ""
    retry_after: float = 0.0
    tokens: int | None = None


@dataclass
class Gate:
    """What is kept of one judge. Moments are in seconds since 1970.

    requests_at and tokens_at: when everything asked so far would have been asked at an even pace.
    closed_until: what Retry-After said. inside: the calls in flight, and until when they are taken to be.
    """

    requests_at: float = 0.0
    tokens_at: float = 0.0
    closed_until: float = 0.0
    inside: dict[str, float] = field(default_factory=dict)

    def wait(self, entry: Entry, now: float) -> float:
        """Seconds until it may be worth to try again; 0 where the call is let in, which is noted."""
        wait = self.pause(entry.limits, now) or (0.0 if self.free(entry.limits, now) else FULL)
        if not wait:
            requests, tokens = entry.limits.requests_per_minute, entry.limits.tokens_per_minute
            self.requests_at = max(self.requests_at, now) + _interval(requests)
            self.tokens_at = max(self.tokens_at, now) + _interval(tokens) * entry.tokens
            self.inside[entry.name] = now + entry.lease
        return wait

    def pause(self, limits: Limits, now: float) -> float:
        """Seconds until the rates allow another call, and Retry-After does."""
        request, token = _interval(limits.requests_per_minute), _interval(limits.tokens_per_minute)
        waits = _wait_for_rate(self.requests_at, request, now), _wait_for_rate(self.tokens_at, token, now)
        return max(self.closed_until - now, *waits, 0.0)

    def free(self, limits: Limits, now: float) -> int:
        """How many more calls may be in flight."""
        self.inside = {name: until for name, until in self.inside.items() if until > now}
        return MANY if limits.concurrency is None else max(limits.concurrency - len(self.inside), 0)


def _interval(per_minute: int | None) -> float:
    """Seconds between two at an even pace."""
    return 60.0 / per_minute if per_minute else 0.0


def _wait_for_rate(at: float, interval: float, now: float) -> float:
    """Seconds until one more keeps within the rate."""
    return at - now - max(BURST_SECONDS - interval, 0.0) if interval else 0.0


@dataclass
class Circuit:
    """What is kept of one endpoint.

    open_since is 0 while it answers. probe_at: when the next call is let in; probe: the name of the last one.
    """

    failures: int = 0
    open_since: float = 0.0
    probe_at: float = 0.0
    pause: float = 0.0
    probe: str = ""

    def wait(self, now: float) -> float:
        """Seconds until the next probe; 0 where the call may be made."""
        return max(self.probe_at - now, 0.0) if self.open_since else 0.0

    def let_in(self, entry: Entry, now: float) -> None:
        """Note that a call is made: while the circuit is open no other is, until this one has ended."""
        if self.open_since:
            self.probe, self.probe_at = entry.name, now + min(entry.lease, LONGEST_PAUSE)

    def withdraw(self, entry: Entry, now: float) -> None:
        """Note that a call was not made after all: another one may find out."""
        if self.probe == entry.name:
            self.probe, self.probe_at = "", now

    def succeeded(self) -> None:
        """The endpoint answered, well or badly."""
        self.failures, self.open_since, self.probe_at, self.pause, self.probe = 0, 0.0, 0.0, 0.0, ""

    def failed(self, entry: Entry, now: float) -> None:
        """The endpoint did not answer. Calls from before the circuit opened do not make the pause longer."""
        self.failures += 1
        if not self.open_since and self.failures >= OPENS_AFTER:
            self.open_since, self.pause = now, FIRST_PAUSE
            self.probe_at = now + self.pause
        elif self.probe == entry.name:
            self.pause = min(2 * self.pause, LONGEST_PAUSE)
            self.probe_at = now + self.pause


@dataclass(frozen=True)
class Outage:
    """An endpoint that does not answer. Moments are in seconds since 1970."""

    since: float
    next_try: float


OURS: Final = frozenset({"configuration", "internal"})
"""Kinds of failures that say nothing of the endpoint: it was not asked."""


def answers(kind: str) -> bool:
    """Whether an endpoint that failed in this way is there all the same, by its NoReplyError."""
    return not (kind in ("connection", "unreachable", "timeout") or kind.startswith("http_5"))


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
