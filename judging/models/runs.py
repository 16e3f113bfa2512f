from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from arena.models import Assignment, Contestant, Study
from judging.models.judges import Judge


class JudgeRunQuerySet(models.QuerySet["JudgeRun"]):
    def whole(self) -> JudgeRunQuerySet:
        """With study and judge."""
        return self.select_related("study", "judge__rater", "judge__endpoint")

    def active(self) -> JudgeRunQuerySet:
        """Queued, running or paused: at most one of a judge over a study."""
        return self.filter(state__in=["queued", "running", "paused"])

    def going_on(self) -> JudgeRunQuerySet:
        return self.filter(state__in=["queued", "running"])


class JudgeRun(models.Model):
    """One judge over one study; its progress is counted from rows (judging.models.calls)."""

    class State(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        PAUSED = "paused", "Paused"
        FINISHED = "finished", "Finished"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    class Kind(models.TextChoices):
        ALL = "all", "All not rated yet"
        EXTEND = "extend", "Those never asked about"
        FAILURES = "failures", "Those that failed"
        UNSCORED = "unscored", "Those whose reply had no rating"

    study = models.ForeignKey(Study, models.CASCADE, related_name="judge_runs")
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="runs")
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.ALL)
    limit = models.PositiveIntegerField(
        null=True, blank=True, help_text="Most pairs or answers to ask about."
    )
    both_orders = models.BooleanField(default=False, help_text="Ask about every pair in both orders.")
    controls = models.BooleanField(
        default=False, help_text="Ask about pairs of identical answers too, as a test of the judge."
    )
    identical = models.PositiveIntegerField(
        default=0, help_text="Pairs of identical answers, recorded without asking."
    )
    contestant = models.ForeignKey(
        Contestant,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="judge_runs",
        help_text="Ask only about what shows an answer of it.",
    )
    remote = models.BooleanField(
        default=False,
        help_text="Judge workers on other machines ask over the API, not this arena.",
    )
    reads_on = models.BooleanField(
        default=False, help_text="It has paused because no reply could be read, and does not so again."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    error = models.CharField(
        max_length=500, blank=True, help_text="Why it paused, ended early or brought no rating."
    )
    goes_on_at = models.DateTimeField(
        null=True, blank=True, help_text="When it resumes by itself, paused by the budget of a day."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    resumed_at = models.DateTimeField(null=True, blank=True, help_text="When it was resumed last.")
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = JudgeRunQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        permissions = [("start_paid_run", "Can have models asked, which costs money")]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "judge"],
                condition=Q(state__in=["queued", "running", "paused"]),
                name="judge_run_one_active",
            ),
            models.CheckConstraint(
                condition=Q(limit__isnull=True) | Q(limit__gt=0), name="judge_run_limit_positive"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running", "paused", "finished", "failed", "cancelled"]),
                name="judge_run_state_known",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"

    @property
    def is_active(self) -> bool:
        return self.state in (self.State.QUEUED, self.State.RUNNING, self.State.PAUSED)

    @property
    def seconds(self) -> float | None:
        """How long it took from its first question to its end, pauses included."""
        if self.started_at is None or self.finished_at is None:
            return None
        return max(0.0, (self.finished_at - self.started_at).total_seconds())


class RunAssignment(models.Model):
    """An assignment as part of a run."""

    run = models.ForeignKey(JudgeRun, models.CASCADE, related_name="run_assignments")
    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="run_assignments")
    round = models.PositiveSmallIntegerField(
        default=0, help_text="Of the calls that this run makes about it (JudgeCall.round)."
    )
    due_at = models.DateTimeField(default=timezone.now, help_text="Not to be asked before.")
    waiting_for = models.CharField(
        max_length=64, blank=True, help_text="The hash of a request that somebody else has in flight."
    )
    put_aside = models.BooleanField(
        default=False, help_text="Not asked to the end: it could not be rated any more."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "assignment"], name="run_assignment_unique"),
        ]
        indexes = [
            models.Index(fields=["waiting_for"], condition=~Q(waiting_for=""), name="run_assignment_waiting"),
            models.Index(fields=["run"], condition=Q(put_aside=True), name="run_assignment_put_aside"),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}/{self.assignment_id}"
