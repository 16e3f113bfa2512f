"""Rate limits of endpoints and circuit breakers of addresses, in this process or shared over Redis.

Rates: generic cell rate algorithm (ITU-T I.371), whose only state is the moment at which all earlier calls
would have been made at an even pace. Circuits (Nygard, Release It!, 2007) open after some failures in a row;
then single probes are let in at growing intervals until one succeeds.
"""

import json
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from threading import Lock
from typing import Final, Protocol, TypeVar, cast

import redis
from django.conf import settings

OPENS_AFTER: Final = 5  # failures in a row without any reply that open the circuit of an endpoint
FIRST_PAUSE: Final = 5.0
LONGEST_PAUSE: Final = 300.0  # seconds between two probes, doubled from one to the next
BURST_SECONDS: Final = 1.0
"""What a rate allows in so many seconds may be used at once, and always one request."""

MANY: Final = 1_000_000  # stands for no limit of simultaneous calls
LONGEST_DEBT: Final = 600.0  # most seconds that others wait because a call took more tokens than expected
FULL: Final = 0.5  # seconds until the next try while all places are taken


@dataclass(frozen=True)
class Limits:
    """None for no limit."""

    concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


@dataclass(frozen=True)
class StartingCall:
    endpoint: str
    address: str
    name: str
    limits: Limits
    tokens: int  # expected, prompt and reply together
    lease: float  # seconds after which it counts as ended


@dataclass(frozen=True)
class EndedCall:
    call: StartingCall
    kind: str = ""  # of its NoReplyError, "" for a reply
    retry_after: float = 0.0  # seconds that the endpoint asks to wait
    tokens: int | None = None


@dataclass
class Usage:
    """What was used of the limits of an endpoint. Times are in seconds since 1970."""

    requests_at: float = 0.0  # when all requests so far would have been made at an even pace
    tokens_at: float = 0.0  # the same for tokens
    closed_until: float = 0.0  # by a Retry-After
    in_flight: dict[str, float] = field(default_factory=dict)  # when each call, by its name, counts as ended

    def start(self, call: StartingCall, now: float) -> float:
        """Seconds until the next try; 0 if the call may be made, which is noted."""
        wait = self.pause(call.limits, now) or (0.0 if self.free(call.limits, now) else FULL)
        if not wait:
            requests, tokens = call.limits.requests_per_minute, call.limits.tokens_per_minute
            self.requests_at = max(self.requests_at, now) + _interval(requests)
            self.tokens_at = max(self.tokens_at, now) + _interval(tokens) * call.tokens
            self.in_flight[call.name] = now + call.lease
        return wait

    def pause(self, limits: Limits, now: float) -> float:
        """Seconds until the rates and a Retry-After allow another call."""
        request, token = _interval(limits.requests_per_minute), _interval(limits.tokens_per_minute)
        waits = _wait_for_rate(self.requests_at, request, now), _wait_for_rate(self.tokens_at, token, now)
        return max(self.closed_until - now, *waits, 0.0)

    def free(self, limits: Limits, now: float) -> int:
        self.in_flight = {name: until for name, until in self.in_flight.items() if until > now}
        return MANY if limits.concurrency is None else max(limits.concurrency - len(self.in_flight), 0)


def _interval(per_minute: int | None) -> float:
    """Seconds between two at an even pace."""
    return 60.0 / per_minute if per_minute else 0.0


def _wait_for_rate(at: float, interval: float, now: float) -> float:
    """Seconds until one more keeps within the rate."""
    return at - now - max(BURST_SECONDS - interval, 0.0) if interval else 0.0


@dataclass
class Circuit:
    """The circuit breaker of one address. Times are in seconds since 1970."""

    failures: int = 0
    open_since: float = 0.0  # 0 while the endpoint answers
    probe_at: float = 0.0  # when the next probe may start
    pause: float = 0.0  # seconds between two probes
    probe: str = ""  # name of the last one

    def wait(self, now: float) -> float:
        return max(self.probe_at - now, 0.0) if self.open_since else 0.0

    def start(self, call: StartingCall, now: float) -> None:
        """Note a call; while the circuit is open it is the probe that the others wait for."""
        if self.open_since:
            self.probe, self.probe_at = call.name, now + min(call.lease, LONGEST_PAUSE)

    def cancel(self, call: StartingCall, now: float) -> None:
        """Note that a call is not made; if it was the probe, another may be."""
        if self.probe == call.name:
            self.probe, self.probe_at = "", now

    def succeeded(self) -> None:
        self.failures, self.open_since, self.probe_at, self.pause, self.probe = 0, 0.0, 0.0, 0.0, ""

    def failed(self, call: StartingCall, now: float) -> None:
        """Note that the endpoint did not answer. Only a probe's failure lengthens the pause."""
        self.failures += 1
        if not self.open_since and self.failures >= OPENS_AFTER:
            self.open_since, self.pause = now, FIRST_PAUSE
            self.probe_at = now + self.pause
        elif self.probe == call.name:
            self.pause = min(2 * self.pause, LONGEST_PAUSE)
            self.probe_at = now + self.pause


@dataclass(frozen=True)
class Outage:
    """Times are in seconds since 1970."""

    since: float
    next_try: float


NOT_ASKED: Final = frozenset({"configuration", "internal"})
"""Kinds of failures in which the endpoint was not asked."""


def answers(kind: str) -> bool:
    return not (kind in ("connection", "unreachable", "timeout") or kind.startswith("http_5"))


KEPT_SECONDS: Final = 86_400  # how long Redis remembers what nobody asks about
TIMEOUT: Final = 2.0  # seconds to wait for Redis

Result = TypeVar("Result")
Kept = TypeVar("Kept", Usage, Circuit)
Change = Callable[[Usage, Circuit, float], Result]
"""Changes an endpoint's usage and the circuit of its address, given the time in seconds since 1970."""


class Store(Protocol):
    """Keeps the usage of endpoints and the circuits of addresses."""

    def change(self, endpoint: str, address: str, change: Change[Result]) -> Result:
        """Apply a change to both, atomically. It may be called more than once."""
        ...


class MemoryStore:
    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = Lock()
        self._usages: dict[str, Usage] = defaultdict(Usage)
        self._circuits: dict[str, Circuit] = defaultdict(Circuit)

    def change(self, endpoint: str, address: str, change: Change[Result]) -> Result:
        with self._lock:
            return change(self._usages[endpoint], self._circuits[address], self._clock())


class RedisStore:
    """Shares over Redis, by its clock; raises redis.RedisError."""

    def __init__(self, url: str) -> None:
        self._lock = Lock()  # threads of one process take turns, instead of making changes in vain
        self._redis = redis.Redis.from_url(
            url.replace("redis+socket://", "unix://", 1),
            decode_responses=True,
            socket_timeout=TIMEOUT,
            socket_connect_timeout=TIMEOUT,
        )

    def change(self, endpoint: str, address: str, change: Change[Result]) -> Result:
        usage_key, circuit_key = f"arena:endpoint:{endpoint}", f"arena:circuit:{address}"
        with self._lock, self._redis.pipeline() as pipe:
            while True:
                try:
                    pipe.watch(usage_key, circuit_key)  # type: ignore[no-untyped-call]
                    seconds, micros = pipe.time()
                    kept_usage, kept_circuit = cast("list[str | None]", pipe.mget(usage_key, circuit_key))
                    usage, circuit = _read(Usage, kept_usage), _read(Circuit, kept_circuit)
                    result = change(usage, circuit, seconds + micros / 1e6)
                    pipe.multi()
                    if usage != _read(Usage, kept_usage):
                        pipe.set(usage_key, json.dumps(asdict(usage)), ex=KEPT_SECONDS)
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

NO_ENDPOINT: Final = "-"  # stands for the endpoint where only an address is looked at


class Limiter:
    """Says which calls may be made now, by the limits of their endpoint and the circuit of its address.

    While the shared store is away, this process keeps to the limits by itself.
    """

    def __init__(self, store: Store, instead: Store | None = None) -> None:
        self._store, self._instead = store, instead or MemoryStore()

    def start(self, starting: Sequence[StartingCall], ended: Sequence[EndedCall] = ()) -> list[float]:
        """For each call, in order, the seconds until the next try; 0 if it may be made, which is noted.

        The ended calls are noted first, in the same write.
        """
        return self._note(ended, starting)[1]

    def end(self, ended: Sequence[EndedCall]) -> list[Outage | None]:
        """For each ended call, in order, the outage of its endpoint in which it failed, if any."""
        return self._note(ended, ())[0]

    def _note(
        self, ended: Sequence[EndedCall], starting: Sequence[StartingCall]
    ) -> tuple[list[Outage | None], list[float]]:
        """Outages of ended calls and waits of starting ones, in one write per endpoint."""
        groups: dict[tuple[str, str], tuple[list[EndedCall], list[StartingCall]]] = defaultdict(
            lambda: ([], [])
        )
        for one in ended:
            groups[one.call.endpoint, one.call.address][0].append(one)
        for call in starting:
            groups[call.endpoint, call.address][1].append(call)
        outages: dict[str, Outage | None] = {}
        waits: dict[str, float] = {}
        for (endpoint, address), group in groups.items():
            found, told = self._change(endpoint, address, partial(_note, *group))
            outages |= found
            waits |= told
        return [outages[one.call.name] for one in ended], [waits[call.name] for call in starting]

    def room(self, endpoint: str, address: str, limits: Limits) -> tuple[float, int]:
        """Seconds until another call may be made, and how many may then be made at once."""

        def look(usage: Usage, circuit: Circuit, now: float) -> tuple[float, int]:
            return circuit.wait(now) or usage.pause(limits, now), usage.free(limits, now)

        return self._change(endpoint, address, look)

    def cancel(self, calls: Sequence[StartingCall]) -> None:
        """Note that calls are not made. What they took of the rates is not given back."""
        for call in calls:
            self._change(call.endpoint, call.address, partial(_cancel, call))

    def outage(self, address: str) -> Outage | None:
        return self._change(NO_ENDPOINT, address, lambda usage, circuit, now: _outage(circuit))

    def _change(self, endpoint: str, address: str, change: Change[Result]) -> Result:
        try:
            return self._store.change(endpoint, address, change)
        except redis.RedisError as error:
            logger.warning("Redis is away, this process keeps to the limits by itself: %s", error)
            return self._instead.change(endpoint, address, change)


def _note(
    ended: Sequence[EndedCall],
    starting: Sequence[StartingCall],
    usage: Usage,
    circuit: Circuit,
    now: float,
) -> tuple[dict[str, Outage | None], dict[str, float]]:
    """The outages of ended calls, and then the waits of starting ones, by name."""
    outages = {one.call.name: _end(one, usage, circuit, now) for one in ended}
    return outages, {call.name: _start(call, usage, circuit, now) for call in starting}


def _start(call: StartingCall, usage: Usage, circuit: Circuit, now: float) -> float:
    wait = circuit.wait(now) or usage.start(call, now)
    if not wait:
        circuit.start(call, now)
    return wait


def _end(one: EndedCall, usage: Usage, circuit: Circuit, now: float) -> Outage | None:
    call, limit = one.call, one.call.limits.tokens_per_minute
    usage.in_flight.pop(call.name, None)
    usage.closed_until = max(usage.closed_until, now + one.retry_after)
    if one.tokens is not None and limit:
        debt = (one.tokens - call.tokens) * 60.0 / limit
        usage.tokens_at = min(usage.tokens_at + debt, max(usage.tokens_at, now + LONGEST_DEBT))
    if one.kind in NOT_ASKED:
        circuit.cancel(call, now)
        return None
    if answers(one.kind):
        circuit.succeeded()
        return None
    circuit.failed(call, now)
    return _outage(circuit)


def _cancel(call: StartingCall, usage: Usage, circuit: Circuit, now: float) -> None:
    usage.in_flight.pop(call.name, None)
    circuit.cancel(call, now)


def _outage(circuit: Circuit) -> Outage | None:
    return Outage(circuit.open_since, circuit.probe_at) if circuit.open_since else None


@cache
def limiter() -> Limiter:
    """The limiter of this arena, shared over the broker's Redis if there is one."""
    url = str(settings.CELERY_BROKER_URL)
    is_shared = url.startswith(("redis://", "rediss://", "redis+socket://"))
    return Limiter(RedisStore(url) if is_shared else MemoryStore())
