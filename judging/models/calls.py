"""The calls of a run, and its progress counted from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import models
from django.db.models import Count, Q, Sum
from django.utils import timezone

from arena.models import Assignment, Comparison
from arena.models.querysets import word
from judging.models.purses import PaidCall, Payer
from judging.models.runs import JudgeRun, RunAssignment

RECENTLY = timedelta(minutes=3)  # the time over which a run's rate is measured


@dataclass(frozen=True)
class Progress:
    """What became of a run's assignments, and what its calls took.

    assigned = scored + unscored + identical + failed + put_aside + waiting.
    """

    assigned: int = 0
    scored: int = 0
    unscored: dict[str, int] = field(default_factory=dict)  # by reason
    identical: int = 0  # pairs of two equal texts
    failed: int = 0
    put_aside: int = 0  # could no longer be rated when their turn came
    in_flight: int = 0
    replied: int = 0
    cached: int = 0  # answered without asking
    retried: int = 0  # calls beyond the first of a question
    attempts_failed: int = 0
    abandoned: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    lacks_logprobs: int = 0  # replies without the log-probabilities that were asked for
    models: dict[str, int] = field(default_factory=dict)  # replies by the model that the endpoint names
    cost: Decimal | None = None  # None if no price is known
    reserved: Decimal = Decimal(0)
    budget: Decimal | None = None
    currency: str = ""  # of cost, reserved and budget
    per_minute: float | None = None  # assignments that ended lately; None if too few did

    @property
    def unscored_total(self) -> int:
        return sum(self.unscored.values())

    @property
    def done(self) -> int:
        return self.scored + self.unscored_total + self.identical

    @property
    def waiting(self) -> int:
        return self.assigned - self.done - self.failed - self.put_aside

    @property
    def calls(self) -> int:
        return self.replied - self.cached + self.attempts_failed + self.abandoned + self.in_flight

    @property
    def lacks_price(self) -> bool:
        """True where calls were made and none had a price."""
        return self.cost is None and self.calls > 0

    @property
    def seconds_left(self) -> float | None:
        return 60 * self.waiting / self.per_minute if self.per_minute else None


class JudgeCallQuerySet(models.QuerySet["JudgeCall"]):
    def in_flight(self) -> JudgeCallQuerySet:
        return self.filter(state=word("in_flight"))

    def overdue(self, now: datetime) -> JudgeCallQuerySet:
        return self.in_flight().filter(deadline__lte=now).order_by("deadline")

    def unreadable(self) -> JudgeCallQuerySet:
        """The replies that ended an assignment without a rating, oldest first; voters may be undecided."""
        return self.filter(status="unscored").exclude(reason="undecided").order_by("pk")

    def conversations(self, assignments: Collection[int]) -> JudgeCallQuerySet:
        """The calls about assignments in the order of asking, with only what the next step needs."""
        calls = self.filter(assignment__pk__in=assignments).order_by("pk")
        name = ("run", "assignment", "key", "round", "attempt")
        outcome = ("state", "error_kind", "in_outage", "retry_at", "finished_at", "latency", "expected")
        return calls.only(*name, *outcome, "raw_reply", "finish_reason", "refusal")

    def asking(self, hashes: Collection[str]) -> JudgeCallQuerySet:
        """Which of the requests are in flight, and until when at the latest."""
        asking = self.filter(request_hash__in=hashes, state="in_flight").exclude(request_hash="")
        return asking.order_by().only("request_hash", "deadline")

    def cached(self, hashes: Collection[str]) -> JudgeCallQuerySet:
        """The committed replies to requests, latest first."""
        replied = self.filter(request_hash__in=hashes, state="replied", cached_from=None)
        return replied.exclude(request_hash="").order_by("-pk")

    def progress(self, run: JudgeRun) -> Progress:
        return self.progress_of([run])[run.pk]

    def progress_of(self, runs: Sequence[JudgeRun]) -> dict[int, Progress]:
        """The progress of runs by id, in four queries; calls are counted from indexes."""
        ids = [run.pk for run in runs]
        now = timezone.now()
        planned = RunAssignment.objects.filter(run__in=ids).order_by().values_list("run")
        assigned = dict(planned.annotate(n=Count("pk")))
        put_aside = dict(planned.filter(put_aside=True).annotate(n=Count("pk")))
        found: dict[int, list[dict[str, Any]]] = {pk: [] for pk in ids}
        for counted in self.filter(run__in=ids).tallied(now - RECENTLY):
            found[counted["run"]].append(counted)
        lacking = self.filter(run__in=ids, lacks_logprobs=True).order_by().values_list("run")
        lacks = dict(lacking.annotate(n=Count("pk")))
        counted_by = {
            run.pk: _progress(run, assigned.get(run.pk, 0), put_aside.get(run.pk, 0), found[run.pk], now)
            for run in runs
        }
        return {pk: replace(one, lacks_logprobs=lacks.get(pk, 0)) for pk, one in counted_by.items()}

    def tallied(self, since: datetime) -> models.QuerySet[JudgeCall, dict[str, Any]]:
        """Counts and sums by all that progress tells apart; ``recent`` ended after ``since``.

        Reads only columns of the index judge_call_progress.
        """
        kinds = ("run", "state", "status", "reason", "given_up", "model_returned")
        asked = Q(cached_from=None)
        counted: models.QuerySet[JudgeCall, dict[str, Any]] = (
            self.order_by()
            .values(*kinds)
            .annotate(
                n=Count("pk"),
                from_cache=Count("cached_from"),
                again=Count("pk", filter=Q(attempt__gt=1)),
                recent=Count("pk", filter=Q(finished_at__gt=since)),
                prompt=Sum("prompt_tokens", filter=asked, default=0),
                completion=Sum("completion_tokens", filter=asked, default=0),
                reasoning=Sum("reasoning_tokens", filter=asked, default=0),
            )
        )
        return counted


def _progress(
    run: JudgeRun, assigned: int, put_aside: int, counted: Sequence[dict[str, Any]], now: datetime
) -> Progress:
    def total(name: str = "n", **kind: Any) -> int:
        return sum(row[name] for row in counted if all(row[key] == value for key, value in kind.items()))

    unscored: Counter[str] = Counter()
    by_model: Counter[str] = Counter()
    for row in counted:
        if row["status"] == "unscored":
            unscored[row["reason"]] += row["n"]
        if row["state"] == "replied" and row["model_returned"]:
            by_model[row["model_returned"]] += row["n"]
    ended = sum(row["recent"] for row in counted if row["status"] or row["given_up"])
    purse = run.purse
    return Progress(
        assigned=assigned + run.identical,
        scored=total(status="scored"),
        unscored=dict(sorted(unscored.items())),
        identical=run.identical + total(status="identical"),
        failed=total(given_up=True),
        put_aside=put_aside,
        in_flight=total(state="in_flight"),
        replied=total(state="replied"),
        cached=total("from_cache"),
        retried=total("again"),
        attempts_failed=total(state="failed"),
        abandoned=total(state="abandoned"),
        prompt_tokens=total("prompt"),
        completion_tokens=total("completion"),
        reasoning_tokens=total("reasoning"),
        models=dict(sorted(by_model.items())),
        cost=purse.spent if purse.currency else None,
        reserved=purse.reserved,
        budget=purse.budget,
        currency=purse.currency,
        per_minute=_rate(run, ended, now),
    )


def _rate(run: JudgeRun, ended: int, now: datetime) -> float | None:
    if run.state != "running" or run.started_at is None or not ended:
        return None
    seconds = min(RECENTLY, now - run.started_at).total_seconds()
    return 60 * ended / max(seconds, 1.0)


class JudgeCall(PaidCall):
    """One question to a model. A reply is committed here before anything else happens to it."""

    class State(models.TextChoices):
        IN_FLIGHT = "in_flight", "In flight"
        REPLIED = "replied", "Replied"
        FAILED = "failed", "Failed"
        ABANDONED = "abandoned", "Abandoned"

    run = models.ForeignKey(JudgeRun, models.CASCADE, related_name="calls")
    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="judge_calls")
    key = models.CharField(max_length=240, help_text="Names the question among those of the protocol.")
    round = models.PositiveSmallIntegerField(
        default=0, help_text="Raised each time the assignment is asked anew although it has its answer."
    )
    attempt = models.PositiveIntegerField(help_text="Counted from 1 over all runs.")
    state = models.CharField(max_length=10, choices=State, default=State.IN_FLIGHT)
    worker = models.CharField(max_length=200, help_text="The process that asked.")
    prompt_hash = models.CharField(max_length=64)
    model = models.CharField(max_length=200, blank=True, help_text="The model that was asked.")
    sample = models.PositiveIntegerField(
        default=0, help_text="Tells calls apart that are made although their messages are the same."
    )
    request_hash = models.CharField(
        max_length=64, blank=True, help_text="Of all that shapes the reply: equal hashes share one."
    )
    cached_from = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,  # but below, without NULL: SQLite would look for a request among all that have none
        help_text="The call whose reply this is; nothing was asked.",
    )
    messages = models.JSONField(help_text="Exactly what was sent.")
    started_at = models.DateTimeField(default=timezone.now)
    deadline = models.DateTimeField(help_text="After this the process that asked is taken for dead.")
    finished_at = models.DateTimeField(null=True, blank=True)
    latency = models.FloatField(null=True, blank=True, help_text="Seconds from sending to the reply.")

    raw_reply = models.TextField(blank=True)
    refusal = models.TextField(blank=True, help_text="Text of a separate refusal field.")
    finish_reason = models.CharField(max_length=50, blank=True)
    model_returned = models.CharField(max_length=200, blank=True)
    logprobs = models.JSONField(
        null=True, blank=True, help_text="Log-probabilities of the tokens that could stand for the verdict."
    )
    expected = models.FloatField(null=True, blank=True, help_text="Expected rating over the answer tokens.")
    lacks_logprobs = models.BooleanField(
        default=False, help_text="Log-probabilities were asked for, and its reply has none."
    )
    error = models.CharField(max_length=600, blank=True)
    retry_at = models.DateTimeField(null=True, blank=True)
    in_outage = models.BooleanField(
        default=False,
        help_text="It failed while its endpoint did not answer or asked to wait: no attempt is used up.",
    )
    given_up = models.BooleanField(
        default=False,
        help_text="The last call of this run about the assignment, which ends without an answer.",
    )

    status = models.CharField(max_length=10, choices=Comparison.Status, blank=True)
    reason = models.CharField(max_length=20, choices=Comparison.Reason, blank=True)
    rating = models.PositiveSmallIntegerField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)

    objects = JudgeCallQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "key", "round", "attempt"], name="judge_call_attempt_once"
            ),
            models.UniqueConstraint(
                fields=["assignment", "key", "round"],
                condition=Q(state__in=["in_flight", "replied"]),
                name="judge_call_one_live",
            ),
            models.UniqueConstraint(
                fields=["request_hash"],
                condition=Q(state="in_flight") & ~Q(request_hash=""),
                name="judge_call_request_in_flight_once",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["in_flight", "replied", "failed", "abandoned"]),
                name="judge_call_state_known",
            ),
            models.CheckConstraint(
                condition=Q(state="in_flight", finished_at__isnull=True)
                | (~Q(state="in_flight") & Q(finished_at__isnull=False)),
                name="judge_call_finished_unless_in_flight",
            ),
            models.CheckConstraint(
                condition=(Q(state="failed") & ~Q(error_kind="")) | (~Q(state="failed")),
                name="judge_call_failed_with_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(submitted_at__isnull=True) | (Q(state="replied") & ~Q(status="")),
                name="judge_call_submitted_with_outcome",
            ),
        ]
        indexes = [
            # Everything that the progress of a run is counted from, so that no call itself is read for it.
            models.Index(
                fields=[
                    "run",
                    "state",
                    "status",
                    "reason",
                    "given_up",
                    "model_returned",
                    "cached_from",
                    "attempt",
                    "finished_at",
                    "prompt_tokens",
                    "completion_tokens",
                    "reasoning_tokens",
                ],
                name="judge_call_progress",
            ),
            models.Index(fields=["deadline"], condition=Q(state="in_flight"), name="judge_call_in_flight"),
            models.Index(
                fields=["request_hash"],
                condition=Q(state="replied", cached_from__isnull=True) & ~Q(request_hash=""),
                name="judge_call_cache",
            ),
            models.Index(fields=["run"], condition=Q(lacks_logprobs=True), name="judge_call_lacks_logprobs"),
            models.Index(
                fields=["cached_from"], condition=Q(cached_from__isnull=False), name="judge_call_reused"
            ),
        ]

    def __str__(self) -> str:
        return f"call {self.pk}"

    @property
    def is_in_flight(self) -> bool:
        return self.state == self.State.IN_FLIGHT

    @property
    def has_replied(self) -> bool:
        return self.state == self.State.REPLIED

    @property
    def payer(self) -> Payer:
        return "run", self.run_id
