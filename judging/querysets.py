"""Reads, named after what needs them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Count, Q, Sum
from django.utils import timezone

if TYPE_CHECKING:
    from judging.models import JudgeCall, JudgeRun


@dataclass(frozen=True)
class Progress:
    """What became of a run's assignments, and what its calls cost.

    assigned = scored + unscored + failed + waiting, waiting being those still without an answer. unscored is
    given by reason. attempts_failed and abandoned count calls, not assignments. models counts replies by the
    name of the model that the endpoint gives.
    """

    assigned: int = 0
    scored: int = 0
    unscored: dict[str, int] = field(default_factory=dict)
    failed: int = 0
    in_flight: int = 0
    replied: int = 0
    attempts_failed: int = 0
    abandoned: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    models: dict[str, int] = field(default_factory=dict)

    @property
    def unscored_total(self) -> int:
        return sum(self.unscored.values())

    @property
    def done(self) -> int:
        return self.scored + self.unscored_total + self.failed

    @property
    def waiting(self) -> int:
        return self.assigned - self.done


class JudgeRunQuerySet(models.QuerySet["JudgeRun"]):
    def active(self) -> JudgeRunQuerySet:
        """Queued, running or paused: there is one of a judge over a study."""
        return self.filter(state__in=["queued", "running", "paused"])

    def going_on(self) -> JudgeRunQuerySet:
        """Queued or running: it ends by itself."""
        return self.filter(state__in=["queued", "running"])

    def for_list(self) -> JudgeRunQuerySet:
        """With what the list of runs shows beside each, newest first."""
        # Django drops a model's own ordering from a query that groups.
        listed = self.select_related("study", "judge__rater").order_by("-pk")
        return listed.annotate(assigned=Count("run_assignments", distinct=True))


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
        needed = ("run", "assignment", "key", "round", "attempt", "state", "latency", "expected")
        return calls.only(*needed, "raw_reply", "finish_reason", "refusal")

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
        """The counts of one run, in four queries."""
        calls = self.filter(run=run).order_by()
        counts = calls.aggregate(
            failed=Count("pk", filter=Q(given_up=True)),
            in_flight=Count("pk", filter=Q(state="in_flight")),
            replied=Count("pk", filter=Q(state="replied")),
            attempts_failed=Count("pk", filter=Q(state="failed")),
            abandoned=Count("pk", filter=Q(state="abandoned")),
            prompt_tokens=Sum("prompt_tokens", default=0),
            completion_tokens=Sum("completion_tokens", default=0),
        )
        outcomes = calls.exclude(submitted_at=None).values_list("status", "reason").annotate(n=Count("pk"))
        by_reason = {reason: n for _, reason, n in outcomes}
        scored = by_reason.pop("", 0)
        replied = calls.filter(state="replied").exclude(model_returned="").order_by("model_returned")
        models = dict(replied.values_list("model_returned").annotate(n=Count("pk")))
        assigned = run.run_assignments.count()
        return Progress(assigned=assigned, scored=scored, unscored=by_reason, models=models, **counts)
