from dataclasses import dataclass
from typing import Final

from django.db import models
from django.utils import timezone

from judging.models.endpoints import Endpoint

OPENS_AFTER: Final = 5  # failures in a row without any reply that open a circuit
FIRST_PAUSE: Final = 5.0
LONGEST_PAUSE: Final = 300.0  # seconds between two probes, doubled from one to the next
BURST_SECONDS: Final = 1.0
"""So many seconds of a rate may be used at once, and always one request."""

LONGEST_DEBT: Final = 600.0  # most seconds that others wait because a call took more tokens than expected
FULL: Final = 0.5  # seconds until the next try while all places are taken


@dataclass(frozen=True)
class Outage:
    """Reason why a model cannot be asked. Times are in seconds since 1970.

    is_limit: its endpoint asks to wait; else it does not answer.
    """

    since: float
    next_try: float
    said: str = ""
    is_limit: bool = False


class RateLimit(models.Model):
    """The use of a model at an endpoint. Who begins or ends calls to the model locks its row.

    Rates: generic cell rate algorithm (ITU-T I.371), whose only state is the moment at which all earlier
    calls would have been made at an even pace. Circuits (Nygard, Release It!, 2007): after some failures in a
    row single probes are let in, at growing intervals, until one succeeds. A row without a model is about the
    address, which may refuse connections. Times are in seconds since 1970.
    """

    base_url = models.CharField("address", max_length=500)
    api_key_env = models.CharField("key variable", max_length=100, blank=True)
    model = models.CharField(max_length=200, blank=True)
    requests_at = models.FloatField(default=0, help_text="When all requests would have been made evenly.")
    tokens_at = models.FloatField(default=0, help_text="The same for tokens.")
    closed_at = models.FloatField(default=0, help_text="When the endpoint asked to wait.")
    closed_until = models.FloatField(default=0)
    failures = models.PositiveIntegerField(default=0, help_text="In a row, without an answer.")
    open_since = models.FloatField(default=0, help_text="0 while the endpoint answers.")
    probe_at = models.FloatField(default=0, help_text="When the next probe may start.")
    pause = models.FloatField(default=0, help_text="Seconds between two tries, doubled until a reply comes.")
    said = models.CharField(max_length=600, blank=True, help_text="The endpoint's last words of that.")

    in_flight = 0
    """Number of calls in flight, counted by who locks the row."""

    before: tuple[object, ...] = ()
    """The columns as they were when it was locked."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["base_url", "api_key_env", "model"], name="rate_limit_once")
        ]

    def __str__(self) -> str:
        return f"{self.model} at {self.base_url}"

    @property
    def key(self) -> tuple[str, str, str]:
        return self.base_url, self.api_key_env, self.model

    def wait(self, endpoint: Endpoint, now: float) -> float:
        """Seconds until circuit, rates and the endpoint's wish allow another call."""
        if self.open_since and self.probe_at > now:
            return self.probe_at - now
        rates = (
            (self.requests_at, _interval(endpoint.requests_per_minute)),
            (self.tokens_at, _interval(endpoint.tokens_per_minute)),
        )
        waits = [at - now - max(BURST_SECONDS - interval, 0.0) for at, interval in rates if interval]
        return max(self.closed_until - now, *waits, 0.0)

    def free(self, endpoint: Endpoint) -> int:
        """Number of calls that may be made beside those in flight."""
        return max(endpoint.concurrency - self.in_flight, 0)

    def start(self, endpoint: Endpoint, now: float, *, tokens: int = 0, lease: float = 0.0) -> float:
        """Seconds until the next try; 0 if the call may be made, which is noted.

        tokens: those expected, of prompt and reply. lease: seconds after which the call counts as ended.
        """
        wait = self.wait(endpoint, now) or (0.0 if self.free(endpoint) else FULL)
        if not wait:
            self.in_flight += 1
            if endpoint.requests_per_minute:
                self.requests_at = max(self.requests_at, now) + _interval(endpoint.requests_per_minute)
            if endpoint.tokens_per_minute:
                interval = _interval(endpoint.tokens_per_minute)
                self.tokens_at = max(self.tokens_at, now) + interval * tokens
            self.await_probe(now, lease)
        return wait

    def await_probe(self, now: float, lease: float) -> None:
        """While the circuit is open, a call is the probe that all others wait for."""
        if self.open_since:
            self.probe_at = now + min(lease, LONGEST_PAUSE)

    def cancel(self, now: float) -> None:
        """Note that a call is not made. What it took of the rates is not given back."""
        self.in_flight -= 1
        self.free_probe(now)

    def free_probe(self, now: float) -> None:
        """Let another call be the probe."""
        if self.open_since:
            self.probe_at = now

    def count_tokens(self, endpoint: Endpoint, expected: int, taken: int, now: float) -> None:
        """Correct the tokens that were expected of a call."""
        if endpoint.tokens_per_minute:
            debt = (taken - expected) * _interval(endpoint.tokens_per_minute)
            self.tokens_at = min(self.tokens_at + debt, max(self.tokens_at, now + LONGEST_DEBT))

    def answered(self) -> None:
        """Note that somebody is there."""
        self.failures, self.open_since, self.probe_at = 0, 0.0, 0.0

    def replied(self) -> None:
        """Note that a call brought its reply."""
        self.answered()
        self.pause, self.said = 0.0, ""

    def failed(self, started: float, now: float, said: str) -> None:
        """Note that there was no answer to a call. Only a probe's failure lengthens the pause."""
        self.failures += 1
        self.said = said[:LONGEST_SAID]
        if not self.open_since and self.failures >= OPENS_AFTER:
            self.open_since, self.pause = now, FIRST_PAUSE
            self.probe_at = now + self.pause
        elif self.open_since and started >= self.open_since:
            self.pause = min(2 * self.pause, LONGEST_PAUSE)
            self.probe_at = now + self.pause

    def close(self, started: float, now: float, seconds: float, least: float, said: str) -> None:
        """Note that the endpoint asks to wait; at ``least`` so long, and longer each time until a reply."""
        self.answered()
        self.said = said[:LONGEST_SAID]
        if started >= self.closed_until:
            self.pause, self.closed_at = min(2 * self.pause or least, LONGEST_PAUSE), now
            seconds = max(seconds, self.pause)
        self.closed_until = max(self.closed_until, now + seconds)

    @property
    def outage(self) -> Outage | None:
        """Reason why the model cannot be asked for now."""
        if self.open_since:
            return Outage(self.open_since, self.probe_at, self.said)
        if self.pause:  # no reply has come since
            return Outage(self.closed_at, self.closed_until, self.said, is_limit=True)
        return None

    @property
    def is_troubled(self) -> bool:
        """True until a reply is noted."""
        return bool(self.failures or self.pause)


LONGEST_SAID: Final = RateLimit._meta.get_field("said").max_length or 0


def _interval(per_minute: int | None) -> float:
    """Seconds between two at an even pace."""
    return 60.0 / per_minute if per_minute else 0.0


class WorkerProcess(models.Model):
    """A process that asks models and says every few seconds that it lives."""

    name = models.CharField(max_length=200, unique=True)
    seen_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.name
