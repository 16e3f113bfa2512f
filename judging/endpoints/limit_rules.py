"""The rules of the limits: pure, so that every store of their state decides alike.

Rates are held by the generic cell rate algorithm (ITU-T I.371): of everything asked so far one keeps only the
moment at which all of it would have been asked at an even pace. A circuit (Nygard, Release It!, 2007) opens
after some failures in a row; then one probe is let in every so often, ever more seldom, until one succeeds.
"""

from dataclasses import dataclass, field
from typing import Final

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
        waits = _wait(self.requests_at, request, now), _wait(self.tokens_at, token, now)
        return max(self.closed_until - now, *waits, 0.0)

    def free(self, limits: Limits, now: float) -> int:
        """How many more calls may be in flight."""
        self.inside = {name: until for name, until in self.inside.items() if until > now}
        return MANY if limits.concurrency is None else max(limits.concurrency - len(self.inside), 0)


def _interval(per_minute: int | None) -> float:
    """Seconds between two at an even pace."""
    return 60.0 / per_minute if per_minute else 0.0


def _wait(at: float, interval: float, now: float) -> float:
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
