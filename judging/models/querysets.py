"""Reads, named after what needs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Count, Q, Sum
from django.utils import timezone

if TYPE_CHECKING:
    from judging.models import JudgeCall, JudgeRun


RECENTLY = timedelta(minutes=3)
"""The rate of a run is that of its last minutes."""


@dataclass(frozen=True)
class Progress:
    """What became of a run's assignments, and what its calls took.

    assigned = scored + unscored + identical + failed + put_aside + waiting, waiting being those still without
    an answer. unscored is given by reason; identical are pairs of two equal texts, asked as a control or not
    at all; put_aside are those that could not be rated any more when their turn came. Of calls, not
    assignments: in_flight, replied, cached (replies that were there already), retried (calls
    beyond the first of a question), attempts_failed and abandoned. models counts replies by the name of the
    model that the endpoint gives. cost is None where no price is known; ``currency`` is that of cost,
    reserved and budget. per_minute: assignments that ended in each of the last minutes, None where too few
    did to say.
    """

    assigned: int = 0
    scored: int = 0
    unscored: dict[str, int] = field(default_factory=dict)
    identical: int = 0
    failed: int = 0
    put_aside: int = 0
    in_flight: int = 0
    replied: int = 0
    cached: int = 0
    retried: int = 0
    attempts_failed: int = 0
    abandoned: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    models: dict[str, int] = field(default_factory=dict)
    cost: Decimal | None = None
    reserved: Decimal = Decimal(0)
    budget: Decimal | None = None
    currency: str = ""
    per_minute: float | None = None

    @property
    def unscored_total(self) -> int:
        return sum(self.unscored.values())

    @property
    def done(self) -> int:
        return self.scored + self.unscored_total + self.identical + self.failed + self.put_aside

    @property
    def waiting(self) -> int:
        return self.assigned - self.done

    @property
    def calls(self) -> int:
        """Questions that were sent to an endpoint, whatever came of them."""
        return self.replied - self.cached + self.attempts_failed + self.abandoned + self.in_flight

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes at this rate."""
        return 60 * self.waiting / self.per_minute if self.per_minute else None


class JudgeRunQuerySet(models.QuerySet["JudgeRun"]):
    def active(self) -> JudgeRunQuerySet:
        """Queued, running or paused: there is one of a judge over a study."""
        return self.filter(state__in=["queued", "running", "paused"])

    def going_on(self) -> JudgeRunQuerySet:
        """Queued or running: it ends by itself."""
        return self.filter(state__in=["queued", "running"])

    def for_list(self) -> JudgeRunQuerySet:
        """With what the list of runs shows beside each, newest first."""
        return self.select_related("study", "judge__rater").order_by("-pk")


class JudgeCallQuerySet(models.QuerySet["JudgeCall"]):
    def overdue(self, now: datetime) -> JudgeCallQuerySet:
        """In flight past their deadline: whoever asked is gone."""
        return self.filter(state="in_flight", deadline__lte=now)

    def unsubmitted(self, now: datetime) -> JudgeCallQuerySet:
        """Replied, due to be submitted."""
        return self.filter(submit_due_at__lte=now)

    def unsubmitted_of(self, assignment: int) -> JudgeCall | None:
        """The committed reply of an assignment that is due to be submitted, with all that needs."""
        replied = self.unsubmitted(timezone.now()).filter(assignment=assignment)
        return replied.select_related("assignment", "run__judge__rater").first()

    def conversations(self, assignments: Collection[int]) -> JudgeCallQuerySet:
        """The calls about assignments in the order of asking, with no more than the next step needs."""
        calls = self.filter(assignment__in=assignments).order_by("pk")
        name = ("run", "assignment", "key", "round", "attempt")
        outcome = ("state", "error_kind", "in_outage", "latency", "expected")
        return calls.only(*name, *outcome, "raw_reply", "finish_reason", "refusal")

    def held_up_to(self, hashes: Collection[str]) -> dict[str, datetime]:
        """Those of the requests that are in flight, by hash, with the deadline of each."""
        in_flight = self.filter(request_hash__in=hashes, state="in_flight").exclude(request_hash="")
        return dict(in_flight.values_list("request_hash", "deadline"))

    def cached(self, hashes: Collection[str]) -> JudgeCallQuerySet:
        """The committed replies to requests, latest first."""
        replied = self.filter(request_hash__in=hashes, state="replied", cached_from=None)
        return replied.exclude(request_hash="").order_by("-pk")

    def for_page(self) -> JudgeCallQuerySet:
        """With what the list of calls shows beside each."""
        return self.select_related("assignment")

    def progress(self, run: JudgeRun) -> Progress:
        """The counts of one run."""
        return self.progress_of([run])[run.pk]

    def progress_of(self, runs: Sequence[JudgeRun]) -> dict[int, Progress]:
        """The counts of some runs, by id, in three queries: one goes through an index of calls alone."""
        from judging.models import RunAssignment

        ids = [run.pk for run in runs]
        now = timezone.now()
        planned = RunAssignment.objects.filter(run__in=ids).order_by().values_list("run")
        assigned = dict(planned.annotate(n=Count("pk")))
        put_aside = dict(planned.filter(put_aside=True).annotate(n=Count("pk")))
        found: dict[int, list[dict[str, Any]]] = {pk: [] for pk in ids}
        for counted in self.filter(run__in=ids).tallied(now - RECENTLY):
            found[counted["run"]].append(counted)
        return {
            run.pk: _progress(run, assigned.get(run.pk, 0), put_aside.get(run.pk, 0), found[run.pk], now)
            for run in runs
        }

    def tallied(self, since: datetime) -> models.QuerySet[JudgeCall, dict[str, Any]]:
        """Calls counted by all that a run's progress tells apart; ``recent`` ended after ``since``.

        Reads no column that the index judge_call_progress does not hold.
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
    """The progress of a run from its tallied calls."""

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
        cost=run.spent if run.currency else None,
        reserved=run.reserved,
        budget=run.budget,
        currency=run.currency,
        per_minute=_rate(run, ended, now),
    )


def _rate(run: JudgeRun, ended: int, now: datetime) -> float | None:
    """Assignments per minute lately; None while nothing ends, or nothing is to."""
    if run.state != "running" or run.started_at is None or not ended:
        return None
    seconds = min(RECENTLY, now - run.started_at).total_seconds()
    return 60 * ended / max(seconds, 1.0)
